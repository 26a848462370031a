// What calls say about kinds, and the walk over functions that calls reach.
#include "ad/analysis/Activity.h"
#include "ad/analysis/KindBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

KindBuilder::KindBuilder(const Module &M)
    : M(M), DL(M.getDataLayout()), LibraryImpl(M.getTargetTriple()),
      Library(LibraryImpl) {}

//===-- Functions ---------------------------------------------------------===//

uint32_t KindBuilder::entity(const Function &F) {
  if (auto It = EntityOf.find(&F); It != EntityOf.end())
    return It->second;
  auto Id = static_cast<uint32_t>(Entities.size());
  EntityOf[&F] = Id;
  Entity E;
  E.Original = &F;
  for (const Argument &A : F.args())
    E.Params.push_back(makeCellFor(A.getType()));
  E.Return = makeCellFor(F.getReturnType());
  Entities.push_back(std::move(E));
  return Id;
}

/// The blocks from which the end of the function is reached: what stands in the
/// others is never differentiated. Without \p Normal, unwinding is an end too.
static DenseSet<const BasicBlock *> leadingTo(const Function &F, bool Normal) {
  SmallVector<const BasicBlock *, 32> Work;
  DenseSet<const BasicBlock *> Seen;
  for (const BasicBlock &BB : F) {
    const Instruction *End = BB.getTerminator();
    if ((isa<ReturnInst>(End) || (!Normal && isa<ResumeInst>(End))) &&
        Seen.insert(&BB).second)
      Work.push_back(&BB);
  }
  while (!Work.empty())
    for (const BasicBlock *Pred : predecessors(Work.pop_back_val()))
      if (Seen.insert(Pred).second)
        Work.push_back(Pred);
  return Seen;
}

/// Calls that say nothing of use: those that never return, and text formatting,
/// whose erased types would make one object of all that is printed.
static bool isOpaque(const CallBase &CB, const Function &F) {
  return CB.doesNotReturn() || F.getName().contains("4core3fmt");
}

/// What one of the first calls of \p F returns is cast to a float.
static bool returnsBits(const Function &F) {
  unsigned Left = 16;
  for (const User *U : F.users())
    if (const auto *CB = dyn_cast<CallBase>(U);
        CB && CB->getCalledOperand() == &F) {
      if (ActivityAnalysis::becomesFloat(CB))
        return true;
      if (--Left == 0)
        break;
    }
  return false;
}

/// The integer operations of a body whose results are cast to floats, directly
/// or through other operations, moves, calls and returns.
static DenseSet<const Value *> endingAsFloats(const Function &Body,
                                              const Function &Original) {
  DenseSet<const Value *> Result;
  SmallVector<const Instruction *, 16> Work;
  bool Returns = Body.getReturnType()->isIntOrIntVectorTy() &&
                 (returnsBits(Original) || returnsBits(Body));
  for (const Instruction &I : instructions(Body)) {
    if (isa<BitCastInst>(I) && I.getType()->isFPOrFPVectorTy())
      Work.push_back(&I);
    if (Returns && isa<ReturnInst>(I))
      Work.push_back(&I);
    // What a callee turns into a float.
    if (const auto *CB = dyn_cast<CallBase>(&I))
      if (const Function *F = CB->getCalledFunction(); F && !F->isIntrinsic())
        for (const Argument &A : F->args())
          if (A.getType()->isIntOrIntVectorTy() && !A.use_empty() &&
              isa<Instruction>(CB->getArgOperand(A.getArgNo())) &&
              ActivityAnalysis::becomesFloat(&A)) {
            Work.push_back(CB);
            break;
          }
  }
  while (!Work.empty())
    for (const Value *Op : Work.pop_back_val()->operands()) {
      const auto *I = dyn_cast<Instruction>(Op);
      if (I && I->getType()->isIntOrIntVectorTy() &&
          isa<BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst,
              CallBase>(I) &&
          Result.insert(I).second)
        Work.push_back(I);
    }
  return Result;
}

