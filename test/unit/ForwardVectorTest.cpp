// Forward mode: vectors in the primal, masks, gathers, reductions.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

TEST(ForwardVector, Arithmetic) {
  EXPECT_EQ(forward(Case(R"(
    define <4 x double> @f(<4 x double> %x, <4 x double> %y) {
      %a = fadd <4 x double> %x, %y
      %b = fmul <4 x double> %a, %x
      %c = fdiv <4 x double> %b, %y
      %d = fneg <4 x double> %c
      %e = fsub <4 x double> %d, <double 1.0, double 2.0, double 3.0, double 4.0>
      ret <4 x double> %e
    })")
                        .active({1, 2, 3, 4})
                        .active({0.5, 0.6, 0.7, 0.8})),
            "");
}

TEST(ForwardVector, PairOfFloats) {
  EXPECT_EQ(forward(Case(R"(
    define <2 x float> @f(<2 x float> %x, float %y) {
      %a = insertelement <2 x float> poison, float %y, i64 0
      %b = shufflevector <2 x float> %a, <2 x float> poison, <2 x i32> zeroinitializer
      %c = fmul <2 x float> %x, %b
      ret <2 x float> %c
    })")
                        .active({1.5, 2.5})
                        .active(0.75)),
            "");
}

TEST(ForwardVector, InsertExtractShuffle) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(<4 x double> %x, double %y, i32 %i) {
      %a = insertelement <4 x double> %x, double %y, i32 %i
      %b = shufflevector <4 x double> %a, <4 x double> %x, <4 x i32> <i32 7, i32 0, i32 poison, i32 2>
      %c = extractelement <4 x double> %b, i32 1
      %d = extractelement <4 x double> %b, i32 0
      %e = extractelement <4 x double> %a, i32 %i
      %g = fmul double %c, %d
      %h = fmul double %g, %e
      ret double %h
    })")
                        .active({1, 2, 3, 4})
                        .active(0.5)
                        .integer(1)),
            "");
}

TEST(ForwardVector, SelectByLane) {
  EXPECT_EQ(forward(Case(R"(
    define <2 x double> @f(<2 x double> %x, <2 x double> %y) {
      %c = fcmp olt <2 x double> %x, %y
      %a = fmul <2 x double> %x, %x
      %s = select <2 x i1> %c, <2 x double> %a, <2 x double> %y
      ret <2 x double> %s
    })")
                        .active({1, 4})
                        .active({2, 3})),
            "");
}

TEST(ForwardVector, Reductions) {
  for (
      const char *Reduce :
      {"call double @llvm.vector.reduce.fadd.v4f64(double %y, <4 x double> %x)",
       "call fast double @llvm.vector.reduce.fadd.v4f64(double %y, <4 x "
       "double> "
       "%x)",
       "call double @llvm.vector.reduce.fmul.v4f64(double %y, <4 x double> %x)",
       "call double @llvm.vector.reduce.fmax.v4f64(<4 x double> %x)",
       "call double @llvm.vector.reduce.fmin.v4f64(<4 x double> %x)",
       "call double @llvm.vector.reduce.fmaximum.v4f64(<4 x double> %x)",
       "call double @llvm.vector.reduce.fminimum.v4f64(<4 x double> %x)"})
    EXPECT_EQ(forward(Case(std::string(R"(
      declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
      declare double @llvm.vector.reduce.fmul.v4f64(double, <4 x double>)
      declare double @llvm.vector.reduce.fmax.v4f64(<4 x double>)
      declare double @llvm.vector.reduce.fmin.v4f64(<4 x double>)
      declare double @llvm.vector.reduce.fmaximum.v4f64(<4 x double>)
      declare double @llvm.vector.reduce.fminimum.v4f64(<4 x double>)
      define double @f(<4 x double> %x, double %y) {
        %r = )") + Reduce +
                           R"(
        %s = fmul double %r, %y
        ret double %s
      })")
                          .active({1.5, 3, 2, 0.5})
                          .active(0.7)),
              "")
        << Reduce;
}

