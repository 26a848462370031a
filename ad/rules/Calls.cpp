// What a call is: registrations, then built-in rules, then the body.
#include "ad/rules/Calls.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace adjoin;

/// Intrinsics of which no result and no effect depends on a float's value in a
/// way that has a derivative.
static CallClass::Kind kindOfIntrinsic(const Function &F) {
  switch (F.getIntrinsicID()) {
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_value:
  case Intrinsic::dbg_label:
  case Intrinsic::dbg_assign:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::assume:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::var_annotation:
  case Intrinsic::codeview_annotation:
  case Intrinsic::pseudoprobe:
  case Intrinsic::sideeffect:
  case Intrinsic::donothing:
  case Intrinsic::fake_use:
  case Intrinsic::prefetch:
  case Intrinsic::debugtrap:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::clear_cache:
  case Intrinsic::get_rounding:
  case Intrinsic::set_rounding:
  case Intrinsic::get_fpenv:
  case Intrinsic::set_fpenv:
  case Intrinsic::reset_fpenv:
  case Intrinsic::get_fpmode:
  case Intrinsic::set_fpmode:
  case Intrinsic::reset_fpmode:
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::frameaddress:
  case Intrinsic::sponentry:
  case Intrinsic::eh_typeid_for:
  case Intrinsic::is_constant:
  case Intrinsic::objectsize:
  case Intrinsic::is_fpclass:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  case Intrinsic::lrint:
  case Intrinsic::llrint:
  case Intrinsic::lround:
  case Intrinsic::llround:
  case Intrinsic::experimental_constrained_fcmp:
  case Intrinsic::experimental_constrained_fcmps:
  case Intrinsic::experimental_constrained_fptosi:
  case Intrinsic::experimental_constrained_fptoui:
  case Intrinsic::experimental_constrained_sitofp:
  case Intrinsic::experimental_constrained_uitofp:
  case Intrinsic::experimental_constrained_lrint:
  case Intrinsic::experimental_constrained_llrint:
  case Intrinsic::experimental_constrained_lround:
  case Intrinsic::experimental_constrained_llround:
  case Intrinsic::vscale:
  case Intrinsic::get_active_lane_mask:
  case Intrinsic::experimental_get_vector_length:
  case Intrinsic::type_test:
  case Intrinsic::public_type_test:
  case Intrinsic::allow_runtime_check:
  case Intrinsic::allow_ubsan_check:
    return CallClass::Inactive;
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
    return CallClass::NoReturn;
  default:
    return CallClass::Intrinsic;
  }
}

/// Memory intrinsics have the operands of memcpy and memset.
static bool classifyMemory(const Function &F, CallClass &C) {
  switch (F.getIntrinsicID()) {
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove:
  case Intrinsic::memcpy_element_unordered_atomic:
  case Intrinsic::memmove_element_unordered_atomic:
    C.K = CallClass::Transfer;
    break;
  case Intrinsic::memset:
  case Intrinsic::memset_inline:
  case Intrinsic::memset_element_unordered_atomic:
    C.K = CallClass::Fill;
    break;
  default:
    return false;
  }
  C.PointerArg = 0;
  C.SourceArg = 1;
  C.SizeArg = 2;
  return true;
}

/// What allockind, allocsize and allocptr say.
static bool classifyByAttributes(const Function &F, CallClass &C) {
  Attribute Kind = F.getFnAttribute(Attribute::AllocKind);
  if (!Kind.isValid())
    return false;
  AllocFnKind K = Kind.getAllocKind();
  for (const Argument &A : F.args())
    if (A.hasAttribute(Attribute::AllocatedPointer))
      C.PointerArg = static_cast<int>(A.getArgNo());
  if (Attribute Size = F.getFnAttribute(Attribute::AllocSize); Size.isValid()) {
    auto [First, Second] = Size.getAllocSizeArgs();
    C.SizeArg = static_cast<int>(First);
    C.SizeArg2 = Second ? static_cast<int>(*Second) : -1;
  }
  auto Has = [&](AllocFnKind Bit) { return (K & Bit) != AllocFnKind::Unknown; };
  C.ZeroedMemory = Has(AllocFnKind::Zeroed);
  if (Has(AllocFnKind::Free) && C.PointerArg >= 0)
    C.K = CallClass::Free;
  else if (Has(AllocFnKind::Realloc) && C.PointerArg >= 0)
    C.K = CallClass::Reallocate;
  else if (Has(AllocFnKind::Alloc) && F.getReturnType()->isPointerTy())
    C.K = CallClass::Allocate;
  return C.K != CallClass::Unknown;
}