void KindBuilder::analyse(const Function &Body, uint32_t Id) {
  uint32_t Outer = Current;
  Current = Id;
  DenseSet<const Value *> OuterBound =
      std::exchange(FloatBound, endingAsFloats(Body, *Entities[Id].Original));
  for (auto [Arg, Param] : zip(Body.args(), Entities[Id].Params)) {
    Cells[&Arg] = Param;
    if (Param != None && Arg.hasAttribute(Attribute::Range))
      G.seed(Param, KindSet::Int);
  }
  DenseSet<const BasicBlock *> Live = leadingTo(Body, false);
  DenseSet<const BasicBlock *> Returning = leadingTo(Body, true);
  for (const BasicBlock &BB : Body) {
    Instructions += BB.size();
    if (!Live.count(&BB))
      continue;
    CallsMatter = Returning.count(&BB);
    for (const Instruction &I : BB)
      visit(const_cast<Instruction &>(I));
  }
  CallsMatter = true;
  Current = Outer;
  FloatBound = std::move(OuterBound);
}

void KindBuilder::add(
    ArrayRef<Function *> Copies,
    function_ref<const Function *(const Function &)> OriginalOf) {
  // First all copies get their entity, so that calls among them meet.
  SmallVector<uint32_t, 0> Roots;
  for (const Function *F : Copies) {
    const Function *Original = OriginalOf ? OriginalOf(*F) : nullptr;
    uint32_t Id = entity(Original ? *Original : *F);
    EntityOf[F] = Id;
    Entities[Id].HasCopy = true;
    Entities[Id].NewBodies.push_back(F);
    Roots.push_back(Id);
  }
  analyseAll(Roots);
  // What was put off until the rest is known.
  bool Changed = true;
  while (Changed) {
    Changed = analyseCalled();
    if (!Changed)
      Changed = resolveIndirect();
    if (!Changed)
      Changed = foldDeferred(0);
    if (!Changed) {
      G.propagate();
      Changed = compareDeferred(0);
    }
  }
}

static const Function *directCallee(const CallBase &CB) {
  if (CB.isInlineAsm())
    return nullptr;
  return dyn_cast<Function>(
      CB.getCalledOperand()->stripPointerCastsAndAliases());
}

/// Analyses new bodies of the roots and all that they call: strongly connected
/// components of the call graph (after Tarjan, 1972), callees first.
void KindBuilder::analyseAll(ArrayRef<uint32_t> Roots) {
  ++Nesting;
  struct Frame {
    uint32_t Id;
    SmallVector<uint32_t, 8> Callees;
    size_t Next = 0;
  };
  DenseMap<uint32_t, uint32_t> Low;
  DenseMap<uint32_t, uint32_t> Number;
  DenseSet<uint32_t> OnStack;
  std::vector<uint32_t> Stack;
  std::vector<Frame> Frames;
  auto IsNew = [&](uint32_t Id) {
    const Entity &E = Entities[Id];
    return !Number.count(Id) && !E.InProgress &&
           (!E.Reached || !E.NewBodies.empty());
  };
  auto Enter = [&](uint32_t Id) {
    Frame F{Id, {}, 0};
    // The original stands in for a copy that is not there (yet).
    if (!Entities[Id].HasCopy && !Entities[Id].Reached &&
        !Entities[Id].Original->isDeclaration())
      Entities[Id].NewBodies.push_back(Entities[Id].Original);
    Entities[Id].Reached = true;
    Entities[Id].InProgress = true;
    SmallVector<const Function *, 1> Bodies = Entities[Id].NewBodies;
    for (const Function *Body : Bodies)
      for (const BasicBlock &BB : *Body)
        for (const Instruction &I : BB)
          if (const auto *CB = dyn_cast<CallBase>(&I))
            if (const Function *Callee = directCallee(*CB);
                Callee && !Callee->isIntrinsic() && !isOpaque(*CB, *Callee) &&
                (!Callee->isDeclaration() || EntityOf.count(Callee)))
              F.Callees.push_back(entity(*Callee));
    auto N = static_cast<uint32_t>(Number.size());
    Number[Id] = N;
    Low[Id] = N;
    Stack.push_back(Id);
    OnStack.insert(Id);
    Frames.push_back(std::move(F));
  };
  for (uint32_t Root : Roots) {
    if (!IsNew(Root))
      continue;
    Enter(Root);
    while (!Frames.empty()) {
      Frame &Top = Frames.back();
      uint32_t Id = Top.Id;
      if (Top.Next != Top.Callees.size()) {
        uint32_t Callee = Top.Callees[Top.Next++];
        if (OnStack.count(Callee))
          Low[Id] = std::min(Low[Id], Number[Callee]);
        else if (IsNew(Callee))
          Enter(Callee);
        continue;
      }
      Frames.pop_back();
      if (!Frames.empty())
        Low[Frames.back().Id] = std::min(Low[Frames.back().Id], Low[Id]);
      if (Low[Id] != Number[Id])
        continue;
      SmallVector<uint32_t, 4> Component;
      uint32_t Member;
      do {
        Member = Stack.back();
        Stack.pop_back();
        OnStack.erase(Member);
        Component.push_back(Member);
      } while (Member != Id);
      std::reverse(Component.begin(), Component.end());
      finishComponent(Component);
    }
  }
  --Nesting;
}

