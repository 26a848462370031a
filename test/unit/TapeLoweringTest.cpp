// Which records of the tape become stack objects.
#include "ad/reverse/TapeLowering.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

/// Runs the lowering on the function f of a module with the runtime's names;
/// returns how many pushes, pops and stack objects f then has.
static std::string lowered(StringRef Body) {
  LLVMContext Ctx;
  SMDiagnostic Error;
  std::unique_ptr<Module> M = parseAssemblyString((R"(
    declare ptr @adjoin_rt_push(ptr, i64)
    declare ptr @adjoin_rt_pop(ptr, i64)
    declare void @adjoin_rt_init(ptr, i64)
    declare void @adjoin_rt_finish(ptr)
    declare void @other(ptr)
    declare void @use(ptr)
    declare i1 @choose()
    declare i32 @__gxx_personality_v0(...)
    )" + Body)
                                                      .str(),
                                                  Error, Ctx);
  if (!M) {
    Error.print("test", errs());
    return "";
  }
  TapeCalls Calls;
  Calls.Push = M->getFunction("adjoin_rt_push");
  Calls.Pop = M->getFunction("adjoin_rt_pop");
  Calls.Neutral = {M->getFunction("adjoin_rt_init"),
                   M->getFunction("adjoin_rt_finish")};
  Function *F = M->getFunction("f");
  bool Changed = lowerTape(*F, Calls);
  EXPECT_FALSE(verifyModule(*M, &errs()));
  unsigned Pushes = 0, Pops = 0, Objects = 0;
  for (Instruction &I : instructions(*F)) {
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      Pushes += Call->getCalledFunction() == Calls.Push;
      Pops += Call->getCalledFunction() == Calls.Pop;
      if (auto *Plain = dyn_cast<CallInst>(Call))
        EXPECT_FALSE(Changed && Plain->isTailCall());
    }
    Objects += isa<AllocaInst>(I) && I.getName().starts_with("record");
  }
  EXPECT_EQ(Changed, Objects != 0);
  return std::to_string(Pushes) + " " + std::to_string(Pops) + " " +
         std::to_string(Objects);
}

TEST(TapeLowering, NestedPairs) {
  EXPECT_EQ(lowered(R"(
    define void @f() {
      %c = alloca [64 x i8]
      call void @adjoin_rt_init(ptr %c, i64 1)
      %a = call ptr @adjoin_rt_push(ptr %c, i64 8)
      store double 1.0, ptr %a
      %b = call ptr @adjoin_rt_push(ptr %c, i64 16)
      %b2 = call ptr @adjoin_rt_pop(ptr %c, i64 16)
      %a2 = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      call void @use(ptr %a2)
      call void @adjoin_rt_finish(ptr %c)
      ret void
    })"),
            "0 0 2");
}

TEST(TapeLowering, TheRecordsOfAnAugmentedPrimalAreItsCallers) {
  EXPECT_EQ(lowered(R"(
    define void @f(ptr %c) {
      %a = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %b = call ptr @adjoin_rt_push(ptr %c, i64 16)
      %b2 = call ptr @adjoin_rt_pop(ptr %c, i64 16)
      ret void
    })"),
            "1 0 1");
  EXPECT_EQ(lowered(R"(
    define void @f(ptr %c) {
      %x = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      %a = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %b = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      %y = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      ret void
    })"),
            "0 2 1");
}

TEST(TapeLowering, LoopsThatPushStayOnTheTape) {
  EXPECT_EQ(lowered(R"(
    define void @f() {
    entry:
      %c = alloca [64 x i8]
      %a = call ptr @adjoin_rt_push(ptr %c, i64 8)
      br label %up
    up:
      %b = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %more = call i1 @choose()
      br i1 %more, label %up, label %down
    down:
      %d = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      %again = call i1 @choose()
      br i1 %again, label %down, label %end
    end:
      %e = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      ret void
    })"),
            "2 2 0");
}

