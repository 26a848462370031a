// What calls say about kinds, and the walk over functions that calls reach.
#include "ad/analysis/KindBuilder.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/IR/Constants.h"
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

void KindBuilder::reach(uint32_t Id) {
  Entity &E = Entities[Id];
  if (E.Reached)
    return;
  E.Reached = true;
  if (!E.HasCopy && !E.Original->isDeclaration())
    NewEntities.push_back(Id);
}

void KindBuilder::analyse(const Function &Body, uint32_t Id) {
  Current = Id;
  for (auto [Arg, Param] : zip(Body.args(), Entities[Id].Params)) {
    Cells[&Arg] = Param;
    if (Param != None && Arg.hasAttribute(Attribute::Range))
      G.seed(Param, KindSet::Int);
  }
  for (const BasicBlock &BB : Body)
    for (const Instruction &I : BB)
      visit(const_cast<Instruction &>(I));
  Current = None;
}

void KindBuilder::add(
    ArrayRef<Function *> Copies,
    function_ref<const Function *(const Function &)> OriginalOf) {
  // First all copies get their entity, so that calls among them meet.
  for (const Function *F : Copies) {
    const Function *Original = OriginalOf ? OriginalOf(*F) : nullptr;
    uint32_t Id = entity(Original ? *Original : *F);
    EntityOf[F] = Id;
    Entities[Id].HasCopy = true;
    Entities[Id].Reached = true;
  }
  for (const Function *F : Copies)
    if (!F->isDeclaration())
      analyse(*F, EntityOf[F]);
  work();
}

/// Analyses what was reached until nothing is new: bodies, initialisers,
/// targets of indirect calls, then what was put off until the rest is known.
void KindBuilder::work() {
  bool Changed = true;
  while (Changed) {
    Changed = false;
    while (!NewEntities.empty() || !NewGlobals.empty()) {
      if (!NewGlobals.empty()) {
        const GlobalVariable *GV = NewGlobals.back();
        NewGlobals.pop_back();
        initialise(*GV);
        continue;
      }
      uint32_t Id = NewEntities.back();
      NewEntities.pop_back();
      analyse(*Entities[Id].Original, Id);
    }
    for (uint32_t Id : G.takeCalled()) {
      reach(Id);
      Changed = true;
    }
    if (!Changed)
      Changed = resolveIndirect();
    if (!Changed)
      Changed = foldDeferred();
    if (!Changed)
      Changed = compareDeferred();
  }
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
  uint32_t S = G.signatureIn(G.pointee(C), T);
  if (G.signature(S).Params.empty() && G.signature(S).Return == None) {
    SmallVector<CellId, 4> Params;
    for (Type *P : T->params())
      Params.push_back(makeCellFor(P));
    CellId Return = makeCellFor(T->getReturnType());
    KindGraph::Signature &Sig = G.signature(S);
    Sig.Params = std::move(Params);
    Sig.Return = Return;
  }
  SmallVector<CellId, 4> Params = G.signature(S).Params;
  bind(CB, Params, G.signature(S).Return);
  G.call(S);
  Indirect.push_back({C, T});
}

/// A call through a pointer of which no function is known may reach every
/// function of its type whose address is taken.
bool KindBuilder::resolveIndirect() {
  bool Changed = false;
  for (size_t I = 0; I != Indirect.size(); ++I) {
    IndirectSite &Site = Indirect[I];
    if (Site.Resolved)
      continue;
    Handle H = G.pointee(Site.Target);
    uint32_t S = G.signatureIn(H, Site.Type);
    if (!G.signature(S).Members.empty()) {
      Site.Resolved = true;
      continue;
    }
    if (!TakenKnown) {
      TakenKnown = true;
      for (const Function &F : M)
        if (!F.isDeclaration() && F.hasAddressTaken())
          Taken.push_back(&F);
    }
    Site.Resolved = true;
    for (const Function *F : Taken)
      if (F->getFunctionType() == Site.Type) {
        G.merge(H, functionPlace(*F));
        Changed = true;
      }
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
  auto *F =
      dyn_cast<Function>(CB.getCalledOperand()->stripPointerCastsAndAliases());
  if (!F) {
    callIndirect(CB);
    return;
  }
  if (F->isIntrinsic()) {
    callIntrinsic(CB, F->getIntrinsicID());
    return;
  }
  if (callLibrary(CB, *F))
    return;
  if (!F->isDeclaration() || EntityOf.count(F)) {
    uint32_t Id = entity(*F);
    reach(Id);
    SmallVector<CellId, 4> Params = Entities[Id].Params;
    bind(CB, Params, Entities[Id].Return);
    for (const Use &Arg : drop_begin(
             CB.args(), std::min<size_t>(Params.size(), CB.arg_size()))) {
      CellId C = cell(Arg);
      if (C == None || !F->isVarArg())
        continue;
      if (!Entities[Id].VarArgs) {
        Entities[Id].VarArgs = {G.makeRegion(), 0};
        G.fold(Entities[Id].VarArgs, 8);
      }
      G.access(Entities[Id].VarArgs, C, 0, G.size(C));
    }
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
    if (Exception == None)
      Exception = G.makeCell(DL.getPointerSize());
    G.unify(cell(CB.getArgOperand(0)), Exception);
    G.unify(cell(&CB), Exception);
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
  case Intrinsic::vastart:
    if (Entity &E = Entities[Current]; !E.VarArgs) {
      E.VarArgs = {G.makeRegion(), 0};
      G.fold(E.VarArgs, 8);
    }
    if (M.getTargetTriple().isX86_64()) {
      G.point(pointee(Arg(0)).plus(8), 8, Entities[Current].VarArgs);
      G.point(pointee(Arg(0)).plus(16), 8, Entities[Current].VarArgs);
    } else {
      G.point(pointee(Arg(0)), DL.getPointerSize(), Entities[Current].VarArgs);
    }
    return;
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
  Entity &E = Entities[Current];
  if (CellId C = cell(&I); C != None && E.VarArgs)
    G.access(E.VarArgs, C, 0, G.size(C));
}