/// Analyses functions that call each other. Calls among them share their cells,
/// calls of others copy what the callee does.
void KindBuilder::finishComponent(ArrayRef<uint32_t> Component) {
  size_t FirstFold = Folds.size();
  size_t FirstCompare = Compares.size();
  for (uint32_t Id : Component) {
    SmallVector<const Function *, 1> Bodies = std::move(Entities[Id].NewBodies);
    Entities[Id].NewBodies.clear();
    for (const Function *Body : Bodies)
      if (!Body->isDeclaration())
        analyse(*Body, Id);
  }
  bool Changed = true;
  while (Changed) {
    while (!NewGlobals.empty()) {
      const GlobalVariable *GV = NewGlobals.back();
      NewGlobals.pop_back();
      initialise(*GV);
    }
    // Functions that became known as targets, unless that nests too deeply:
    // then later.
    Changed = Nesting < 16 && analyseCalled();
    if (!Changed)
      Changed = foldDeferred(FirstFold) || compareDeferred(FirstCompare);
  }
  for (uint32_t Id : Component) {
    Entities[Id].Complete = true;
    Entities[Id].InProgress = false;
  }
}

bool KindBuilder::analyseCalled() {
  std::vector<uint32_t> Called = G.takeCalled();
  if (Called.empty())
    return false;
  analyseAll(Called);
  for (uint32_t Id : Called)
    bindMember(Entities[Id].Signature, Id);
  return true;
}

KindBuilder::CellId KindBuilder::varArgs(uint32_t Id) {
  if (Entities[Id].VarArgs == None) {
    CellId C = G.makeCell(DL.getPointerSize());
    G.fold(G.pointee(C), 8);
    Entities[Id].VarArgs = C;
  }
  return Entities[Id].VarArgs;
}

/// The cells through which a caller meets what the function does: parameters,
/// result, variadic arguments; copied when the function is complete and the
/// copy is affordable.
SmallVector<KindBuilder::CellId, 8> KindBuilder::summary(uint32_t Id) {
  const Entity &E = Entities[Id];
  SmallVector<CellId, 8> Own(E.Params.begin(), E.Params.end());
  Own.push_back(E.Return);
  Own.push_back(E.Original->isVarArg() ? varArgs(Id) : None);
  if (!E.Complete || Copied > 100000 + 20 * Instructions)
    return Own;
  size_t Before = G.cellCount();
  SmallVector<CellId, 8> Copy;
  if (!G.clone(Own, Copy, MaxSummary))
    return Own;
  Copied += G.cellCount() - Before;
  return Copy;
}

/// What calls through one signature share meets what the function does.
void KindBuilder::bindMember(uint32_t Sig, uint32_t Id) {
  SmallVector<CellId, 8> Cells = summary(Id);
  SmallVector<CellId, 4> Params = G.signature(Sig).Params;
  CellId Return = G.signature(Sig).Return;
  for (auto [P, C] : zip(Params, Cells))
    G.unify(P, C);
  G.unify(Return, Cells[Entities[Id].Params.size()]);
}

void KindBuilder::bind(const CallBase &CB, ArrayRef<CellId> Params,
                       CellId Return) {
  for (auto [Arg, Param] : zip(CB.args(), Params))
    if (Param != None)
      G.unify(cell(Arg), Param);
  if (Return != None)
    G.unify(cell(&CB), Return);
}