CallClass adjoin::classifyFunction(const Function &F, const RuleBook &Rules) {
  CallClass C;
  if (auto At = Rules.Custom.find(&F); At != Rules.Custom.end()) {
    C.K = CallClass::Custom;
    C.User = &At->second;
    return C;
  }
  if (auto At = Rules.FunctionLike.find(&F); At != Rules.FunctionLike.end()) {
    C.Rule = scalarRuleNamed(At->second);
    // lld-plugin reports names that are in no row.
    if (C.Rule && fits(*C.Rule, *F.getFunctionType())) {
      C.K = CallClass::Scalar;
      return C;
    }
  }
  if (auto At = Rules.Allocators.find(&F); At != Rules.Allocators.end()) {
    C.K = CallClass::Allocate;
    C.SizeArg = static_cast<int>(At->second.SizeArg);
    return C;
  }
  if (auto At = Rules.Deallocators.find(&F); At != Rules.Deallocators.end()) {
    C.K = CallClass::Free;
    // The position of the pointer is in the rule of its allocator.
    C.PointerArg = 0;
    if (auto Pair = Rules.Allocators.find(At->second);
        Pair != Rules.Allocators.end())
      for (auto [Index, Arg] : enumerate(Pair->second.FreeArgs))
        if (Arg < 0)
          C.PointerArg = static_cast<int>(Index);
    return C;
  }
  if (Rules.Inactive.contains(&F)) {
    C.K = CallClass::Inactive;
    return C;
  }
  if ((C.Rule = scalarRuleFor(F))) {
    C.K = CallClass::Scalar;
    return C;
  }
  if ((C.Several = multiRuleFor(F))) {
    C.K = CallClass::Multi;
    return C;
  }
  if (F.isIntrinsic()) {
    if (!classifyMemory(F, C))
      C.K = kindOfIntrinsic(F);
    return C;
  }
  if (classifyByAttributes(F, C))
    return C;
  C = knownFunction(F);
  if (C.K == CallClass::Unknown && !F.isDeclaration())
    C.K = CallClass::Derive;
  return C;
}

/// A call of syscall(2) that writes nothing but integers of its own: locks and
/// identities, by their numbers in Linux on x86-64.
static bool isHarmlessSystemCall(const CallBase &CB) {
  static constexpr uint64_t Numbers[] = {
      24,  // sched_yield
      39,  // getpid
      186, // gettid
      202, // futex
      228, // clock_gettime
      234, // tgkill
      318, // getrandom
      324, // membarrier
  };
  auto *Number =
      CB.arg_empty() ? nullptr : dyn_cast<ConstantInt>(CB.getArgOperand(0));
  return Number && is_contained(Numbers, Number->getZExtValue());
}

CallClass adjoin::classifyCall(const CallBase &CB, const RuleBook &Rules) {
  CallClass C;
  if (CB.isInlineAsm()) {
    C.K = CallClass::Assembly;
    return C;
  }
  const Function *F = CB.getCalledFunction();
  if (!F) {
    C.K = CallClass::Indirect;
    return C;
  }
  C = classifyFunction(*F, Rules);
  // A call may say more than the function: noreturn, and called with another
  // prototype.
  if (C.K == CallClass::Unknown || C.K == CallClass::Derive) {
    if (CB.doesNotReturn())
      C.K = CallClass::NoReturn;
    else if (F->getName() == "syscall" && F->isDeclaration() &&
             isHarmlessSystemCall(CB))
      C.K = CallClass::Inactive;
    return C;
  }
  for (int Arg : {C.PointerArg, C.SourceArg, C.SizeArg, C.SizeArg2})
    if (Arg >= static_cast<int>(CB.arg_size()))
      return CallClass();
  return C;
}

Value *adjoin::bytesOf(IRBuilder<> &B, const CallBase &CB, const CallClass &C,
                       function_ref<Value *(const Value *)> Primal) {
  auto Factor = [&](int Arg) {
    return B.CreateZExtOrTrunc(Primal(CB.getArgOperand(Arg)), B.getInt64Ty());
  };
  Value *Size = Factor(C.SizeArg);
  return C.SizeArg2 < 0 ? Size : B.CreateMul(Size, Factor(C.SizeArg2));
}
