// Kind sets, and the queries of kind analysis.
#include "ad/analysis/Kinds.h"
#include "ad/analysis/KindBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

KindSet KindSet::ofFloat(const Type *T) {
  switch (T->getTypeID()) {
  case Type::HalfTyID:
    return F16;
  case Type::BFloatTyID:
    return BF16;
  case Type::FloatTyID:
    return F32;
  case Type::DoubleTyID:
    return F64;
  case Type::X86_FP80TyID:
    return F80;
  case Type::FP128TyID:
  case Type::PPC_FP128TyID:
    return F128;
  default:
    return {};
  }
}

void KindSet::print(raw_ostream &OS) const {
  static constexpr std::pair<Kind, const char *> Names[] = {
      {Int, "int"}, {Ptr, "ptr"}, {F16, "f16"}, {BF16, "bf16"},
      {F32, "f32"}, {F64, "f64"}, {F80, "f80"}, {F128, "f128"}};
  if (empty())
    OS << '?';
  const char *Separator = "";
  for (auto [K, Name] : Names)
    if (mayBe(K)) {
      OS << Separator << Name;
      Separator = "|";
    }
}

class KindAnalysis::Impl {
public:
  explicit Impl(const Module &M) : B(M) {}
  KindBuilder B;
  /// Answers of mayReachFloats, by region.
  mutable DenseMap<KindGraph::RegionId, bool> Reaches;
};

KindAnalysis::KindAnalysis(const Module &M) : P(std::make_unique<Impl>(M)) {}
KindAnalysis::~KindAnalysis() = default;

void KindAnalysis::add(
    ArrayRef<Function *> Copies,
    function_ref<const Function *(const Function &)> OriginalOf) {
  P->B.add(Copies, OriginalOf);
  P->Reaches.clear();
}

static void append(KindRanges &Ranges, uint64_t Begin, uint64_t End,
                   KindSet K) {
  if (K.empty())
    return;
  if (!Ranges.empty() && Ranges.back().End == Begin && Ranges.back().Kinds == K)
    Ranges.back().End = End;
  else
    Ranges.push_back({Begin, End, K});
}

/// Values that have no bytes of their own.
static bool isBit(const Value *V) {
  Type *T = V->getType()->getScalarType();
  return T->isIntegerTy() && T->getIntegerBitWidth() % 8 != 0;
}

KindRanges KindAnalysis::value(const Value *V) const {
  KindRanges Ranges;
  const KindBuilder &B = P->B;
  KindBuilder::CellId C = B.known(V);
  if (C != KindBuilder::None) {
    B.graph().visit(C, 0, B.graph().size(C),
                    [&](uint64_t Begin, uint64_t End, unsigned Bits) {
                      append(Ranges, Begin, End, KindGraph::told(Bits));
                    });
    return Ranges;
  }
  if (!V->getType()->isSized() || V->getType()->isScalableTy())
    return Ranges;
  uint64_t Size = B.layout().getTypeStoreSize(V->getType());
  if (isBit(V))
    append(Ranges, 0, Size, KindSet::Int);
  else if (V->getType()->isPtrOrPtrVectorTy())
    append(Ranges, 0, Size, KindSet::Ptr);
  return Ranges;
}

KindSet KindAnalysis::summary(const Value *V) const {
  KindSet All;
  for (const KindRange &R : value(V))
    All = All | R.Kinds;
  return All;
}

KindRanges KindAnalysis::memory(const Value *Ptr, uint64_t Size) const {
  KindRanges Ranges;
  KindBuilder::Handle H = P->B.place(Ptr);
  if (!H || Size == 0)
    return Ranges;
  // Larger pieces of memory have the kinds of the object everywhere.
  constexpr uint64_t Largest = 1 << 14;
  if (Size > Largest) {
    append(Ranges, 0, Size, object(Ptr));
    return Ranges;
  }
  SmallVector<uint16_t, 64> Bytes(Size);
  for (KindBuilder::Handle Place : P->B.graph().withCopies(H))
    P->B.graph().visitMemory(Place, Size,
                             [&](uint64_t Begin, uint64_t End, unsigned Bits) {
                               for (uint64_t At = Begin; At != End; ++At)
                                 Bytes[At] |= Bits;
                             });
  for (auto [At, Bits] : enumerate(Bytes))
    append(Ranges, At, At + 1, KindGraph::told(Bits));
  return Ranges;
}

