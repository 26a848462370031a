// Lowering: in which order derivatives are made, which bodies are shared, and
// how a marker call becomes a call of a body.
#include "Lowering.h"
#include "Places.h"
#include "ad/prepare/CopyFunction.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

/// Bodies with at most that many instructions are inlined wherever they are
/// called.
static constexpr unsigned SmallBody = 40;

/// The numbers of the marker call's arguments that its body takes: the values.
static SmallVector<unsigned, 16> passedOperands(const ResolvedMarker &Marker) {
  SmallVector<unsigned, 16> Passed;
  if (Marker.FunctionOperand != 0)
    Passed.push_back(Marker.FunctionOperand - 1);
  for (const MarkerItem &Item : Marker.Items)
    if (!Item.IsTag)
      Passed.push_back(Item.Operand);
  return Passed;
}

/// Two markers with the same key have the same body. A body names the place
/// that asked, in what it says when it aborts.
static std::string keyOf(const ResolvedMarker &Marker) {
  std::string Key;
  raw_string_ostream OS(Key);
  const CallBase &Call = *Marker.Call;
  OS << static_cast<const void *>(Marker.Target) << '|'
     << static_cast<unsigned>(Marker.Name.Kind) << '|' << Marker.Where.str()
     << '|' << *Call.getFunctionType() << '|' << Marker.FunctionOperand << '|';
  for (const MarkerItem &Item : Marker.Items) {
    OS << *Call.getArgOperand(Item.Operand)->getType() << ' ' << Item.TagText;
    if (Item.Number)
      OS << Item.Number->getValue();
    OS << static_cast<const void *>(Item.Address);
    OS << ',';
  }
  for (unsigned I = 0; I != Call.arg_size(); ++I)
    for (Type *T : {Call.getParamByValType(I), Call.getParamStructRetType(I)})
      if (T)
        OS << I << *T;
  return Key;
}

/// A clone of the marker's function that knows the functions among its constant
/// arguments (a member pointer, a comparison that a sort is given), so that
/// their calls are direct. Null when there are none.
Function *Lowering::bindFunctions(const ResolvedMarker &Marker,
                                  const ParsedMarker &Parsed) {
  Function &F = *Marker.Target;
  SmallVector<std::pair<unsigned, Function *>, 2> Bound;
  unsigned Param = 0;
  for (const ParsedArgument &P : Parsed.Arguments) {
    if (structReturn(F) == Param)
      ++Param;
    for (const MarkerItem &Item : Marker.Items)
      if (Item.Operand == P.Value && Item.Address &&
          P.A == ParsedArgument::Const)
        Bound.push_back({Param, Item.Address});
    ++Param;
  }
  if (Bound.empty())
    return nullptr;
  Function *Clone = copyFunction(F);
  Clone->setName(F.getName() + ".adjoin.bound");
  for (auto [Number, Address] : Bound) {
    Argument *A = Clone->getArg(Number);
    A->replaceAllUsesWith(
        A->getType()->isPointerTy()
            ? ConstantExpr::getPointerCast(Address, A->getType())
            : ConstantExpr::getPtrToInt(Address, A->getType()));
  }
  Made.push_back(Clone);
  return Clone;
}