TEST(ForwardVector, WideLoadAndStore) {
  EXPECT_EQ(forward(Case(R"(
    define void @f(ptr %p, ptr %q) {
      %a = load <2 x double>, ptr %p, align 8
      %b = load <4 x float>, ptr %q, align 4
      %c = fmul <2 x double> %a, %a
      %d = fmul <4 x float> %b, %b
      store <2 x double> %c, ptr %p, align 8
      store <4 x float> %d, ptr %q, align 4
      ret void
    })")
                        .buffer({1.5, 2.5})
                        .floats({1, 2, 3, 4})),
            "");
}

TEST(ForwardVector, MaskedLoadAndStore) {
  Case Base(R"(
    declare <4 x double> @llvm.masked.load.v4f64.p0(ptr, <4 x i1>, <4 x double>)
    declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, <4 x i1>)
    define void @f(ptr %p, ptr %q, <4 x double> %d, i8 %m) {
      %b = trunc i8 %m to i4
      %k = bitcast i4 %b to <4 x i1>
      %a = call <4 x double> @llvm.masked.load.v4f64.p0(ptr %p, <4 x i1> %k, <4 x double> %d)
      %c = fmul <4 x double> %a, %a
      call void @llvm.masked.store.v4f64.p0(<4 x double> %c, ptr %q, <4 x i1> %k)
      ret void
    })");
  for (int Mask : {0, 5, 15})
    EXPECT_EQ(forward(Case(Base)
                          .buffer({1, 2, 3, 4})
                          .buffer({5, 6, 7, 8})
                          .active({0.1, 0.2, 0.3, 0.4})
                          .integer(Mask)),
              "")
        << Mask;
}

TEST(ForwardVector, GatherAndScatter) {
  EXPECT_EQ(forward(Case(R"(
    declare <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr>, <4 x i1>, <4 x double>)
    declare void @llvm.masked.scatter.v4f64.v4p0(<4 x double>, <4 x ptr>, <4 x i1>)
    define void @f(ptr %p, <4 x i64> %i, <4 x double> %d) {
      %a = getelementptr double, ptr %p, <4 x i64> %i
      %v = call <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr> %a, <4 x i1> <i1 1, i1 0, i1 1, i1 1>, <4 x double> %d)
      %w = fmul <4 x double> %v, %v
      call void @llvm.masked.scatter.v4f64.v4p0(<4 x double> %w, <4 x ptr> %a, <4 x i1> <i1 1, i1 1, i1 0, i1 1>)
      ret void
    })")
                        .buffer({1, 2, 3, 4})
                        .constant({}, {3, 0, 1, 2})
                        .active({0.1, 0.2, 0.3, 0.4})),
            "");
}

TEST(ForwardVector, CompressAndExpand) {
  EXPECT_EQ(forward(Case(R"(
    declare <4 x double> @llvm.masked.expandload.v4f64(ptr, <4 x i1>, <4 x double>)
    declare void @llvm.masked.compressstore.v4f64(<4 x double>, ptr, <4 x i1>)
    define void @f(ptr %p, ptr %q, <4 x double> %d) {
      %v = call <4 x double> @llvm.masked.expandload.v4f64(ptr %p, <4 x i1> <i1 1, i1 0, i1 1, i1 1>, <4 x double> %d)
      %w = fmul <4 x double> %v, %v
      call void @llvm.masked.compressstore.v4f64(<4 x double> %w, ptr %q, <4 x i1> <i1 0, i1 1, i1 0, i1 1>)
      ret void
    })")
                        .buffer({1, 2, 3})
                        .buffer({5, 6})
                        .active({0.1, 0.2, 0.3, 0.4})),
            "");
}

