// Reverse mode, entry: memoised pairs of augmented primal and reverse sweep.
#include "ad/Differentiator.h"
#include "ad/plan/Plan.h"
#include "ad/reverse/Adjoint.h"
#include "ad/reverse/Augment.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace adjoin;

/// What an emitter left unfinished becomes a function that traps.
static void makeTrap(Function &F) {
  F.deleteBody();
  F.setLinkage(GlobalValue::InternalLinkage);
  BasicBlock *Trap = BasicBlock::Create(F.getContext(), "failed", &F);
  new UnreachableInst(F.getContext(), Trap);
}

Error Differentiator::emitReverse(const Request &R, const ReversePair &Pair) {
  ReverseSubject Subject(*this, R, *R.Primal);
  if (Subject.needsSparse()) {
    SparseDemanded = true;
    return Error::success();
  }
  if (Error E = Subject.analyse())
    return E;
  Plan P(Subject);
  if (Plans)
    P.print(*Plans);
  Error E = AugmentEmitter(Subject, P, *Pair.Aug).run();
  return joinErrors(std::move(E), AdjointEmitter(Subject, P, *Pair.Rev).run());
}

Expected<ReversePair> Differentiator::reverse(const Request &Asked) {
  Request R = Asked;
  Expected<Function *> Copy = copyOf(*R.Primal);
  if (!Copy)
    return Copy.takeError();
  R.Primal = *Copy;
  assert(R.Args.size() == R.Primal->arg_size() && "one state per parameter");
  for (const ReverseEntry &E : Reverses) {
    if (!(E.Key == R))
      continue;
    Error Again = Error::success();
    for (const Diagnostic &F : E.Failures)
      Again = joinErrors(std::move(Again), make_error<Diagnostic>(F));
    if (Again)
      return std::move(Again);
    return E.Result;
  }

  size_t ReverseMark = Reverses.size(), DispatchMark = Dispatchers.size(),
         FreshMark = Fresh.size(), ForwardMark = Forwards.size(),
         ReverseDispatchMark = ReverseDispatchers.size();
  // The pair is known before it has bodies: recursion finds it.
  const Function *Original = Copies.originalOf(**Copy);
  std::string Name = (Original ? Original : *Copy)->getName().str();
  ReversePair Pair;
  Pair.Aug = newFunction(augmentedType(R), Name + ".adjoin.aug");
  Pair.Rev = newFunction(reverseType(R), Name + ".adjoin.rev");
  size_t Index = Reverses.size();
  Reverses.push_back({R, Pair, {}});
  if (Depth == 0)
    SparseDemanded = false;
  ++Depth;
  Error Failure = emitReverse(R, Pair);
  --Depth;
  if (Depth == 0 && SparseDemanded && !R.Sparse) {
    // Start again: everything that this attempt made was made without looking
    // into the sparse shadow.
    consumeError(std::move(Failure));
    forget(ForwardMark, ReverseMark, DispatchMark, ReverseDispatchMark,
           FreshMark);
    R.Sparse = true;
    return reverse(R);
  }
  if (!Failure)
    return Pair;
  makeTrap(*Pair.Aug);
  makeTrap(*Pair.Rev);
  Error Result = Error::success();
  handleAllErrors(std::move(Failure), [&](const Diagnostic &D) {
    Reverses[Index].Failures.push_back(D);
    Result = joinErrors(std::move(Result), make_error<Diagnostic>(D));
  });
  return std::move(Result);
}
