// Forward mode: intrinsics and library functions in the code around them. The
// rows themselves are tested against higher precision with the table.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

static std::string check(const std::string &Declarations,
                         const std::string &Body, double X, double Y) {
  return forward(Case(Declarations +
                      "\ndefine double @f(double %x, double %y) {\n" + Body +
                      "\n}\n")
                     .active(X)
                     .active(Y));
}

TEST(ForwardIntrinsics, UnaryFunctions) {
  for (const char *Name :
       {"sin",   "cos",   "tan",   "exp",   "exp2",      "log",
        "log2",  "log10", "sqrt",  "fabs",  "floor",     "ceil",
        "trunc", "rint",  "round", "asin",  "acos",      "atan",
        "sinh",  "cosh",  "tanh",  "exp10", "nearbyint", "roundeven"}) {
    std::string F = std::string("@llvm.") + Name + ".f64";
    EXPECT_EQ(check("declare double " + F + "(double)",
                    "%a = call double " + F +
                        "(double %x)\n%b = fmul double %a, %y\nret double %b",
                    0.6, 1.2),
              "")
        << Name;
  }
}

TEST(ForwardIntrinsics, LibraryFunctions) {
  for (const char *Name :
       {"sin",   "cos",  "tan",       "exp",    "exp2",  "log",   "log2",
        "log10", "sqrt", "fabs",      "asin",   "acos",  "atan",  "sinh",
        "cosh",  "tanh", "asinh",     "atanh",  "expm1", "log1p", "cbrt",
        "erf",   "erfc", "lgamma",    "tgamma", "floor", "ceil",  "trunc",
        "round", "rint", "nearbyint", "logb"}) {
    std::string F = std::string("@") + Name;
    EXPECT_EQ(check("declare double " + F + "(double)",
                    "%a = call double " + F +
                        "(double %x)\n%b = fmul double %a, %y\nret double %b",
                    0.6, 1.2),
              "")
        << Name;
  }
  EXPECT_EQ(check("declare double @acosh(double)",
                  "%a = call double @acosh(double %x)\nret double %a", 1.6, 0),
            "");
}

TEST(ForwardIntrinsics, FloatLibraryFunctions) {
  for (const char *Name : {"sinf", "expf", "logf", "sqrtf", "tanhf", "cbrtf"}) {
    std::string F = std::string("@") + Name;
    EXPECT_EQ(forward(Case("declare float " + F + "(float)\n" +
                           "define float @f(float %x) {\n%a = call float " + F +
                           "(float %x)\n%b = fmul float %a, %x\nret float "
                           "%b\n}\n")
                          .active(0.6)),
              "")
        << Name;
  }
}

TEST(ForwardIntrinsics, BinaryFunctions) {
  for (const char *Name : {"pow", "atan2", "hypot", "fmod", "fmax", "fmin",
                           "copysign", "fdim", "remainder"}) {
    std::string F = std::string("@") + Name;
    EXPECT_EQ(check("declare double " + F + "(double, double)",
                    "%a = call double " + F +
                        "(double %x, double %y)\n%b = fmul double %a, "
                        "%y\nret double %b",
                    2.6, 1.2),
              "")
        << Name;
  }
  for (const char *Name : {"pow", "maxnum", "minnum", "maximum", "minimum",
                           "copysign", "atan2", "maximumnum", "minimumnum"}) {
    std::string F = std::string("@llvm.") + Name + ".f64";
    EXPECT_EQ(check("declare double " + F + "(double, double)",
                    "%a = call double " + F +
                        "(double %x, double %y)\n%b = fmul double %a, "
                        "%y\nret double %b",
                    2.6, 1.2),
              "")
        << Name;
  }
}

TEST(ForwardIntrinsics, FusedMultiplyAdd) {
  for (const char *Name : {"@llvm.fma.f64", "@llvm.fmuladd.f64", "@fma"}) {
    std::string F = Name;
    EXPECT_EQ(check("declare double " + F + "(double, double, double)",
                    "%a = call double " + F +
                        "(double %x, double %y, double %x)\nret double %a",
                    2.6, 1.2),
              "")
        << Name;
  }
}

