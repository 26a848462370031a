// The part of the kind graph that functions share, and copies of the rest for
// their calls.
#include "ad/analysis/KindGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace adjoin;

void KindGraph::leafGlobal(CellId Leaf) {
  if (Cells[Leaf].Global)
    return;
  Cells[Leaf].Global = true;
  if (Cells[Leaf].To)
    PendingGlobals.push_back(Cells[Leaf].To.Region);
}

void KindGraph::spreadGlobal(RegionId Id) {
  Region &R = Regions[resolve({Id, 0}).Region];
  if (R.Global)
    return;
  R.Global = true;
  for (const Entry &E : R.Entries)
    for (uint64_t At = 0; At < Cells[E.Cell].Size;) {
      uint64_t In = At;
      CellId Leaf = leafAt(E.Cell, In);
      leafGlobal(Leaf);
      At += Cells[Leaf].Size - In;
    }
}

void KindGraph::makeGlobal(Handle H) {
  PendingGlobals.push_back(H.Region);
  drain();
}

void KindGraph::makeGlobal(CellId C) {
  for (uint64_t At = 0; At < Cells[C].Size;) {
    uint64_t In = At;
    CellId Leaf = leafAt(C, In);
    leafGlobal(Leaf);
    At += Cells[Leaf].Size - In;
  }
  drain();
}

/// The cells (leaves and split ones) and regions that are reachable and not
/// global, inner cells before outer ones.
bool KindGraph::collect(ArrayRef<CellId> From, size_t Limit,
                        std::vector<CellId> &LocalCells,
                        std::vector<RegionId> &LocalRegions) const {
  DenseSet<CellId> Seen;
  DenseSet<RegionId> SeenRegions;
  std::vector<std::pair<CellId, bool>> Work;
  auto Reach = [&](Handle H) {
    if (!H)
      return;
    RegionId R = resolve(H).Region;
    if (!Regions[R].Global && SeenRegions.insert(R).second)
      LocalRegions.push_back(R);
  };
  auto Walk = [&](CellId Start) {
    Work.emplace_back(find(Start), false);
    while (!Work.empty()) {
      auto [C, Done] = Work.back();
      Work.pop_back();
      const Cell &Top = Cells[C];
      if (Done) {
        LocalCells.push_back(C);
        continue;
      }
      if ((Top.Left == None && Top.Global) || !Seen.insert(C).second)
        continue;
      if (Top.Left != None) {
        Work.emplace_back(C, true);
        Work.emplace_back(find(Top.Right), false);
        Work.emplace_back(find(Top.Left), false);
        continue;
      }
      LocalCells.push_back(C);
      Reach(Top.To);
    }
  };
  for (CellId C : From)
    if (C != None)
      Walk(C);
  for (size_t I = 0; I != LocalRegions.size(); ++I) {
    const Region &R = Regions[LocalRegions[I]];
    for (const Entry &E : R.Entries)
      Walk(E.Cell);
    for (uint32_t S : R.Signatures) {
      const Signature &Sig = Signatures[findSignature(S)];
      for (CellId C : Sig.Params)
        if (C != None)
          Walk(C);
      if (Sig.Return != None)
        Walk(Sig.Return);
    }
    if (LocalCells.size() + LocalRegions.size() > Limit)
      return false;
  }
  return true;
}

bool KindGraph::clone(ArrayRef<CellId> From, SmallVectorImpl<CellId> &To,
                      size_t Limit) {
  std::vector<CellId> LocalCells;
  std::vector<RegionId> LocalRegions;
  if (!collect(From, Limit, LocalCells, LocalRegions))
    return false;
  DenseMap<RegionId, RegionId> NewRegions;
  for (RegionId R : LocalRegions) {
    RegionId New = makeRegion();
    NewRegions[R] = New;
    Regions[R].Copies.emplace_back(0, Handle{New, 0});
    Regions[New].Stride = Regions[R].Stride;
    Regions[New].AllCalled = Regions[R].AllCalled;
  }
  DenseMap<CellId, CellId> NewCells;
  auto CopyOf = [&](CellId C) {
    if (C == None)
      return C;
    C = find(C);
    auto It = NewCells.find(C);
    return It == NewCells.end() ? C : It->second;
  };
  for (CellId C : LocalCells) {
    CellId New = makeCell(Cells[C].Size);
    NewCells[C] = New;
    if (Cells[C].Left != None) {
      Cells[New].Left = CopyOf(Cells[C].Left);
      Cells[New].Right = CopyOf(Cells[C].Right);
      continue;
    }
    Cells[New].Kinds = Cells[C].Kinds;
    Copies.emplace_back(C, New);
    if (!Cells[C].To)
      continue;
    Handle H = resolve(Cells[C].To);
    auto It = NewRegions.find(H.Region);
    Cells[New].To = It == NewRegions.end() ? H : Handle{It->second, H.Offset};
  }
  for (RegionId R : LocalRegions) {
    RegionId New = NewRegions[R];
    for (const Entry &E : Regions[R].Entries)
      Regions[New].Entries.push_back({E.Offset, CopyOf(E.Cell)});
    for (uint32_t S : Regions[R].Signatures) {
      S = findSignature(S);
      uint32_t Copy = makeSignature(Signatures[S].Type);
      Signature &Sig = Signatures[Copy];
      Signature &Old = Signatures[S];
      Sig.Called = Old.Called;
      Sig.Members = Old.Members;
      Sig.Home = {New, 0};
      for (CellId C : Old.Params)
        Sig.Params.push_back(CopyOf(C));
      Sig.Return = CopyOf(Old.Return);
      Old.Cloned = true;
      Regions[New].Signatures.push_back(Copy);
    }
  }
  for (CellId C : From)
    To.push_back(CopyOf(C));
  return true;
}

bool KindGraph::isSettled(CellId C) const {
  return C < SettledCells || Cells[C].Settled;
}

/// Carries kinds along copies, of which those before \p First are settled.
void KindGraph::propagateFrom(size_t First) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    auto Each = [&](std::pair<CellId, CellId> P, bool Up) {
      // Leaves when they were copied; they may be split since.
      auto [Original, Copy] = P;
      CellId From = Up ? Original : Copy;
      CellId To = Up ? Copy : Original;
      for (uint64_t At = 0; At < Cells[From].Size;) {
        uint64_t In = At;
        CellId Leaf = leafAt(From, In);
        uint64_t Size = Cells[Leaf].Size - In;
        if (Up)
          Changed |= seed(To, At, Size, KindSet(Cells[Leaf].Kinds));
        else
          Changed |= seedFromCallers(To, At, Size,
                                     Cells[Leaf].Kinds | Cells[Leaf].Callers);
        At += Size;
      }
    };
    for (size_t I = First; I != Copies.size(); ++I)
      Each(Copies[I], true);
    for (size_t I = Copies.size(); I-- != First;)
      Each(Copies[I], false);
  }
}

void KindGraph::propagate() {
  propagateFrom(SettledCopies);
  // Rarely something older learns something.
  if (SettledChanged)
    propagateFrom(0);
  SettledChanged = false;
  SettledCopies = Copies.size();
  SettledCells = Cells.size();
}
