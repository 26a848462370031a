// Forward mode: allocation families and their shadows. The harness fills fresh
// memory with NaN and counts what is not freed.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

/// Stores x and 3 in two fresh doubles, reads them back, frees.
static Case pairIn(const std::string &Declarations, const std::string &Allocate,
                   const std::string &Free) {
  return Case(Declarations + R"(
    define double @f(double %x, i64 %n) {
      )" + Allocate +
              R"(
      %m1 = getelementptr double, ptr %m, i64 1
      store volatile double %x, ptr %m
      store volatile double 3.0, ptr %m1
      %a = load volatile double, ptr %m
      %b = load volatile double, ptr %m1
      %c = fmul double %a, %b
      %d = fmul double %c, %x
      )" + Free +
              R"(
      ret double %d
    })");
}

TEST(ForwardAllocation, Malloc) {
  EXPECT_EQ(
      forward(pairIn("declare ptr @malloc(i64)\n"
                     "declare void @free(ptr)",
                     "%m = call ptr @malloc(i64 %n)", "call void @free(ptr %m)")
                  .active(1.5)
                  .integer(16)),
      "");
}

TEST(ForwardAllocation, OperatorNew) {
  EXPECT_EQ(forward(pairIn("declare ptr @_Znwm(i64)\n"
                           "declare void @_ZdlPvm(ptr, i64)",
                           "%m = call ptr @_Znwm(i64 %n)",
                           "call void @_ZdlPvm(ptr %m, i64 %n)")
                        .active(1.5)
                        .integer(16)),
            "");
  EXPECT_EQ(forward(pairIn("declare ptr @_Znam(i64)\n"
                           "declare void @_ZdaPv(ptr)",
                           "%m = call ptr @_Znam(i64 %n)",
                           "call void @_ZdaPv(ptr %m)")
                        .active(1.5)
                        .integer(16)),
            "");
}

TEST(ForwardAllocation, AlignedForms) {
  EXPECT_EQ(
      forward(pairIn("declare ptr @_ZnwmSt11align_val_t(i64, i64)\n"
                     "declare void @_ZdlPvmSt11align_val_t(ptr, i64, i64)",
                     "%m = call ptr @_ZnwmSt11align_val_t(i64 %n, i64 64)",
                     "call void @_ZdlPvmSt11align_val_t(ptr %m, i64 %n, "
                     "i64 64)")
                  .active(1.5)
                  .integer(64)),
      "");
  EXPECT_EQ(forward(pairIn("declare ptr @aligned_alloc(i64, i64)\n"
                           "declare void @free(ptr)",
                           "%m = call ptr @aligned_alloc(i64 64, i64 %n)",
                           "call void @free(ptr %m)")
                        .active(1.5)
                        .integer(64)),
            "");
  EXPECT_EQ(forward(pairIn("declare i32 @posix_memalign(ptr, i64, i64)\n"
                           "declare void @free(ptr)",
                           "%o = alloca ptr\n"
                           "%e = call i32 @posix_memalign(ptr %o, i64 64, "
                           "i64 %n)\n"
                           "%m = load ptr, ptr %o",
                           "call void @free(ptr %m)")
                        .active(1.5)
                        .integer(64)),
            "");
}

TEST(ForwardAllocation, RustAllocator) {
  EXPECT_EQ(forward(pairIn("declare ptr @__rust_alloc(i64, i64)\n"
                           "declare void @__rust_dealloc(ptr, i64, i64)",
                           "%m = call ptr @__rust_alloc(i64 %n, i64 8)",
                           "call void @__rust_dealloc(ptr %m, i64 %n, i64 8)")
                        .active(1.5)
                        .integer(16)),
            "");
}

TEST(ForwardAllocation, CallocIsZero) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @calloc(i64, i64)
    declare void @free(ptr)
    define double @f(double %x, i64 %n) {
      %m = call ptr @calloc(i64 %n, i64 8)
      %m1 = getelementptr double, ptr %m, i64 1
      %z = load volatile double, ptr %m1
      %a = fadd double %z, %x
      store volatile double %a, ptr %m
      %b = load volatile double, ptr %m
      %c = fmul double %b, %x
      call void @free(ptr %m)
      ret double %c
    })")
                        .active(1.5)
                        .integer(2)),
            "");
}

TEST(ForwardAllocation, Realloc) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @malloc(i64)
    declare ptr @realloc(ptr, i64)
    declare void @free(ptr)
    define double @f(double %x, i64 %n) {
    entry:
      %m = call ptr @malloc(i64 8)
      store double %x, ptr %m
      br label %loop
    loop:
      %i = phi i64 [ 1, %entry ], [ %i1, %loop ]
      %p = phi ptr [ %m, %entry ], [ %q, %loop ]
      %i1 = add i64 %i, 1
      %s = shl i64 %i1, 3
      %q = call ptr @realloc(ptr %p, i64 %s)
      %h = sub i64 %i, 1
      %po = getelementptr double, ptr %q, i64 %h
      %pn = getelementptr double, ptr %q, i64 %i
      %o = load double, ptr %po
      %v = fmul double %o, %x
      store double %v, ptr %pn
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      %a = load double, ptr %q
      %l = sub i64 %i1, 1
      %pl = getelementptr double, ptr %q, i64 %l
      %b = load double, ptr %pl
      %r = fmul double %a, %b
      call void @free(ptr %q)
      ret double %r
    })")
                        .active(1.25)
                        .integer(5)),
            "");
}

