// Lowering: in which order derivatives are made, which bodies are shared, and
// how a marker call becomes a call of a body.
#include "Lowering.h"
#include "Places.h"
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
    OS << ',';
  }
  for (unsigned I = 0; I != Call.arg_size(); ++I)
    for (Type *T : {Call.getParamByValType(I), Call.getParamStructRetType(I)})
      if (T)
        OS << I << *T;
  return Key;
}

Expected<Function *> Lowering::differentiable(const ResolvedMarker &Marker) {
  Function &F = *Marker.Target;
  if (!D.rules().hasRule(F)) {
    if (!F.isDeclaration())
      return &F;
    Error E = make_error<Diagnostic>(Marker.Where,
                                     "cannot differentiate " + quotedName(F) +
                                         ": it has no IR in this link");
    return withNote(std::move(E),
                    "compile it with -flto (not -flto=thin), or register a "
                    "rule with ADJOIN_GRADIENT or ADJOIN_DERIVATIVE");
  }
  // The rule is for calls: a function that calls it is differentiated.
  for (Function *Known : Thunks)
    if (cast<CallInst>(Known->getEntryBlock().front()).getCalledFunction() ==
        &F)
      return Known;
  if (F.isVarArg())
    return &F;
  Function *Thunk =
      Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage,
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
  Thunks.push_back(Thunk);
  return Thunk;
}

Expected<Function *> Lowering::bodyFor(const ResolvedMarker &Marker) {
  Function *&Known = Bodies[keyOf(Marker)];
  if (Known)
    return Known;
  // The grammar first: its mistakes are the clearest.
  if (Expected<ParsedMarker> Parsed = parse(Marker); !Parsed)
    return Parsed.takeError();
  Expected<Function *> Target = differentiable(Marker);
  if (!Target)
    return Target.takeError();
  Expected<Function *> Copy = D.copyOf(**Target);
  if (!Copy)
    return Copy.takeError();
  Expected<std::unique_ptr<Asked>> A =
      ask(Marker, **Target, **Copy, D.kinds(), O.StrongZero);
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
  for (Function *Thunk : Thunks)
    if (Thunk->use_empty()) {
      D.pipelines().analyses().clear(*Thunk, Thunk->getName());
      Thunk->eraseFromParent();
    }
  Thunks.clear();
}