TEST(ForwardVector, BitcastsBetweenVectors) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(ptr %p) {
      %a = load <2 x i64>, ptr %p, align 8
      %s = shufflevector <2 x i64> %a, <2 x i64> poison, <2 x i32> <i32 1, i32 0>
      %b = bitcast <2 x i64> %s to <2 x double>
      %c = extractelement <2 x double> %b, i64 0
      %d = extractelement <2 x double> %b, i64 1
      %e = fmul double %c, %c
      %g = fmul double %e, %d
      ret double %g
    })")
                        .buffer({1.5, 2.5})),
            "");
}

TEST(ForwardVector, VectorOfPointers) {
  EXPECT_EQ(forward(Case(R"(
    define double @f(ptr %p, i64 %i) {
      %v = getelementptr double, ptr %p, <2 x i64> <i64 0, i64 1>
      %q = extractelement <2 x ptr> %v, i64 %i
      %a = load double, ptr %q
      %b = fmul double %a, %a
      ret double %b
    })")
                        .buffer({1.5, 2.5})
                        .integer(1)),
            "");
}

TEST(ForwardVector, PermutationIntrinsics) {
  EXPECT_EQ(forward(Case(R"(
    declare <4 x double> @llvm.vector.reverse.v4f64(<4 x double>)
    declare <2 x double> @llvm.vector.extract.v2f64.v4f64(<4 x double>, i64)
    declare <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double>, <2 x double>, i64)
    declare <4 x double> @llvm.vector.interleave2.v4f64(<2 x double>, <2 x double>)
    declare {<2 x double>, <2 x double>} @llvm.vector.deinterleave2.v4f64(<4 x double>)
    declare <4 x double> @llvm.vector.splice.left.v4f64(<4 x double>, <4 x double>, i32)
    define <4 x double> @f(<4 x double> %x, <4 x double> %y) {
      %a = call <4 x double> @llvm.vector.reverse.v4f64(<4 x double> %x)
      %b = call <2 x double> @llvm.vector.extract.v2f64.v4f64(<4 x double> %y, i64 2)
      %c = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %a, <2 x double> %b, i64 0)
      %d = fmul <4 x double> %c, %x
      %e = call {<2 x double>, <2 x double>} @llvm.vector.deinterleave2.v4f64(<4 x double> %d)
      %g = extractvalue {<2 x double>, <2 x double>} %e, 0
      %h = extractvalue {<2 x double>, <2 x double>} %e, 1
      %i = call <4 x double> @llvm.vector.interleave2.v4f64(<2 x double> %h, <2 x double> %g)
      ret <4 x double> %i
    })")
                        .active({1, 2, 3, 4})
                        .active({0.5, 0.6, 0.7, 0.8})),
            "");
}

TEST(ForwardVector, VectorMathIntrinsics) {
  EXPECT_EQ(forward(Case(R"(
    declare <2 x double> @llvm.sin.v2f64(<2 x double>)
    declare <2 x double> @llvm.sqrt.v2f64(<2 x double>)
    declare <2 x double> @llvm.fmuladd.v2f64(<2 x double>, <2 x double>, <2 x double>)
    declare <2 x double> @llvm.powi.v2f64.i32(<2 x double>, i32)
    declare <2 x double> @llvm.maxnum.v2f64(<2 x double>, <2 x double>)
    define <2 x double> @f(<2 x double> %x, <2 x double> %y) {
      %a = call <2 x double> @llvm.sin.v2f64(<2 x double> %x)
      %b = call <2 x double> @llvm.sqrt.v2f64(<2 x double> %y)
      %c = call <2 x double> @llvm.fmuladd.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %x)
      %d = call <2 x double> @llvm.powi.v2f64.i32(<2 x double> %c, i32 3)
      %e = call <2 x double> @llvm.maxnum.v2f64(<2 x double> %d, <2 x double> %y)
      ret <2 x double> %e
    })")
                        .active({1.5, 0.3})
                        .active({0.7, 0.8})),
            "");
}