void KindBuilder::callIndirect(const CallBase &CB) {
  const Value *Target = CB.getCalledOperand();
  seed(Target, KindSet::Ptr);
  CellId C = cell(Target);
  if (C == None)
    return;
  FunctionType *T = CB.getFunctionType();
  Handle H = G.pointee(C);
  if (!G.hasSignature(H, T))
    G.addSignature(H, makeSignature(T));
  uint32_t S = G.signatureIn(H, T);
  SmallVector<CellId, 4> Params = G.signature(S).Params;
  CellId Return = G.signature(S).Return;
  G.call(S);
  bind(CB, Params, Return);
}

/// What all functions of a type whose address is taken have in common.
uint32_t KindBuilder::anyFunction(const FunctionType *T) {
  if (auto It = AnyOfType.find(T); It != AnyOfType.end())
    return It->second;
  uint32_t S = makeSignature(T);
  AnyOfType[T] = S;
  for (const Function &F : M) {
    if (F.getFunctionType() != T || F.isDeclaration() || !F.hasAddressTaken())
      continue;
    uint32_t Id = entity(F);
    analyseAll(Id);
    bindMember(S, Id);
  }
  return S;
}

/// A call through a pointer of which no function is known, not even to a
/// caller, may reach every function of its type whose address is taken. The
/// functions, and other such calls, stay apart.
bool KindBuilder::resolveIndirect() {
  bool Changed = false;
  for (uint32_t S = 0; S != G.signatureCount(); ++S) {
    if (!G.isSignature(S) || !G.signature(S).Called || G.signature(S).Cloned ||
        G.signature(S).Open || !G.signature(S).Members.empty())
      continue;
    G.signature(S).Open = true;
    Changed = true;
    const KindGraph::Signature &Any =
        G.signature(anyFunction(G.signature(S).Type));
    SmallVector<CellId, 8> Cells(Any.Params.begin(), Any.Params.end());
    Cells.push_back(Any.Return);
    uint32_t First = G.signatureCount();
    SmallVector<CellId, 8> Copy;
    if (!G.clone(Cells, Copy, MaxSummary))
      Copy = Cells;
    // Calls in unknown functions through pointers that those get are not
    // followed further.
    for (uint32_t New = First; New != G.signatureCount(); ++New)
      G.signature(New).Open = true;
    SmallVector<CellId, 4> Params = G.signature(S).Params;
    for (auto [P, C] : zip(Params, Copy))
      G.unify(P, C);
    G.unify(G.signature(S).Return, Copy.back());
  }
  return Changed;
}

//===-- Calls -------------------------------------------------------------===//

void KindBuilder::visitCallBase(CallBase &CB) {
  if (CB.isInlineAsm())
    return;
  if (CB.getMetadata(LLVMContext::MD_range) || CB.hasRetAttr(Attribute::Range))
    seed(&CB, KindSet::Int);
  if (const Value *Same = CB.getReturnedArgOperand())
    if (Same->getType() == CB.getType())
      move(&CB, Same);
  const Function *F = directCallee(CB);
  if (!F) {
    if (CallsMatter)
      callIndirect(CB);
    return;
  }
  if (F->isIntrinsic()) {
    callIntrinsic(CB, F->getIntrinsicID());
    return;
  }
  if (isOpaque(CB, *F) || callLibrary(CB, *F) || !CallsMatter)
    return;
  if (!F->isDeclaration() || EntityOf.count(F)) {
    uint32_t Id = entity(*F);
    SmallVector<CellId, 8> Cells = summary(Id);
    size_t Fixed = Entities[Id].Params.size();
    bind(CB, ArrayRef<CellId>(Cells).take_front(Fixed), Cells[Fixed]);
    if (Cells[Fixed + 1] == None)
      return;
    for (const Use &Arg :
         drop_begin(CB.args(), std::min<size_t>(Fixed, CB.arg_size())))
      if (CellId C = cell(Arg); C != None)
        G.access(G.pointee(Cells[Fixed + 1]), C, 0, G.size(C));
    return;
  }
  // Without a body: functions that it is given may be called.
  for (const Use &Arg : CB.args())
    if (Arg->getType()->isPointerTy())
      if (isa<Function>(Arg->stripPointerCastsAndAliases()))
        G.callAll(pointee(Arg));
}