Expected<Function *> Lowering::differentiable(const ResolvedMarker &Marker,
                                              const ParsedMarker &Parsed) {
  Function &F = *Marker.Target;
  if (!D.rules().hasRule(F)) {
    if (!F.isDeclaration()) {
      Function *Clone = bindFunctions(Marker, Parsed);
      return Clone ? Clone : &F;
    }
    Error E = make_error<Diagnostic>(Marker.Where,
                                     "cannot differentiate " + quotedName(F) +
                                         ": it has no IR in this link");
    return withNote(std::move(E),
                    "compile it with -flto (not -flto=thin), or register a "
                    "rule with ADJOIN_GRADIENT or ADJOIN_DERIVATIVE");
  }
  // The rule is for calls: a function that calls it is differentiated.
  Function *&Thunk = Thunks[&F];
  if (Thunk)
    return Thunk;
  Thunk = Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage,
                           F.getName() + ".adjoin.call", M);
  AttributeList Attributes = F.getAttributes();
  Thunk->setAttributes(Attributes.removeFnAttributes(M.getContext()));
  if (F.doesNotThrow())
    Thunk->setDoesNotThrow();
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", Thunk));
  SmallVector<Value *, 8> Args;
  for (Argument &A : Thunk->args())
    Args.push_back(&A);
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setCallingConv(F.getCallingConv());
  Call->setAttributes(Attributes.removeFnAttributes(M.getContext()));
  if (F.getReturnType()->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Call);
  Made.push_back(Thunk);
  return Thunk;
}

Expected<Function *> Lowering::bodyFor(const ResolvedMarker &Marker) {
  Function *&Known = Bodies[keyOf(Marker)];
  if (Known)
    return Known;
  // The grammar first: its mistakes are the clearest.
  Expected<ParsedMarker> Parsed = parse(Marker);
  if (!Parsed)
    return Parsed.takeError();
  Expected<Function *> Target = differentiable(Marker, *Parsed);
  if (!Target)
    return Target.takeError();
  Expected<Function *> Copy = D.copyOf(**Target);
  if (!Copy)
    return Copy.takeError();
  Expected<std::unique_ptr<Asked>> A = ask(Marker, std::move(*Parsed), **Target,
                                           **Copy, D.kinds(), O.StrongZero);
  if (!A)
    return A.takeError();
  SmallVector<unsigned, 16> Passed = passedOperands(Marker);
  auto Explain = [&](Error E) {
    E = withNote(std::move(E), "needed for the derivative of " +
                                   quotedName(*Marker.Target) + " requested " +
                                   requestedAt(Marker.Where));
    return E;
  };
  if ((*A)->Parsed.Forward) {
    Expected<Derivative> Fwd = D.forward((*A)->R);
    if (!Fwd)
      return Explain(Fwd.takeError());
    Known = writeBody(Marker, **A, Passed, D, &*Fwd, nullptr);
  } else {
    Expected<ReversePair> Pair = D.reverse((*A)->R);
    if (!Pair)
      return Explain(Pair.takeError());
    Known = writeBody(Marker, **A, Passed, D, nullptr, &*Pair);
  }
  Pending.push_back(Known);
  tell(Marker, **A);
  if (O.PrintIR)
    printIR(Marker, *Known);
  return Known;
}

void Lowering::tell(const ResolvedMarker &Marker, const Asked &A) {
  std::string Text = A.Parsed.Forward ? "forward" : "reverse";
  Text += " derivative of " + quotedName(*Marker.Target);
  if (A.R.Width != 1)
    Text += ", width " + std::to_string(A.R.Width);
  Out.remark(*Marker.Call, Text);
  if (!Out.wantsReport())
    return;
  Out.line(Marker.Where.str() + ": " + Text);
  for (const ParsedArgument &P : A.Parsed.Arguments) {
    static constexpr StringLiteral Names[] = {"const", "dup", "dupv", "out"};
    Out.line("  argument " + Twine(P.Value - Marker.FunctionOperand + 1) +
             ": " + Names[P.A]);
  }
  for (const Function &F : M)
    if (F.getName().contains(".adjoin.fwd") ||
        F.getName().contains(".adjoin.rev"))
      Out.line("  differentiated so far: " + quotedName(F));
}

void Lowering::printIR(const ResolvedMarker &Marker, Function &Body) {
  errs() << "; derivative of " << quotedName(*Marker.Target) << " requested "
         << requestedAt(Marker.Where) << "\n";
  Body.print(errs());
  for (const Instruction &I : instructions(Body))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Function *Callee = Call->getCalledFunction())
        if (Callee->getName().contains(".adjoin."))
          Callee->print(errs());
}