TEST(ForwardAllocation, ReallocOfNull) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @realloc(ptr, i64)
    declare void @free(ptr)
    define double @f(double %x) {
      %m = call ptr @realloc(ptr null, i64 8)
      store volatile double %x, ptr %m
      %a = load volatile double, ptr %m
      %b = fmul double %a, %x
      call void @free(ptr %m)
      ret double %b
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardAllocation, FreeOfNull) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @malloc(i64)
    declare void @free(ptr)
    define internal void @drop(ptr %p) noinline {
      call void @free(ptr %p)
      ret void
    }
    define double @f(double %x, i32 %k) {
    entry:
      %c = icmp eq i32 %k, 0
      br i1 %c, label %none, label %some
    some:
      %m = call ptr @malloc(i64 8)
      store double %x, ptr %m
      %v = load double, ptr %m
      br label %none
    none:
      %p = phi ptr [ null, %entry ], [ %m, %some ]
      %w = phi double [ %x, %entry ], [ %v, %some ]
      %r = fmul double %w, %x
      call void @drop(ptr %p)
      ret double %r
    })")
                        .active(1.5)
                        .integer(0)),
            "");
}

TEST(ForwardAllocation, AllocatedInACalleeFreedInAnother) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @malloc(i64)
    declare void @free(ptr)
    define internal ptr @make(double %x, i64 %n) noinline {
      %s = shl i64 %n, 3
      %m = call ptr @malloc(i64 %s)
      br label %loop
    loop:
      %i = phi i64 [ 0, %0 ], [ %i1, %loop ]
      %q = getelementptr double, ptr %m, i64 %i
      %k = sitofp i64 %i to double
      %v = fmul double %k, %x
      store double %v, ptr %q
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret ptr %m
    }
    define internal double @take(ptr %m, i64 %k) noinline {
      %q = getelementptr double, ptr %m, i64 %k
      %v = load double, ptr %q
      call void @free(ptr %m)
      ret double %v
    }
    define double @f(double %x, i64 %n) {
      %m = call ptr @make(double %x, i64 %n)
      %v = call double @take(ptr %m, i64 2)
      %r = fmul double %v, %x
      ret double %r
    })")
                        .active(1.5)
                        .integer(4)),
            "");
}

TEST(ForwardAllocation, BoxesInBoxes) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @malloc(i64)
    declare void @free(ptr)
    define double @f(double %x) {
      %o = call ptr @malloc(i64 16)
      %i = call ptr @malloc(i64 8)
      store ptr %i, ptr %o
      %o1 = getelementptr i8, ptr %o, i64 8
      store i64 1, ptr %o1
      store double %x, ptr %i
      %p = load volatile ptr, ptr %o
      %v = load double, ptr %p
      %w = fmul double %v, %x
      call void @free(ptr %p)
      call void @free(ptr %o)
      ret double %w
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardAllocation, LeftToTheCaller) {
  // The function stores a fresh block in the caller's record: the record's
  // shadow gets the shadow block.
  EXPECT_EQ(forward(Case(R"(
    declare ptr @malloc(i64)
    define double @f(ptr %r, double %x) {
      %m = call ptr @malloc(i64 8)
      store ptr %m, ptr %r
      store double %x, ptr %m
      %p = load volatile ptr, ptr %r
      %v = load double, ptr %p
      %w = fmul double %v, %x
      ret double %w
    })")
                        .record({null()})
                        .active(1.5)),
            "");
}

TEST(ForwardAllocation, VariableLengthArray) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @llvm.stacksave.p0()
    declare void @llvm.stackrestore.p0(ptr)
    define double @f(double %x, i64 %n) {
    entry:
      br label %outer
    outer:
      %k = phi i64 [ 0, %entry ], [ %k1, %latch ]
      %sum = phi double [ 0.0, %entry ], [ %sum1, %latch ]
      %sp = call ptr @llvm.stacksave.p0()
      %a = alloca double, i64 %n
      br label %loop
    loop:
      %i = phi i64 [ 0, %outer ], [ %i1, %loop ]
      %q = getelementptr double, ptr %a, i64 %i
      %c = sitofp i64 %i to double
      %v = fmul double %c, %x
      store double %v, ptr %q
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %latch
    latch:
      %w = load double, ptr %q
      %sum1 = fadd double %sum, %w
      call void @llvm.stackrestore.p0(ptr %sp)
      %k1 = add i64 %k, 1
      %u = icmp slt i64 %k1, 3
      br i1 %u, label %outer, label %exit
    exit:
      %r = fmul double %sum1, %x
      ret double %r
    })")
                        .active(1.5)
                        .integer(4)),
            "");
}

TEST(ForwardAllocation, IntegersOnly) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @malloc(i64)
    declare void @free(ptr)
    define double @f(double %x, i64 %n) {
      %m = call ptr @malloc(i64 8)
      store volatile i64 %n, ptr %m
      %i = load volatile i64, ptr %m
      call void @free(ptr %m)
      %k = sitofp i64 %i to double
      %r = fmul double %k, %x
      ret double %r
    })")
                        .active(1.5)
                        .integer(4)),
            "");
}

TEST(ForwardAllocation, LifetimeMarkers) {
  EXPECT_EQ(forward(Case(R"(
    declare void @llvm.lifetime.start.p0(ptr)
    declare void @llvm.lifetime.end.p0(ptr)
    define internal void @put(ptr %p, double %x) noinline {
      store double %x, ptr %p
      ret void
    }
    define double @f(double %x, i64 %n) {
    entry:
      %a = alloca double
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %s = phi double [ %x, %entry ], [ %s1, %loop ]
      call void @llvm.lifetime.start.p0(ptr %a)
      call void @put(ptr %a, double %s)
      %v = load double, ptr %a
      %s1 = fmul double %v, %x
      call void @llvm.lifetime.end.p0(ptr %a)
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret double %s1
    })")
                        .active(1.5)
                        .integer(4)),
            "");
}