static bool hasName(const Function &F, ArrayRef<StringRef> Names) {
  return is_contained(Names, F.getName());
}

/// Rust's allocator symbols, whose names are mangled since Rust 1.88.
static bool isRustAllocator(const Function &F, StringRef What) {
  StringRef Name = F.getName();
  for (StringRef Prefix : {"__rust_", "__rdl_", "__rg_"}) {
    size_t At = Name.find(Prefix);
    if (At == StringRef::npos)
      continue;
    StringRef Rest = Name.substr(At + Prefix.size());
    if (Rest == What || (What == "alloc" && Rest == "alloc_zeroed"))
      return true;
  }
  return false;
}

/// libm functions that the library tables of LLVM may not know.
static bool isMathName(StringRef Name) {
  auto Known = [](StringRef N) {
    return StringSwitch<bool>(N)
        .Cases({"lgamma", "tgamma", "gamma", "lgamma_r", "erf", "erfc", "j0",
                "j1", "jn", "y0", "y1", "yn"},
               true)
        .Cases({"cbrt", "hypot", "expm1", "log1p", "nextafter", "nexttoward",
                "remquo", "scalbn", "scalbln", "sincos", "exp10", "pow10",
                "drem", "significand"},
               true)
        .Default(false);
  };
  return Known(Name) || ((Name.ends_with("f") || Name.ends_with("l")) &&
                         Known(Name.drop_back()));
}

bool KindBuilder::callLibrary(const CallBase &CB, const Function &F) {
  if (isRustAllocator(F, "realloc") || isReallocLikeFn(&F)) {
    if (CB.arg_size() > 0 && CB.getArgOperand(0)->getType()->isPointerTy() &&
        CB.getType()->isPointerTy())
      G.point(cell(&CB), pointee(CB.getArgOperand(0)));
    for (const Use &Arg : drop_begin(CB.args()))
      seedByType(Arg);
    return true;
  }
  if (isRustAllocator(F, "alloc") || isAllocationFn(&CB, &Library)) {
    if (CB.getType()->isPointerTy())
      pointee(&CB);
    for (const Use &Arg : CB.args())
      seedByType(Arg);
    return true;
  }
  if (isRustAllocator(F, "dealloc") || getFreedOperand(&CB, &Library)) {
    for (const Use &Arg : CB.args())
      seedByType(Arg);
    return true;
  }
  if (hasName(F, {"__cxa_throw", "__cxa_begin_catch"})) {
    G.unify(cell(CB.getArgOperand(0)), exception());
    G.unify(cell(&CB), exception());
    return true;
  }
  LibFunc Known;
  bool InTable = Library.getLibFunc(F, Known);
  if (InTable || (F.isDeclaration() && isMathName(F.getName()))) {
    bool Declared = F.isDeclaration();
    switch (InTable ? Known : NumLibFuncs) {
    case LibFunc_memcpy:
    case LibFunc_memmove:
    case LibFunc_memcpy_chk:
    case LibFunc_memmove_chk:
    case LibFunc_mempcpy:
    case LibFunc_mempcpy_chk:
      copyMemory(CB.getArgOperand(0), CB.getArgOperand(1), CB.getArgOperand(2));
      if (cell(&CB) != None)
        G.point(cell(&CB), pointee(CB.getArgOperand(0)));
      return true;
    case LibFunc_bcopy:
      copyMemory(CB.getArgOperand(1), CB.getArgOperand(0), CB.getArgOperand(2));
      return true;
    case LibFunc_sincos:
    case LibFunc_sincosf:
    case LibFunc_sincosl:
      seedByType(CB.getArgOperand(0));
      for (unsigned I : {1U, 2U})
        G.seed(pointee(CB.getArgOperand(I)),
               sizeOf(CB.getArgOperand(0)->getType()),
               KindSet::ofFloat(CB.getArgOperand(0)->getType()));
      return Declared;
    case LibFunc_modf:
    case LibFunc_modff:
    case LibFunc_modfl:
      seedByType(&CB);
      seedByType(CB.getArgOperand(0));
      G.seed(pointee(CB.getArgOperand(1)), sizeOf(CB.getType()),
             KindSet::ofFloat(CB.getType()));
      return Declared;
    default:
      break;
    }
    // The prototype is known, so its float types mean floats.
    seedByType(&CB);
    for (const Use &Arg : CB.args())
      seedByType(Arg);
    // Searches return a pointer into their first argument.
    if (CB.getType()->isPointerTy() && CB.arg_size() > 0 &&
        CB.getArgOperand(0)->getType()->isPointerTy() &&
        F.getName().starts_with("str") && F.getName() != "strdup" &&
        F.getName() != "strndup")
      G.point(cell(&CB), pointee(CB.getArgOperand(0)));
    return Declared;
  }
  return false;
}

