// Forward mode: calls of every kind.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

TEST(ForwardCalls, NotInlined) {
  EXPECT_EQ(forward(Case(R"(
    define internal double @g(double %x, double %y) noinline {
      %a = fmul double %x, %y
      %b = fadd double %a, %x
      ret double %b
    }
    define double @f(double %x, double %y) {
      %a = call double @g(double %x, double %y)
      %b = call double @g(double %a, double 3.0)
      %c = call double @g(double 2.0, double %b)
      %d = call double @g(double 2.0, double 5.0)
      %e = fmul double %c, %d
      ret double %e
    })")
                        .active(1.5)
                        .active(0.7)),
            "");
}

TEST(ForwardCalls, ResultUnused) {
  EXPECT_EQ(forward(Case(R"(
    define internal double @g(ptr %p, double %x) noinline {
      %v = load double, ptr %p
      %a = fmul double %v, %x
      store double %a, ptr %p
      ret double %v
    }
    define double @f(ptr %p, double %x) {
      %a = call double @g(ptr %p, double %x)
      %b = call double @g(ptr %p, double %x)
      %c = load double, ptr %p
      ret double %c
    })")
                        .buffer({1.5})
                        .active(0.7)),
            "");
}

TEST(ForwardCalls, Recursion) {
  EXPECT_EQ(forward(Case(R"(
    define internal double @power(double %x, i32 %n) {
      %z = icmp eq i32 %n, 0
      br i1 %z, label %one, label %more
    one:
      ret double 1.0
    more:
      %m = sub i32 %n, 1
      %r = call double @power(double %x, i32 %m)
      %s = fmul double %r, %x
      ret double %s
    }
    define double @f(double %x, i32 %n) {
      %r = call double @power(double %x, i32 %n)
      ret double %r
    })")
                        .active(1.5)
                        .integer(5)),
            "");
}

TEST(ForwardCalls, MutualRecursionOverATree) {
  Case C(R"(
    define internal double @left(ptr %t, double %x) noinline {
      %z = icmp eq ptr %t, null
      br i1 %z, label %no, label %yes
    no:
      ret double %x
    yes:
      %v = load double, ptr %t
      %pl = getelementptr i8, ptr %t, i64 8
      %l = load ptr, ptr %pl
      %a = call double @right(ptr %l, double %v)
      %pr = getelementptr i8, ptr %t, i64 16
      %r = load ptr, ptr %pr
      %b = call double @right(ptr %r, double %x)
      %s = fmul double %a, %b
      store double %s, ptr %t
      ret double %s
    }
    define internal double @right(ptr %t, double %x) noinline {
      %y = fmul double %x, %x
      %r = call double @left(ptr %t, double %y)
      %s = fadd double %r, %x
      ret double %s
    }
    define double @f(ptr %t, double %x) {
      %r = call double @left(ptr %t, double %x)
      ret double %r
    })");
  int A = C.block({f64(0.5), null(), null()});
  int B = C.block({f64(0.75), to(A), null()});
  int D = C.block({f64(1.25), null(), null()});
  EXPECT_EQ(forward(C.pointer(C.block({f64(1.5), to(B), to(D)})).active(0.9)),
            "");
}

TEST(ForwardCalls, StructReturned) {
  EXPECT_EQ(forward(Case(R"(
    define internal {double, i64, double} @g(double %x, i64 %k) noinline {
      %a = fmul double %x, %x
      %s = insertvalue {double, i64, double} poison, double %a, 0
      %t = insertvalue {double, i64, double} %s, i64 %k, 1
      %u = insertvalue {double, i64, double} %t, double %x, 2
      ret {double, i64, double} %u
    }
    define double @f(double %x, i64 %k) {
      %s = call {double, i64, double} @g(double %x, i64 %k)
      %a = extractvalue {double, i64, double} %s, 0
      %i = extractvalue {double, i64, double} %s, 1
      %b = extractvalue {double, i64, double} %s, 2
      %c = sitofp i64 %i to double
      %d = fmul double %a, %b
      %e = fmul double %c, %d
      ret double %e
    })")
                        .active(1.5)
                        .integer(3)),
            "");
}