void Lowering::replace(const ResolvedMarker &Marker, Function &Body) {
  CallBase &Call = *Marker.Call;
  SmallVector<unsigned, 16> Passed = passedOperands(Marker);
  SmallVector<Value *, 16> Args;
  for (unsigned Number : Passed)
    Args.push_back(Call.getArgOperand(Number));
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
    New = InvokeInst::Create(&Body, Invoke->getNormalDest(),
                             Invoke->getUnwindDest(), Args, "",
                             Call.getIterator());
  else
    New = CallInst::Create(&Body, Args, "", Call.getIterator());
  for (unsigned I = 0; I != Args.size(); ++I)
    New->setAttributes(New->getAttributes().addParamAttributes(
        M.getContext(), I,
        AttrBuilder(M.getContext(), Body.getAttributes().getParamAttrs(I))));
  New->setDebugLoc(Call.getDebugLoc());
  New->takeName(&Call);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
  D.pipelines().invalidate(*New->getFunction());
}

/// Lowers the markers in all functions that \p Target refers to, directly or
/// not, before it is copied.
void Lowering::lowerInner(Function &Target) {
  SmallVector<const Constant *, 16> Work = {&Target};
  DenseSet<const Constant *> Seen = {&Target};
  SmallVector<const Function *, 16> Reached;
  bool CallsBody = false;
  auto Add = [&](const Value *V) {
    if (auto *C = dyn_cast<Constant>(V))
      if (!isa<ConstantData>(C) && Seen.insert(C).second)
        Work.push_back(C);
  };
  while (!Work.empty()) {
    const Constant *C = Work.pop_back_val();
    if (auto *F = dyn_cast<Function>(C)) {
      CallsBody |= is_contained(Pending, F);
      if (In.count(F))
        Reached.push_back(F);
      for (const Instruction &I : instructions(*F))
        for (const Value *Operand : I.operands())
          Add(Operand);
      continue;
    }
    for (const Value *Operand : C->operands())
      Add(Operand);
  }
  for (const Function *F : Reached)
    for (unsigned Index : In.find(F)->second)
      if (!Begun[Index]) {
        lower(Index);
        CallsBody = true;
      }
  if (CallsBody)
    flush();
}

void Lowering::lower(unsigned Index) {
  Begun[Index] = true;
  const ResolvedMarker &Marker = Markers[Index];
  if (Visited.insert(Marker.Target).second)
    lowerInner(*Marker.Target);
  Expected<Function *> Body = bodyFor(Marker);
  if (Body)
    return replace(Marker, **Body);
  Error E = Body.takeError();
  for (const std::string &Note : Marker.Chain)
    E = withNote(std::move(E), Note);
  Out.error(std::move(E));
  replaceByTrap(*Marker.Call);
}

void Lowering::flush() {
  if (O.Verify)
    for (Function &F : M) {
      std::string Text;
      raw_string_ostream OS(Text);
      if (F.getName().contains(".adjoin.") && verifyFunction(F, &OS))
        Out.error(SourcePlace::of(F),
                  "the derivative's IR is broken before it was optimised "
                  "(this is a mistake in Adjoin): " +
                      Text);
    }
  D.optimise(Pending);
  for (Function *Body : Pending)
    if (Body->getInstructionCount() <= SmallBody)
      Body->addFnAttr(Attribute::AlwaysInline);
  Pending.clear();
}

void Lowering::run(ArrayRef<ResolvedMarker> All) {
  Markers = All;
  Begun.assign(All.size(), false);
  for (auto [Index, Marker] : enumerate(All))
    In[Marker.Call->getFunction()].push_back(Index);
  for (unsigned Index = 0; Index != All.size(); ++Index)
    if (!Begun[Index])
      lower(Index);
  flush();
}

void Lowering::finish() {
  for (Function *F : Made)
    if (F->use_empty()) {
      D.pipelines().analyses().clear(*F, F->getName());
      F->eraseFromParent();
    }
  Made.clear();
}
