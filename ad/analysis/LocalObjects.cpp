// Follows the pointers to a function's own objects.
#include "ad/analysis/LocalObjects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

bool adjoin::isNoAddress(const Value *V) {
  return isa<ConstantPointerNull, UndefValue>(V);
}

/// Intrinsics whose result is their first operand, as far as the object goes.
static bool passesPointer(const CallBase &CB) {
  switch (CB.getIntrinsicID()) {
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptrmask:
  case Intrinsic::ptr_annotation:
  case Intrinsic::ssa_copy:
    return true;
  default:
    return false;
  }
}

/// The pointer operands that decide where the pointer \p I points.
static SmallVector<const Value *, 4> sources(const Instruction &I) {
  if (auto *Phi = dyn_cast<PHINode>(&I))
    return {Phi->incoming_values().begin(), Phi->incoming_values().end()};
  if (auto *Select = dyn_cast<SelectInst>(&I))
    return {Select->getTrueValue(), Select->getFalseValue()};
  return {I.getOperand(0)};
}

/// An integer that is made of an address, and only measured.
static bool onlyMeasured(const Instruction &Address) {
  return all_of(Address.users(), [](const User *U) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I)
      return false;
    if (isa<ICmpInst>(I))
      return true;
    return I->getOpcode() == Instruction::Sub &&
           isa<PtrToIntInst>(I->getOperand(0)) &&
           isa<PtrToIntInst>(I->getOperand(1));
  });
}

LocalObjects::LocalObjects(const Function &F,
                           function_ref<bool(const CallBase &)> IsAllocation) {
  for (const Instruction &I : instructions(F)) {
    auto *CB = dyn_cast<CallBase>(&I);
    if (!isa<AllocaInst>(I) &&
        !(CB && CB->getType()->isPointerTy() && IsAllocation(*CB)))
      continue;
    LocalObject O;
    O.Maker = &I;
    Objects.push_back(std::move(O));
    follow(Objects.size() - 1);
  }
  findIncomplete();
}

void LocalObjects::follow(unsigned Number) {
  LocalObject &O = Objects[Number];
  SmallVector<const Instruction *, 16> Work{O.Maker};
  SmallPtrSet<const Instruction *, 16> Seen{O.Maker};
  while (!Work.empty()) {
    const Instruction *P = Work.pop_back_val();
    Pointer &Entry = Pointers[P];
    if (Entry.Objects.empty())
      Derived.push_back(P);
    Entry.Objects.push_back(Number);
    auto Add = [&](const Instruction *I) {
      if (Seen.insert(I).second)
        Work.push_back(I);
    };
    for (const User *U : P->users()) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I) {
        O.Escapes = true;
        continue;
      }
      switch (I->getOpcode()) {
      case Instruction::GetElementPtr:
        if (I->getOperand(0) == P)
          Add(I);
        else
          O.Escapes = true;
        break;
      case Instruction::BitCast:
      case Instruction::AddrSpaceCast:
      case Instruction::Freeze:
      case Instruction::PHI:
      case Instruction::Select:
        Add(I);
        break;
      case Instruction::Load:
      case Instruction::ICmp:
        break;
      case Instruction::Store:
        if (cast<StoreInst>(I)->getValueOperand() == P)
          O.Escapes = true;
        else
          O.Users.push_back(I);
        break;
      case Instruction::AtomicRMW:
      case Instruction::AtomicCmpXchg:
        if (I->getOperand(0) != P || is_contained(drop_begin(I->operands()), P))
          O.Escapes = true;
        else
          O.Users.push_back(I);
        break;
      case Instruction::PtrToInt:
        if (!onlyMeasured(*I))
          O.Escapes = true;
        break;
      case Instruction::Call:
      case Instruction::Invoke:
      case Instruction::CallBr: {
        auto &CB = cast<CallBase>(*I);
        if (passesPointer(CB)) {
          Add(I);
          break;
        }
        if (CB.getReturnedArgOperand() == P)
          O.Escapes = true;
        O.Users.push_back(I);
        break;
      }
      default:
        O.Escapes = true;
        break;
      }
    }
  }
}

void LocalObjects::findIncomplete() {
  SmallVector<const Instruction *, 16> Work;
  auto Spoil = [&](const Instruction *P) {
    Pointer &Entry = Pointers[P];
    if (!Entry.Complete)
      return;
    Entry.Complete = false;
    Work.push_back(P);
  };
  SmallPtrSet<const Instruction *, 16> Makers;
  for (const LocalObject &O : Objects)
    Makers.insert(O.Maker);
  for (const Instruction *P : Derived)
    if (!Makers.count(P) && any_of(sources(*P), [&](const Value *V) {
          return !isNoAddress(V) && !Pointers.count(V);
        }))
      Spoil(P);
  while (!Work.empty())
    for (const User *U : Work.pop_back_val()->users())
      if (auto *I = dyn_cast<Instruction>(U);
          I && !Makers.count(I) && Pointers.count(I))
        Spoil(I);
}

ArrayRef<unsigned> LocalObjects::objectsOf(const Value *Ptr) const {
  auto It = Pointers.find(Ptr);
  return It == Pointers.end() ? ArrayRef<unsigned>() : It->second.Objects;
}

bool LocalObjects::isComplete(const Value *Ptr) const {
  auto It = Pointers.find(Ptr);
  return It != Pointers.end() && It->second.Complete;
}