TEST(ForwardIntrinsics, ConstrainedForms) {
  EXPECT_EQ(forward(Case(R"(
    declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)
    declare double @llvm.experimental.constrained.fmul.f64(double, double, metadata, metadata)
    declare double @llvm.experimental.constrained.fdiv.f64(double, double, metadata, metadata)
    declare double @llvm.experimental.constrained.sqrt.f64(double, metadata, metadata)
    declare i1 @llvm.experimental.constrained.fcmp.f64(double, double, metadata, metadata)
    define double @f(double %x, double %y) strictfp {
      %a = call double @llvm.experimental.constrained.fadd.f64(double %x, double %y, metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
      %b = call double @llvm.experimental.constrained.fmul.f64(double %a, double %x, metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
      %c = call double @llvm.experimental.constrained.fdiv.f64(double %b, double %y, metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
      %d = call double @llvm.experimental.constrained.sqrt.f64(double %c, metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
      %t = call i1 @llvm.experimental.constrained.fcmp.f64(double %d, double %x, metadata !"olt", metadata !"fpexcept.strict") strictfp
      %r = select i1 %t, double %d, double %b
      ret double %r
    })")
                        .active(1.5)
                        .active(0.7)),
            "");
}

TEST(ForwardIntrinsics, PowersOfTwo) {
  EXPECT_EQ(forward(Case(R"(
    declare double @ldexp(double, i32)
    declare double @scalbn(double, i32)
    declare double @llvm.ldexp.f64.i32(double, i32)
    declare double @llvm.powi.f64.i32(double, i32)
    define double @f(double %x, i32 %k) {
      %a = call double @ldexp(double %x, i32 %k)
      %b = call double @scalbn(double %a, i32 -1)
      %c = call double @llvm.ldexp.f64.i32(double %b, i32 %k)
      %d = call double @llvm.powi.f64.i32(double %c, i32 %k)
      ret double %d
    })")
                        .active(1.1)
                        .integer(3)),
            "");
}

TEST(ForwardIntrinsics, Frexp) {
  EXPECT_EQ(forward(Case(R"(
    declare double @frexp(double, ptr)
    define double @f(double %x) {
      %e = alloca i32
      %m = call double @frexp(double %x, ptr %e)
      %i = load i32, ptr %e
      %k = sitofp i32 %i to double
      %a = fmul double %m, %k
      %b = fmul double %a, %x
      ret double %b
    })")
                        .active(5.5)),
            "");
  EXPECT_EQ(forward(Case(R"(
    declare {double, i32} @llvm.frexp.f64.i32(double)
    define double @f(double %x) {
      %s = call {double, i32} @llvm.frexp.f64.i32(double %x)
      %m = extractvalue {double, i32} %s, 0
      %i = extractvalue {double, i32} %s, 1
      %k = sitofp i32 %i to double
      %a = fmul double %m, %k
      %b = fmul double %a, %x
      ret double %b
    })")
                        .active(5.5)),
            "");
}

TEST(ForwardIntrinsics, Modf) {
  EXPECT_EQ(forward(Case(R"(
    declare double @modf(double, ptr)
    define double @f(double %x) {
      %e = alloca double
      %m = call double @modf(double %x, ptr %e)
      %i = load double, ptr %e
      %a = fmul double %m, %i
      %b = fmul double %a, %x
      ret double %b
    })")
                        .active(5.3)),
            "");
}

TEST(ForwardIntrinsics, Sincos) {
  EXPECT_EQ(forward(Case(R"(
    declare void @sincos(double, ptr, ptr)
    define double @f(double %x, ptr %p) {
      %s = alloca double
      call void @sincos(double %x, ptr %s, ptr %p)
      %a = load double, ptr %s
      %b = load double, ptr %p
      %c = fmul double %a, %b
      ret double %c
    })")
                        .active(5.3)
                        .output(1)),
            "");
  EXPECT_EQ(forward(Case(R"(
    declare {double, double} @llvm.sincos.f64(double)
    define double @f(double %x) {
      %s = call {double, double} @llvm.sincos.f64(double %x)
      %a = extractvalue {double, double} %s, 0
      %b = extractvalue {double, double} %s, 1
      %c = fmul double %a, %b
      ret double %c
    })")
                        .active(5.3)),
            "");
}

TEST(ForwardIntrinsics, Remquo) {
  EXPECT_EQ(forward(Case(R"(
    declare double @remquo(double, double, ptr)
    define double @f(double %x, double %y) {
      %q = alloca i32
      %r = call double @remquo(double %x, double %y, ptr %q)
      %i = load i32, ptr %q
      %k = sitofp i32 %i to double
      %a = fmul double %r, %k
      ret double %a
    })")
                        .active(7.3)
                        .active(2.2)),
            "");
}

TEST(ForwardIntrinsics, RoundingResultsToIntegers) {
  EXPECT_EQ(forward(Case(R"(
    declare i64 @lround(double)
    declare i64 @lrint(double)
    declare i32 @ilogb(double)
    declare i64 @llvm.lround.i64.f64(double)
    declare i32 @llvm.fptosi.sat.i32.f64(double)
    declare i1 @llvm.is.fpclass.f64(double, i32)
    define double @f(double %x) {
      %a = call i64 @lround(double %x)
      %b = call i64 @lrint(double %x)
      %c = call i32 @ilogb(double %x)
      %d = call i64 @llvm.lround.i64.f64(double %x)
      %e = call i32 @llvm.fptosi.sat.i32.f64(double %x)
      %t = call i1 @llvm.is.fpclass.f64(double %x, i32 3)
      %g = add i64 %a, %b
      %h = add i64 %g, %d
      %i = add i32 %c, %e
      %j = sitofp i64 %h to double
      %k = sitofp i32 %i to double
      %l = fmul double %j, %k
      %m = fmul double %l, %x
      %r = select i1 %t, double 0.0, double %m
      ret double %r
    })")
                        .active(5.3)),
            "");
}

TEST(ForwardIntrinsics, HintsStay) {
  EXPECT_EQ(forward(Case(R"(
    declare void @llvm.assume(i1)
    declare i64 @llvm.expect.i64(i64, i64)
    declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
    declare void @llvm.donothing()
    declare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)
    declare ptr @llvm.launder.invariant.group.p0(ptr)
    declare double @llvm.arithmetic.fence.f64(double)
    declare double @llvm.canonicalize.f64(double)
    define double @f(ptr %p, i64 %k) {
      %c = icmp sgt i64 %k, 0
      call void @llvm.assume(i1 %c)
      %e = call i64 @llvm.expect.i64(i64 %k, i64 3)
      call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1)
      call void @llvm.donothing()
      %o = call i64 @llvm.objectsize.i64.p0(ptr %p, i1 false, i1 true, i1 false)
      %q = call ptr @llvm.launder.invariant.group.p0(ptr %p)
      %v = load double, ptr %q
      %w = call double @llvm.arithmetic.fence.f64(double %v)
      %z = call double @llvm.canonicalize.f64(double %w)
      %s = sitofp i64 %e to double
      %r = fmul double %z, %s
      %t = fmul double %r, %v
      ret double %t
    })")
                        .buffer({1.5})
                        .integer(3)),
            "");
}

TEST(ForwardIntrinsics, PointerMask) {
  EXPECT_EQ(forward(Case(R"(
    declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
    define double @f(ptr %p) {
      %q = getelementptr i8, ptr %p, i64 12
      %r = call ptr @llvm.ptrmask.p0.i64(ptr %q, i64 -8)
      %v = load double, ptr %r
      %w = fmul double %v, %v
      ret double %w
    })")
                        .buffer({1.5, 2.5})),
            "");
}

// An integer that lies, for all that is known, in the memory of a float.
TEST(ForwardIntrinsics, ExtremesOfIntegers) {
  for (const char *Op : {"smax", "smin", "umax", "umin"})
    EXPECT_EQ(forward(Case(std::string(R"(
    define double @f(ptr %r, i64 %k) {
      %f = getelementptr i64, ptr %r, i64 %k
      %x = load double, ptr %f
      %n = load i64, ptr %r
      %m = call i64 @llvm.)") +
                           Op + R"(.i64(i64 %n, i64 2)
      %p = getelementptr double, ptr %r, i64 %m
      %y = load double, ptr %p
      %z = fmul double %x, %y
      ret double %z
    })")
                          .record({i64(1), f64(1.5), f64(2.5), f64(0.5)})
                          .integer(3)),
              "")
        << Op;
}

TEST(ForwardIntrinsics, ExtremesOfFloatsAsIntegers) {
  // Floats that are not negative are ordered as their bits are.
  for (const char *Op : {"smax", "smin", "umax", "umin"})
    EXPECT_EQ(forward(Case(std::string(R"(
    define double @f(ptr %x, ptr %y) {
      %a = load i64, ptr %x
      %q = getelementptr i8, ptr %x, i64 8
      %b = load i64, ptr %q
      %m = call i64 @llvm.)") +
                           Op + R"(.i64(i64 %a, i64 %b)
      store i64 %m, ptr %y
      %v = load double, ptr %y
      %s = fmul double %v, %v
      ret double %s
    })")
                          .buffer({1.5, 2.5})
                          .output(1)),
              "")
        << Op;
}

TEST(ForwardIntrinsics, UnknownIntrinsicIsRefused) {
  std::string Text = forwardDiagnostics(Case(R"(
    declare <2 x double> @llvm.x86.sse41.dppd(<2 x double>, <2 x double>, i8)
    define <2 x double> @f(<2 x double> %x) {
      %a = call <2 x double> @llvm.x86.sse41.dppd(<2 x double> %x, <2 x double> %x, i8 49)
      ret <2 x double> %a
    })")
                                            .active({1.5, 2}));
  EXPECT_NE(Text.find("cannot differentiate"), std::string::npos) << Text;
}

TEST(ForwardIntrinsics, ArithmeticOnFloatBitsIsRefused) {
  std::string Text = forwardDiagnostics(Case(R"(
    define double @f(double %x) {
      %a = bitcast double %x to i64
      %b = mul i64 %a, 3
      %c = bitcast i64 %b to double
      %d = fadd double %c, 1.0
      ret double %d
    })")
                                            .active(1.5));
  EXPECT_NE(Text.find("cannot differentiate"), std::string::npos) << Text;
}

TEST(ForwardIntrinsics, ExchangeOfActiveBitsIsRefused) {
  // Into memory with a shadow, into memory without one, and of a constant that
  // takes the place of an active value.
  auto Exchange = [](const std::string &Memory, const std::string &New) {
    return "define double @f(double %x, ptr %m, ptr %k) {\n"
           "%b = bitcast double %x to i64\n"
           "%o = load i64, ptr %k\n"
           "%p = cmpxchg ptr " +
           Memory + ", i64 %o, i64 " + New +
           " seq_cst seq_cst\n"
           "%r = load double, ptr " +
           Memory +
           "\n%s = fmul double %r, %x\n"
           "ret double %s\n}";
  };
  for (auto [Memory, New] : {std::pair("%m", "%b"), std::pair("%k", "%b"),
                             std::pair("%m", "4607182418800017408")})
    EXPECT_NE(forwardDiagnostics(Case(Exchange(Memory, New))
                                     .active(1.5)
                                     .buffer({2})
                                     .constBuffer({3})),
              "")
        << Memory << " " << New;
}

TEST(ForwardIntrinsics, ConstantBitsForTheCaller) {
  // Only the caller knows that the bytes are floats.
  for (const char *Body : {"store i64 4607182418800017408, ptr %p",
                           "store <2 x i64> <i64 4607182418800017408, "
                           "i64 4611686018427387904>, ptr %p, align 8",
                           "store volatile i64 4607182418800017408, ptr %p"})
    EXPECT_EQ(forward(Case(std::string("define void @f(ptr %p) {\n") + Body +
                           "\nret void\n}")
                          .buffer({2, 3})),
              "")
        << Body;
}

TEST(ForwardIntrinsics, StrongZeroAtSingularPoints) {
  // A zero tangent stays zero where the partial is infinite.
  EXPECT_EQ(forward(Case(R"(
    declare double @llvm.sqrt.f64(double)
    define double @f(double %x, double %z) {
      %a = fmul double %z, 0.0
      %b = call double @llvm.sqrt.f64(double %a)
      %c = fadd double %b, %x
      ret double %c
    })")
                        .active(1.5)
                        .constant(2)),
            "");
}