KindSet KindAnalysis::object(const Value *Ptr) const {
  KindSet All;
  if (KindBuilder::Handle H = P->B.place(Ptr))
    for (KindBuilder::Handle Place : P->B.graph().withCopies(H))
      P->B.graph().visitRegion(
          Place, [&](int64_t, uint64_t, unsigned Bits, KindBuilder::Handle) {
            All = All | KindGraph::told(Bits);
          });
  return All;
}

bool KindAnalysis::onlyIntegers(const Value *Ptr) const {
  KindBuilder::Handle H = P->B.place(Ptr);
  if (!H)
    return false;
  bool Any = false;
  bool All = true;
  for (KindBuilder::Handle Place : P->B.graph().withCopies(H))
    P->B.graph().visitRegion(
        Place, [&](int64_t, uint64_t, unsigned Bits, KindBuilder::Handle) {
          Any = true;
          All &= Bits == KindSet::Int;
        });
  return Any && All;
}

bool KindAnalysis::mayHoldFloats(const Value *Ptr) const {
  KindBuilder::Handle H = P->B.place(Ptr);
  if (!H)
    return true;
  bool Any = false;
  bool Floats = false;
  for (KindBuilder::Handle Place : P->B.graph().withCopies(H))
    P->B.graph().visitRegion(
        Place, [&](int64_t, uint64_t, unsigned Bits, KindBuilder::Handle) {
          KindSet K = KindGraph::told(Bits);
          Any = true;
          Floats |= K.empty() || K.mayBeFloat();
        });
  return !Any || Floats;
}

bool KindAnalysis::mayReachFloats(const Value *Ptr) const {
  const KindGraph &G = P->B.graph();
  KindBuilder::Handle Start = P->B.place(Ptr);
  if (!Start)
    return true;
  auto [It, New] = P->Reaches.try_emplace(Start.Region, false);
  if (!New)
    return It->second;
  SmallVector<KindGraph::RegionId, 16> Work;
  DenseSet<KindGraph::RegionId> Seen;
  auto Reach = [&](KindBuilder::Handle To) {
    if (Seen.insert(To.Region).second)
      Work.push_back(To.Region);
  };
  Reach(Start);
  bool Found = false;
  while (!Work.empty() && !Found) {
    KindGraph::RegionId Top = Work.pop_back_val();
    G.visitRegion({Top, 0}, [&](int64_t, uint64_t, unsigned Bits,
                                KindBuilder::Handle To) {
      KindSet K = KindGraph::told(Bits);
      Found |= K.empty() || K.mayBeFloat();
      if (To)
        Reach(To);
    });
    G.visitCopies(Top, Reach);
  }
  It->second = Found;
  return Found;
}

void KindAnalysis::print(const Function &F, raw_ostream &OS) const {
  const KindBuilder &B = P->B;
  auto Value = [&](const llvm::Value &V) {
    V.printAsOperand(OS, false);
    OS << ':';
    for (const KindRange &R : value(&V)) {
      OS << " [" << R.Begin << ',' << R.End << ")=";
      R.Kinds.print(OS);
    }
    if (V.getType()->isPointerTy())
      if (KindBuilder::Handle H = B.place(&V)) {
        OS << " -> +" << H.Offset;
        if (uint64_t Stride = B.graph().stride(H))
          OS << " mod " << Stride;
        OS << " {";
        B.graph().visitRegion(H, [&](int64_t Begin, uint64_t Size,
                                     unsigned Bits, KindBuilder::Handle) {
          OS << ' ' << Begin << '+' << Size << '=';
          KindGraph::told(Bits).print(OS);
        });
        OS << " }";
      }
    OS << '\n';
  };
  OS << "kinds in " << F.getName() << ":\n";
  for (const Argument &A : F.args())
    Value(A);
  for (const Instruction &I : instructions(F))
    if (!I.getType()->isVoidTy())
      Value(I);
}