TEST(TapeLowering, PairsInALoop) {
  EXPECT_EQ(lowered(R"(
    define void @f() {
    entry:
      %c = alloca [64 x i8]
      br label %loop
    loop:
      %b = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %left = call i1 @choose()
      br i1 %left, label %yes, label %no
    yes:
      %d = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      br label %next
    no:
      %e = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      br label %next
    next:
      %p = phi ptr [ %d, %yes ], [ %e, %no ]
      call void @use(ptr %p)
      %again = call i1 @choose()
      br i1 %again, label %loop, label %end
    end:
      ret void
    })"),
            "0 0 1");
}

TEST(TapeLowering, PathsThatPushDifferently) {
  EXPECT_EQ(lowered(R"(
    define void @f() {
    entry:
      %c = alloca [64 x i8]
      %left = call i1 @choose()
      br i1 %left, label %yes, label %no
    yes:
      %a = call ptr @adjoin_rt_push(ptr %c, i64 8)
      br label %next
    no:
      %b = call ptr @adjoin_rt_push(ptr %c, i64 8)
      br label %next
    next:
      %d = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      %u = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %v = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      ret void
    })"),
            "3 2 0");
}

TEST(TapeLowering, CalleesMayPushAndPop) {
  EXPECT_EQ(lowered(R"(
    define void @f(i64 %n) {
      %c = alloca [64 x i8]
      %a = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %b = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      %v = call ptr @adjoin_rt_push(ptr %c, i64 8)
      call void @other(ptr %c)
      %w = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      ret void
    })"),
            "1 1 1");
}

TEST(TapeLowering, SizesThatAreNotKnownOrNotEqual) {
  EXPECT_EQ(lowered(R"(
    define void @f(i64 %n) {
      %c = alloca [64 x i8]
      %a = call ptr @adjoin_rt_push(ptr %c, i64 %n)
      %b = call ptr @adjoin_rt_pop(ptr %c, i64 %n)
      %v = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %w = call ptr @adjoin_rt_pop(ptr %c, i64 16)
      %x = call ptr @adjoin_rt_push(ptr %c, i64 1000000)
      %y = call ptr @adjoin_rt_pop(ptr %c, i64 1000000)
      ret void
    })"),
            "3 3 0");
}

TEST(TapeLowering, AContextThatIsStoredIsLeftAlone) {
  EXPECT_EQ(lowered(R"(
    define void @f(ptr %q) {
      %c = alloca [64 x i8]
      store ptr %c, ptr %q
      %v = call ptr @adjoin_rt_push(ptr %c, i64 8)
      %w = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      ret void
    })"),
            "1 1 0");
}

TEST(TapeLowering, UnwindingFreesWhateverIsOpen) {
  EXPECT_EQ(lowered(R"(
    define void @f() personality ptr @__gxx_personality_v0 {
      %c = alloca [64 x i8]
      invoke void @use(ptr null) to label %ok unwind label %bad
    ok:
      %v = call ptr @adjoin_rt_push(ptr %c, i64 8)
      invoke void @use(ptr %v) to label %fine unwind label %bad
    fine:
      %w = call ptr @adjoin_rt_pop(ptr %c, i64 8)
      call void @adjoin_rt_finish(ptr %c)
      ret void
    bad:
      %e = landingpad { ptr, i32 } cleanup
      call void @adjoin_rt_finish(ptr %c)
      resume { ptr, i32 } %e
    })"),
            "0 0 1");
}

TEST(TapeLowering, CallsThatSeeAStackObjectAreNoTailCalls) {
  EXPECT_EQ(lowered(R"(
    define void @f() {
      %c = alloca [64 x i8]
      call void @adjoin_rt_init(ptr %c, i64 1)
      %v = tail call ptr @adjoin_rt_push(ptr %c, i64 8)
      tail call void @use(ptr %v)
      %w = tail call ptr @adjoin_rt_pop(ptr %c, i64 8)
      call void @adjoin_rt_finish(ptr %c)
      ret void
    })"),
            "0 0 1");
}