/// Bytes move between places; without a constant length the two objects become
/// one.
void KindBuilder::copyMemory(const Value *To, const Value *From,
                             const Value *Length) {
  seedInt(Length);
  Handle D = pointee(To);
  Handle S = pointee(From);
  if (auto *N = dyn_cast<ConstantInt>(Length);
      N && N->getValue().getActiveBits() <= 63)
    G.copy(D, S, N->getZExtValue());
  else
    G.merge(D, S);
}

//===-- Intrinsics --------------------------------------------------------===//

void KindBuilder::callIntrinsic(const CallBase &CB, Intrinsic::ID Id) {
  auto Arg = [&](unsigned I) { return CB.getArgOperand(I); };
  switch (Id) {
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove:
  case Intrinsic::memcpy_element_unordered_atomic:
  case Intrinsic::memmove_element_unordered_atomic:
    copyMemory(Arg(0), Arg(1), Arg(2));
    return;
  case Intrinsic::memset:
  case Intrinsic::memset_inline:
  case Intrinsic::memset_element_unordered_atomic:
    seedInt(Arg(2));
    return;
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::assume:
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_value:
  case Intrinsic::dbg_label:
  case Intrinsic::dbg_assign:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::prefetch:
  case Intrinsic::donothing:
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
  case Intrinsic::debugtrap:
    return;
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::threadlocal_address:
  case Intrinsic::ptrmask:
  case Intrinsic::ptr_annotation:
  case Intrinsic::ssa_copy:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::annotation:
    move(&CB, Arg(0));
    return;
  case Intrinsic::vastart: {
    Handle All = G.pointee(varArgs(Current));
    if (M.getTargetTriple().isX86_64()) {
      G.point(pointee(Arg(0)).plus(8), 8, All);
      G.point(pointee(Arg(0)).plus(16), 8, All);
    } else {
      G.point(pointee(Arg(0)), DL.getPointerSize(), All);
    }
    return;
  }
  case Intrinsic::vacopy:
    G.copy(pointee(Arg(0)), pointee(Arg(1)), 32);
    return;
  case Intrinsic::masked_load:
    if (CellId C = cell(&CB); C != None) {
      G.access(pointee(Arg(0)), C, 0, G.size(C));
      move(&CB, Arg(CB.arg_size() - 1));
    }
    return;
  case Intrinsic::masked_store:
    if (CellId C = cell(Arg(0)); C != None)
      G.access(pointee(Arg(1)), C, 0, G.size(C));
    return;
  case Intrinsic::masked_expandload:
  case Intrinsic::masked_gather: {
    move(&CB, Arg(CB.arg_size() - 1));
    accessLanes(&CB, Arg(0), Id == Intrinsic::masked_gather);
    return;
  }
  case Intrinsic::masked_compressstore:
  case Intrinsic::masked_scatter:
    accessLanes(Arg(0), Arg(1), Id == Intrinsic::masked_scatter);
    return;
  case Intrinsic::vector_reverse:
    moveLanes(&CB, Arg(0));
    return;
  case Intrinsic::vector_splice_left:
  case Intrinsic::vector_splice_right:
  case Intrinsic::vector_interleave2:
    moveLanes(&CB, Arg(0));
    moveLanes(&CB, Arg(1));
    return;
  case Intrinsic::vector_deinterleave2:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_extract:
    for (const Use &Op : CB.args())
      if (Op->getType()->isVectorTy())
        moveLanes(&CB, Op);
    return;
  case Intrinsic::fshl:
  case Intrinsic::fshr:
    if (funnelShift(CB, Id == Intrinsic::fshl))
      return;
    break;
  case Intrinsic::bswap: {
    if (!CB.getType()->isIntegerTy() || !hasBytes(CB.getType()))
      break;
    uint64_t N = sizeOf(CB.getType());
    for (uint64_t B = 0; B != N; ++B)
      moveBytes(&CB, B, Arg(0), N - 1 - B, 1);
    return;
  }
  // One of the two: moved, and ordered as integers.
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin:
    move(&CB, Arg(0));
    move(&CB, Arg(1));
    break;
  case Intrinsic::vector_reduce_and:
  case Intrinsic::vector_reduce_or:
  case Intrinsic::vector_reduce_xor:
    break;
  case Intrinsic::is_constant:
  case Intrinsic::objectsize:
    seed(&CB, KindSet::Int);
    return;
  case Intrinsic::eh_typeid_for:
  case Intrinsic::returnaddress:
  case Intrinsic::frameaddress:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
    return;
  default:
    break;
  }
  // Of all others the prototype says what the operands are. Results that are
  // structs hold what their members' types say.
  for (const Use &Op : CB.args())
    if (!Op->getType()->isMetadataTy() && !Op->getType()->isTokenTy())
      seedByType(Op);
  if (auto *S = dyn_cast<StructType>(CB.getType())) {
    CellId C = cell(&CB);
    if (C == None)
      return;
    for (auto [I, T] : enumerate(S->elements())) {
      Type *Scalar = T->getScalarType();
      KindSet K = Scalar->isFloatingPointTy() ? KindSet::ofFloat(Scalar)
                  : Scalar->isIntegerTy()     ? KindSet(KindSet::Int)
                                              : KindSet();
      unsigned Index = I;
      G.seed(C, aggregateOffset(S, Index), sizeOf(T), K);
    }
    return;
  }
  seedByType(&CB);
}

