// Forward mode, entry: memoised derived functions, one per request, and the
// restart with sparse shadows when a function of the call tree asks for them.
#include "ad/Differentiator.h"
#include "ad/forward/ForwardEmitter.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

Expected<Function *> Differentiator::copyOf(Function &F) {
  Expected<Function *> Copy = Copies.get(F);
  if (!Copy)
    return Copy;
  ArrayRef<Function *> All = Copies.all();
  if (All.size() > KindsKnown) {
    Kinds.add(All.drop_front(KindsKnown), [this](const Function &F) {
      return static_cast<const Function *>(Copies.originalOf(F));
    });
    KindsKnown = All.size();
  }
  return Copy;
}

Function *Differentiator::newFunction(FunctionType *T, const Twine &Name) {
  Function *F = Function::Create(T, GlobalValue::InternalLinkage, Name, M);
  Fresh.push_back(F);
  return F;
}

static std::string derivedName(const WorkingCopies &Copies,
                               const Function &Copy, StringRef Suffix) {
  const Function *Original = Copies.originalOf(Copy);
  return ((Original ? Original : &Copy)->getName() + ".adjoin." + Suffix).str();
}

void Differentiator::forget(size_t ForwardMark, size_t ReverseMark,
                            size_t DispatchMark, size_t ReverseDispatchMark,
                            size_t FreshMark) {
  for (size_t I = ForwardMark; I != Forwards.size(); ++I)
    llvm::erase(ForwardsOf[Forwards[I].Key.Primal], I);
  Forwards.resize(ForwardMark);
  Reverses.resize(ReverseMark);
  Dispatchers.resize(DispatchMark);
  ReverseDispatchers.resize(ReverseDispatchMark);
  for (size_t I = FreshMark; I != Fresh.size(); ++I) {
    // Another function may come to live at the same address.
    pipelines().analyses().clear(*Fresh[I], Fresh[I]->getName());
    Fresh[I]->dropAllReferences();
  }
  for (size_t I = FreshMark; I != Fresh.size(); ++I) {
    Fresh[I]->replaceAllUsesWith(PoisonValue::get(Fresh[I]->getType()));
    Fresh[I]->eraseFromParent();
  }
  Fresh.resize(FreshMark);
}

Error Differentiator::emitForward(size_t Index) {
  Request Key = Forwards[Index].Key;
  Function *Target = Forwards[Index].Result.Fn;
  ForwardEmitter Emitter(*this, Key, *Key.Primal, *Target);
  Error E = Emitter.run();
  SparseDemanded |= Emitter.needsSparse();
  Forwards[Index].Result.NeedsContext = Emitter.usesContext() || Key.Sparse;
  Forwards[Index].Done = true;
  return E;
}

Expected<Derivative> Differentiator::forward(const Request &Asked) {
  Request R = Asked;
  Expected<Function *> Copy = copyOf(*R.Primal);
  if (!Copy)
    return Copy.takeError();
  R.Primal = *Copy;
  assert(R.Args.size() == R.Primal->arg_size() && "one state per parameter");
  for (size_t Index : ForwardsOf[R.Primal]) {
    const ForwardEntry &E = Forwards[Index];
    if (!(E.Key == R))
      continue;
    Error Again = Error::success();
    for (const Diagnostic &F : E.Failures)
      Again = joinErrors(std::move(Again), make_error<Diagnostic>(F));
    if (Again)
      return std::move(Again);
    Derivative Result = E.Result;
    // What is still being emitted (recursion) may turn out to need one.
    Result.NeedsContext |= !E.Done;
    return Result;
  }

  size_t ForwardMark = Forwards.size(), DispatchMark = Dispatchers.size(),
         FreshMark = Fresh.size();
  size_t Index = Forwards.size();
  ForwardEntry Entry;
  Entry.Key = R;
  Entry.Result.Fn =
      newFunction(forwardType(R), derivedName(Copies, **Copy, "fwd"));
  Forwards.push_back(std::move(Entry));
  ForwardsOf[R.Primal].push_back(Index);

  if (Depth == 0)
    SparseDemanded = false;
  ++Depth;
  Error Failure = emitForward(Index);
  --Depth;
  if (Depth == 0 && SparseDemanded && !R.Sparse) {
    // Start again: everything that this attempt made was made without looking
    // into the sparse shadow.
    consumeError(std::move(Failure));
    forget(ForwardMark, Reverses.size(), DispatchMark,
           ReverseDispatchers.size(), FreshMark);
    R.Sparse = true;
    return forward(R);
  }
  if (!Failure)
    return Forwards[Index].Result;
  Error Result = Error::success();
  handleAllErrors(std::move(Failure), [&](const Diagnostic &D) {
    Forwards[Index].Failures.push_back(D);
    Result = joinErrors(std::move(Result), make_error<Diagnostic>(D));
  });
  return std::move(Result);
}