TEST(ForwardCalls, StructReturnedThroughMemory) {
  EXPECT_EQ(forward(Case(R"(
    %s = type {double, double, double}
    define internal void @g(ptr sret(%s) %r, double %x) noinline {
      %a = fmul double %x, %x
      store double %a, ptr %r
      %r1 = getelementptr %s, ptr %r, i64 0, i32 1
      store double 3.0, ptr %r1
      %r2 = getelementptr %s, ptr %r, i64 0, i32 2
      store double %x, ptr %r2
      ret void
    }
    define double @f(double %x) {
      %t = alloca %s
      call void @g(ptr sret(%s) %t, double %x)
      %t1 = getelementptr %s, ptr %t, i64 0, i32 1
      %t2 = getelementptr %s, ptr %t, i64 0, i32 2
      %a = load double, ptr %t
      %b = load double, ptr %t1
      %c = load double, ptr %t2
      %d = fmul double %a, %b
      %e = fmul double %d, %c
      ret double %e
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardCalls, RequestReturnsStructThroughMemory) {
  EXPECT_EQ(forward(Case(R"(
    %s = type {double, double, double}
    define void @f(ptr sret(%s) %r, double %x) {
      %a = fmul double %x, %x
      store double %a, ptr %r
      %r1 = getelementptr %s, ptr %r, i64 0, i32 1
      store double 3.0, ptr %r1
      %r2 = getelementptr %s, ptr %r, i64 0, i32 2
      store double %x, ptr %r2
      ret void
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardCalls, StructPassedByCopy) {
  EXPECT_EQ(forward(Case(R"(
    %s = type {double, double, double}
    define internal double @g(ptr byval(%s) %p, double %x) noinline {
      %a = load double, ptr %p
      %b = fmul double %a, %x
      store double %b, ptr %p
      %p2 = getelementptr %s, ptr %p, i64 0, i32 2
      %c = load double, ptr %p2
      %d = load double, ptr %p
      %e = fmul double %c, %d
      ret double %e
    }
    define double @f(ptr %p, double %x) {
      %a = call double @g(ptr byval(%s) %p, double %x)
      %b = load double, ptr %p
      %c = fmul double %a, %b
      ret double %c
    })")
                        .buffer({1.5, 2.5, 3.5})
                        .active(0.7)),
            "");
}

TEST(ForwardCalls, RequestTakesStructByCopy) {
  EXPECT_EQ(forward(Case(R"(
    %s = type {double, double, double}
    define double @f(ptr byval(%s) %p, double %x) {
      %a = load double, ptr %p
      %b = fmul double %a, %x
      store double %b, ptr %p
      %p2 = getelementptr %s, ptr %p, i64 0, i32 2
      %c = load double, ptr %p2
      %d = load double, ptr %p
      %e = fmul double %c, %d
      ret double %e
    })")
                        .buffer({1.5, 2.5, 3.5})
                        .active(0.7)),
            "");
}

TEST(ForwardCalls, VarargsToStdio) {
  EXPECT_EQ(forward(Case(R"(
    @fmt = private constant [9 x i8] c"%.1f %d\0A\00"
    declare i32 @snprintf(ptr, i64, ptr, ...)
    declare i32 @printf(ptr, ...)
    define double @f(double %x, i32 %k) {
      %b = alloca [64 x i8]
      %y = fmul double %x, %x
      %n = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %b, i64 64, ptr @fmt,
                                                   double %y, i32 %k)
      %m = sitofp i32 %n to double
      %r = fmul double %y, %m
      ret double %r
    })")
                        .active(1.5)
                        .integer(3)
                        .step(1.0 / 1024)),
            "");
}

TEST(ForwardCalls, VarargsDefinedInTheProgram) {
  EXPECT_NE(forwardDiagnostics(Case(R"(
    declare void @llvm.va_start.p0(ptr)
    declare void @llvm.va_end.p0(ptr)
    define internal double @sum(i32 %n, ...) noinline {
      %ap = alloca [24 x i8], align 16
      call void @llvm.va_start.p0(ptr %ap)
      %v = va_arg ptr %ap, double
      call void @llvm.va_end.p0(ptr %ap)
      ret double %v
    }
    define double @f(double %x) {
      %r = call double (i32, ...) @sum(i32 1, double %x)
      ret double %r
    })")
                                   .active(1.5)),
            "");
}

TEST(ForwardCalls, FunctionPointers) {
  Case Base(R"(
    @table = internal constant [2 x ptr] [ptr @square, ptr @triple]
    define internal double @square(double %x) {
      %a = fmul double %x, %x
      ret double %a
    }
    define internal double @triple(double %x) {
      %a = fmul double %x, 3.0
      ret double %a
    }
    define double @f(double %x, i64 %k) {
      %p = getelementptr [2 x ptr], ptr @table, i64 0, i64 %k
      %g = load ptr, ptr %p
      %a = call double %g(double %x)
      %b = fmul double %a, %x
      ret double %b
    })");
  EXPECT_EQ(forward(Case(Base).active(1.5).integer(0)), "");
  EXPECT_EQ(forward(Case(Base).active(1.5).integer(1)), "");
}

TEST(ForwardCalls, FunctionPointerArgument) {
  EXPECT_EQ(forward(Case(R"(
    define internal double @square(double %x, ptr %p) {
      %v = load double, ptr %p
      %a = fmul double %x, %v
      store double %x, ptr %p
      ret double %a
    }
    define internal double @twice(ptr %g, double %x, ptr %p) noinline {
      %a = call double %g(double %x, ptr %p)
      %b = call double %g(double %a, ptr %p)
      ret double %b
    }
    define double @f(double %x, ptr %p) {
      %a = call double @twice(ptr @square, double %x, ptr %p)
      ret double %a
    })")
                        .active(1.5)
                        .buffer({2.5})),
            "");
}

TEST(ForwardCalls, VirtualCall) {
  // Objects have a pointer to a table of functions; a shadow object has
  // whatever its maker left there.
  Case Base(R"(
    @vtA = internal constant {[2 x ptr]} {[2 x ptr] [ptr null, ptr @areaA]}
    @vtB = internal constant {[2 x ptr]} {[2 x ptr] [ptr null, ptr @areaB]}
    define internal double @areaA(ptr %this) {
      %p = getelementptr i8, ptr %this, i64 8
      %r = load double, ptr %p
      %a = fmul double %r, %r
      ret double %a
    }
    define internal double @areaB(ptr %this) {
      %p = getelementptr i8, ptr %this, i64 8
      %q = getelementptr i8, ptr %this, i64 16
      %a = load double, ptr %p
      %b = load double, ptr %q
      %c = fmul double %a, %b
      ret double %c
    }
    define internal double @call(ptr %o) noinline {
      %vt = load ptr, ptr %o
      %slot = getelementptr ptr, ptr %vt, i64 1
      %g = load ptr, ptr %slot
      %r = call double %g(ptr %o)
      ret double %r
    }
    define double @f(ptr %p, i32 %k) {
      %o = alloca [24 x i8], align 8
      %z = icmp eq i32 %k, 0
      %vt = select i1 %z, ptr @vtA, ptr @vtB
      store ptr %vt, ptr %o
      %o1 = getelementptr i8, ptr %o, i64 8
      %o2 = getelementptr i8, ptr %o, i64 16
      %a = load double, ptr %p
      store double %a, ptr %o1
      %p1 = getelementptr double, ptr %p, i64 1
      %b = load double, ptr %p1
      store double %b, ptr %o2
      %r = call double @call(ptr %o)
      ret double %r
    })");
  EXPECT_EQ(forward(Case(Base).buffer({1.5, 2.5}).integer(0)), "");
  EXPECT_EQ(forward(Case(Base).buffer({1.5, 2.5}).integer(1)), "");
}

TEST(ForwardCalls, CallThroughConstantCast) {
  EXPECT_EQ(forward(Case(R"(
    @alias = internal alias double (double), ptr @square
    define internal double @square(double %x) noinline {
      %a = fmul double %x, %x
      ret double %a
    }
    define double @f(double %x) {
      %a = call double @alias(double %x)
      ret double %a
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardCalls, UnknownCalleeIsRefused) {
  std::string Text = forwardDiagnostics(Case(R"(
    declare double @mystery(double)
    define double @f(double %x) {
      %a = call double @mystery(double %x)
      ret double %a
    })")
                                            .active(1.5));
  EXPECT_NE(Text.find("cannot differentiate call of 'mystery': it has no IR in "
                      "this link and no rule"),
            std::string::npos)
      << Text;
}

TEST(ForwardCalls, UnknownCalleeWithActiveMemoryIsRefused) {
  std::string Text = forwardDiagnostics(Case(R"(
    declare void @mystery(ptr)
    define double @f(double %x) {
      %p = alloca double
      store double %x, ptr %p
      call void @mystery(ptr %p)
      %a = load double, ptr %p
      ret double %a
    })")
                                            .active(1.5));
  EXPECT_NE(Text.find("'mystery'"), std::string::npos) << Text;
}

TEST(ForwardCalls, UnknownPointerHelperIsRefused) {
  // It moves pointers to active memory: no derivative by silence.
  std::string Text = forwardDiagnostics(Case(R"(
    declare void @link_in(ptr, ptr)
    define double @f(ptr %a, ptr %b) {
      call void @link_in(ptr %a, ptr %b)
      %p = load ptr, ptr %a
      %v = load double, ptr %p
      ret double %v
    })")
                                            .record({null()})
                                            .buffer({1.5}));
  EXPECT_NE(Text.find("'link_in'"), std::string::npos) << Text;
}

TEST(ForwardCalls, InlineAssemblyOnAnActivePathIsRefused) {
  std::string Text = forwardDiagnostics(Case(R"(
    define double @f(double %x) {
      %a = call double asm "sqrtsd $1, $0", "=x,x"(double %x)
      ret double %a
    })")
                                            .active(1.5));
  EXPECT_NE(Text.find("assembly"), std::string::npos) << Text;
}

TEST(ForwardCalls, HarmlessAssemblyStays) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(double %x) {
      call void asm sideeffect "", "~{memory}"()
      %a = fmul double %x, %x
      ret double %a
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardCalls, InactiveLibraryCalls) {
  EXPECT_EQ(forward(Case(R"(
    @s = private constant [4 x i8] c"abc\00"
    declare i64 @strlen(ptr)
    declare i32 @strcmp(ptr, ptr)
    declare i64 @time(ptr)
    declare ptr @getenv(ptr)
    define double @f(double %x) {
      %n = call i64 @strlen(ptr @s)
      %c = call i32 @strcmp(ptr @s, ptr @s)
      %t = call i64 @time(ptr null)
      %e = call ptr @getenv(ptr @s)
      %k = sitofp i64 %n to double
      %m = sitofp i32 %c to double
      %a = fadd double %k, %m
      %r = fmul double %a, %x
      ret double %r
    })")
                        .active(1.5)),
            "");
}

// Exceptions: a derivative runs the same cleanups and lets the same exception
// pass.

static const char *Exceptions = R"(
  declare i32 @__gxx_personality_v0(...)
  declare ptr @__cxa_allocate_exception(i64)
  declare void @__cxa_throw(ptr, ptr, ptr) noreturn
  declare ptr @__cxa_begin_catch(ptr)
  declare void @__cxa_end_catch()
  declare void @free(ptr)
  declare ptr @malloc(i64)
  @_ZTIi = external constant ptr
  define internal double @check(double %x) noinline {
    %c = fcmp ogt double %x, 10.0
    br i1 %c, label %throw, label %fine
  throw:
    %e = call ptr @__cxa_allocate_exception(i64 4)
    store i32 42, ptr %e
    call void @__cxa_throw(ptr %e, ptr @_ZTIi, ptr null)
    unreachable
  fine:
    %r = fmul double %x, %x
    ret double %r
  }
)";

TEST(ForwardCalls, InvokeThatReturns) {
  EXPECT_EQ(forward(Case(std::string(Exceptions) + R"(
    define double @f(double %x) personality ptr @__gxx_personality_v0 {
      %m = call ptr @malloc(i64 8)
      store double %x, ptr %m
      %r = invoke double @check(double %x) to label %ok unwind label %bad
    ok:
      %v = load double, ptr %m
      %s = fmul double %r, %v
      call void @free(ptr %m)
      ret double %s
    bad:
      %l = landingpad {ptr, i32} cleanup
      call void @free(ptr %m)
      resume {ptr, i32} %l
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardCalls, ExceptionCaughtInside) {
  EXPECT_EQ(forward(Case(std::string(Exceptions) + R"(
    define double @f(double %x) personality ptr @__gxx_personality_v0 {
      %r = invoke double @check(double %x) to label %ok unwind label %bad
    ok:
      ret double %r
    bad:
      %l = landingpad {ptr, i32} catch ptr @_ZTIi
      %p = extractvalue {ptr, i32} %l, 0
      %q = call ptr @__cxa_begin_catch(ptr %p)
      %i = load i32, ptr %q
      call void @__cxa_end_catch()
      %k = sitofp i32 %i to double
      %s = fmul double %k, %x
      ret double %s
    })")
                        .active(20)),
            "");
}

TEST(ForwardCalls, ExceptionPassesThroughTheDerivative) {
  // A caller outside of the derivative catches what the derivative let pass:
  // both calls, of the primal and of the derivative, are caught.
  EXPECT_EQ(forward(Case(std::string(Exceptions) + R"(
    define internal double @inner(double %x, ptr %p) noinline
        personality ptr @__gxx_personality_v0 {
      %m = call ptr @malloc(i64 8)
      store double %x, ptr %m
      %y = fmul double %x, 3.0
      store double %y, ptr %p
      %r = invoke double @check(double %x) to label %ok unwind label %bad
    ok:
      call void @free(ptr %m)
      ret double %r
    bad:
      %l = landingpad {ptr, i32} cleanup
      call void @free(ptr %m)
      resume {ptr, i32} %l
    }
    define double @f(double %x, ptr %p) personality ptr @__gxx_personality_v0 {
      %r = invoke double @inner(double %x, ptr %p) to label %ok unwind label %bad
    ok:
      ret double %r
    bad:
      %l = landingpad {ptr, i32} catch ptr null
      %e = extractvalue {ptr, i32} %l, 0
      %q = call ptr @__cxa_begin_catch(ptr %e)
      call void @__cxa_end_catch()
      %v = load double, ptr %p
      ret double %v
    })")
                        .active(20)
                        .output(1)),
            "");
}
