// Forward mode: copies of records whose bytes are told apart, in memory with
// and without a shadow.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

namespace {
// A record {double, pointer to double, double, int} that is copied whole.
const char *const Reads = R"(
    define internal double @total(ptr %r) noinline {
      %a = load double, ptr %r
      %pp = getelementptr i8, ptr %r, i64 8
      %p = load ptr, ptr %pp
      %b = load double, ptr %p
      %cp = getelementptr i8, ptr %r, i64 16
      %c = load double, ptr %cp
      %np = getelementptr i8, ptr %r, i64 24
      %n = load i32, ptr %np
      %m = sitofp i32 %n to double
      %ab = fmul double %a, %b
      %s = call double @llvm.fma.f64(double %c, double %m, double %ab)
      ret double %s
    }
)";
std::string program(const char *Body) { return std::string(Reads) + Body; }
} // namespace

TEST(ForwardCopies, MixedRecordIntoAWorkspace) {
  Case C(program(R"(
    @work = internal global [32 x i8] zeroinitializer, align 8
    define double @f(ptr %r) {
      call void @llvm.memcpy.p0.p0.i64(ptr align 8 @work, ptr align 8 %r, i64 32, i1 false)
      %s = call double @total(ptr @work)
      ret double %s
    })"));
  int Target = C.block({f64(1.5)});
  C.record({f64(0.75), to(Target), f64(-2.0), i32(3)});
  EXPECT_EQ(forward(C), "");
}

TEST(ForwardCopies, MixedRecordOutOfConstantMemory) {
  Case C(program(R"(
    define double @f(ptr %scratch, ptr %out, double %x) {
      store double %x, ptr %scratch
      call void @llvm.memcpy.p0.p0.i64(ptr align 8 %out, ptr align 8 %scratch, i64 32, i1 false)
      %s = call double @total(ptr %out)
      ret double %s
    })"));
  int Constant = C.block({f64(1.5)}, false);
  int Target = C.block({f64(2.5)});
  C.constRecord({f64(0.75), to(Constant), f64(-2.0), i32(3)});
  C.record({f64(0.5), to(Target), f64(4.0), i32(5)});
  C.active(1.25);
  EXPECT_EQ(forward(C), "");
}

TEST(ForwardCopies, MixedRecordWithinConstantMemory) {
  Case C(program(R"(
    @work = internal global [32 x i8] zeroinitializer, align 8
    @second = internal global [32 x i8] zeroinitializer, align 8
    define double @f(ptr %scratch, double %x) {
      %c = getelementptr i8, ptr %scratch, i64 16
      store double %x, ptr %c
      call void @llvm.memcpy.p0.p0.i64(ptr align 8 @work, ptr align 8 %scratch, i64 32, i1 false)
      call void @llvm.memcpy.p0.p0.i64(ptr align 8 @second, ptr align 8 @work, i64 32, i1 false)
      %s = call double @total(ptr @second)
      ret double %s
    })"));
  int Constant = C.block({f64(1.5)}, false);
  C.constRecord({f64(0.75), to(Constant), f64(-2.0), i32(3)});
  C.active(1.25);
  EXPECT_EQ(forward(C), "");
}

TEST(ForwardCopies, PartsOfAWorkspaceOfFloats) {
  // The object shows many cells, all of them floats.
  EXPECT_EQ(forward(Case(R"(
    @work = internal global [6 x double] zeroinitializer, align 8
    define double @f(ptr %x) {
      call void @llvm.memcpy.p0.p0.i64(ptr align 8 @work, ptr align 8 %x, i64 48, i1 false)
      call void @llvm.memmove.p0.p0.i64(ptr align 8 @work, ptr align 8 getelementptr (i8, ptr @work, i64 8), i64 40, i1 false)
      %a = load double, ptr @work
      %p1 = getelementptr i8, ptr @work, i64 8
      %b = load double, ptr %p1
      %p4 = getelementptr i8, ptr @work, i64 32
      %c = load double, ptr %p4
      %p5 = getelementptr i8, ptr @work, i64 40
      %d = load double, ptr %p5
      %ab = fmul double %a, %b
      %cd = fmul double %c, %d
      %s = fadd double %ab, %cd
      ret double %s
    })")
                        .buffer({1.0, 2.0, -3.0, 0.5, 4.0, 1.5})),
            "");
}

// Constants of which only the place tells that they are floats: 1.0 and 0.5 as
// integers.

TEST(ForwardCopies, BitsOfAConstantStored) {
  EXPECT_EQ(forward(Case(R"(
    @work = internal global [2 x double] zeroinitializer, align 8
    define double @f(ptr %x, double %a) {
      store double %a, ptr @work
      %w = getelementptr i8, ptr @work, i64 8
      store i64 4607182418800017408, ptr %w
      %p = getelementptr i8, ptr %x, i64 8
      %old = load double, ptr %p
      store i64 4602678819172646912, ptr %p
      %u = load double, ptr @work
      %v = load double, ptr %w
      %y = load double, ptr %p
      %uv = fmul double %u, %v
      %uvy = fmul double %uv, %y
      %s = fmul double %uvy, %old
      ret double %s
    })")
                        .buffer({1.5, 2.5})
                        .active(0.75)),
            "");
}

TEST(ForwardCopies, BitsOfAConstantChosen) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(ptr %x, ptr %y, i32 %n) {
    entry:
      %c = icmp sgt i32 %n, 1
      %d = icmp sgt i32 %n, 2
      br i1 %c, label %then, label %join
    then:
      %a = load i64, ptr %x
      br label %join
    join:
      %m = phi i64 [ %a, %then ], [ 4607182418800017408, %entry ]
      %p = getelementptr i8, ptr %x, i64 8
      %b = load i64, ptr %p
      %k = select i1 %d, i64 %b, i64 4602678819172646912
      store i64 %m, ptr %y
      %q = getelementptr i8, ptr %y, i64 8
      store i64 %k, ptr %q
      %u = load double, ptr %y
      %v = load double, ptr %q
      %s = fmul double %u, %v
      ret double %s
    })")
                        .buffer({1.5, 2.5})
                        .output(2)
                        .integer(1)),
            "");
}

TEST(ForwardCopies, BitsOfConstantsInAVector) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(ptr %x, ptr %y) {
      %a = load i64, ptr %x
      %v = insertelement <2 x i64> <i64 4607182418800017408, i64 4602678819172646912>, i64 %a, i64 0
      %w = shufflevector <2 x i64> %v, <2 x i64> <i64 4607182418800017408, i64 4602678819172646912>, <2 x i32> <i32 3, i32 0>
      store <2 x i64> %w, ptr %y, align 8
      %u = load double, ptr %y
      %q = getelementptr i8, ptr %y, i64 8
      %t = load double, ptr %q
      %s = fmul double %u, %t
      ret double %s
    })")
                        .buffer({1.5})
                        .output(2)),
            "");
}
