// Forward mode: globals are constant at entry and may carry active data during
// the call.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

TEST(ForwardGlobals, ReadOnly) {
  EXPECT_EQ(forward(Case(R"(
    @k = internal constant [2 x double] [double 2.0, double 3.0]
    @g = internal global double 4.0
    define double @f(double %x, i64 %i) {
      %p = getelementptr [2 x double], ptr @k, i64 0, i64 %i
      %a = load double, ptr %p
      %b = load double, ptr @g
      %c = fmul double %a, %b
      %d = fmul double %c, %x
      ret double %d
    })")
                        .active(1.5)
                        .integer(1)),
            "");
}

TEST(ForwardGlobals, CarriesActiveData) {
  EXPECT_EQ(forward(Case(R"(
    @w = internal global double 0.0
    define internal void @put(double %x) noinline {
      %a = fmul double %x, %x
      store double %a, ptr @w
      ret void
    }
    define double @f(double %x) {
      call void @put(double %x)
      %a = load double, ptr @w
      %b = fmul double %a, %x
      ret double %b
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardGlobals, WorkspaceArray) {
  EXPECT_EQ(forward(Case(R"(
    @work = internal global [8 x double] zeroinitializer
    define internal double @sum(ptr %p, i64 %n) noinline {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %s = phi double [ 0.0, %entry ], [ %s1, %loop ]
      %q = getelementptr double, ptr %p, i64 %i
      %v = load double, ptr %q
      %s1 = fadd double %s, %v
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret double %s1
    }
    define double @f(ptr %x, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %q = getelementptr double, ptr %x, i64 %i
      %v = load double, ptr %q
      %w = fmul double %v, %v
      %r = getelementptr [8 x double], ptr @work, i64 0, i64 %i
      store double %w, ptr %r
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      %a = call double @sum(ptr @work, i64 %n)
      %b = call double @sum(ptr %x, i64 %n)
      %c = fmul double %a, %b
      ret double %c
    })")
                        .buffer({1, 2, 3, 4})
                        .integer(4)),
            "");
}

TEST(ForwardGlobals, PointerToConstantTable) {
  EXPECT_EQ(forward(Case(R"(
    @data = internal global [2 x double] [double 2.0, double 3.0]
    @ptr = internal global ptr @data
    define double @f(double %x) {
      %p = load ptr, ptr @ptr
      %v = load double, ptr %p
      %a = fmul double %v, %x
      store double %a, ptr %p
      %q = load ptr, ptr @ptr
      %w = load double, ptr %q
      %r = fmul double %w, %x
      store double 2.0, ptr %p
      ret double %r
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardGlobals, PointerToTheArgumentIsKept) {
  EXPECT_EQ(forward(Case(R"(
    @slot = internal global ptr null
    define internal double @use(double %x) noinline {
      %p = load ptr, ptr @slot
      %v = load double, ptr %p
      %w = fmul double %v, %x
      store double %w, ptr %p
      ret double %w
    }
    define double @f(ptr %p, double %x) {
      store ptr %p, ptr @slot
      %a = call double @use(double %x)
      %b = call double @use(double %a)
      store ptr null, ptr @slot
      ret double %b
    })")
                        .buffer({1.5})
                        .active(0.7)),
            "");
}

TEST(ForwardGlobals, NothingIsLeftFromTheLastCall) {
  // The second call reads what the first one stored: its value, not its
  // tangent, for globals are constant at entry.
  EXPECT_EQ(forward(Case(R"(
    @last = internal global double 2.0
    define double @f(double %x) {
      %l = load double, ptr @last
      %k = fcmp une double %l, 2.0
      store double %x, ptr @last
      %v = load double, ptr @last
      %w = select i1 %k, double 2.0, double %l
      %r = fmul double %w, %v
      ret double %r
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardGlobals, ThreadLocal) {
  EXPECT_EQ(forward(Case(R"(
    @t = internal thread_local global double 0.0
    declare ptr @llvm.threadlocal.address.p0(ptr)
    define double @f(double %x) {
      %p = call ptr @llvm.threadlocal.address.p0(ptr @t)
      store double %x, ptr %p
      %q = call ptr @llvm.threadlocal.address.p0(ptr @t)
      %v = load double, ptr %q
      %r = fmul double %v, %x
      ret double %r
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardGlobals, CounterOfCalls) {
  EXPECT_EQ(forward(Case(R"(
    @n = internal global i64 0
    define internal double @g(double %x) noinline {
      %a = load i64, ptr @n
      %b = add i64 %a, 1
      store i64 %b, ptr @n
      %r = fmul double %x, %x
      ret double %r
    }
    define double @f(double %x) {
      store i64 0, ptr @n
      %a = call double @g(double %x)
      %b = call double @g(double %a)
      %i = load i64, ptr @n
      %k = sitofp i64 %i to double
      %r = fmul double %k, %b
      ret double %r
    })")
                        .active(1.1)),
            "");
}