/// Any lane of From may become any lane of To.
void KindBuilder::moveLanes(const Value *To, const Value *From) {
  auto *T = dyn_cast<FixedVectorType>(To->getType());
  auto *F = dyn_cast<FixedVectorType>(From->getType());
  if (auto *S = dyn_cast<StructType>(To->getType()); S && F)
    T = dyn_cast<FixedVectorType>(S->getElementType(0));
  if (!T || !F || !hasBytes(To->getType()) || !hasBytes(F))
    return;
  uint64_t Size = sizeOf(T->getElementType());
  uint64_t Total = sizeOf(To->getType());
  for (uint64_t L = 0; (L + 1) * Size <= Total; ++L)
    moveBytes(To, L * Size, From, 0, Size);
  for (uint64_t L = 1; L != F->getNumElements(); ++L)
    moveBytes(To, 0, From, L * Size, Size);
}

/// The lanes of a vector are in memory: each where its pointer points, or one
/// after the other in some order.
void KindBuilder::accessLanes(const Value *V, const Value *Ptr,
                              bool Scattered) {
  auto *T = dyn_cast<FixedVectorType>(V->getType());
  CellId C = cell(V);
  if (!T || C == None)
    return;
  uint64_t Size = sizeOf(T->getElementType());
  Handle H = pointee(Ptr);
  if (!Scattered)
    G.fold(H, Size);
  for (uint64_t L = 0; L != T->getNumElements(); ++L)
    G.access(H, C, L * Size, Size);
}

bool KindBuilder::funnelShift(const CallBase &CB, bool Left) {
  auto *By = dyn_cast<ConstantInt>(CB.getArgOperand(2));
  if (!By || !CB.getType()->isIntegerTy() || !hasBytes(CB.getType()))
    return false;
  uint64_t Bits = CB.getType()->getIntegerBitWidth();
  uint64_t Shift = By->getValue().urem(Bits);
  if (Shift % 8 != 0)
    return false;
  uint64_t N = Bits / 8;
  uint64_t High = Left ? N - Shift / 8 : Shift / 8;
  // The result is bytes [High, High + N) of the second operand followed by the
  // first.
  moveBytes(&CB, 0, CB.getArgOperand(1), High, N - High);
  moveBytes(&CB, N - High, CB.getArgOperand(0), 0, High);
  return true;
}

void KindBuilder::visitVAArgInst(VAArgInst &I) {
  if (CellId C = cell(&I); C != None)
    G.access(G.pointee(varArgs(Current)), C, 0, G.size(C));
}
