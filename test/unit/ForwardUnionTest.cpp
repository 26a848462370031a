// Forward mode: bytes that are a float in one place and a pointer in another,
// copied by code that does not look at the tag.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

/// {i64 tag, {double | ptr to double}}: value() looks at the tag, copy() is the
/// text given.
static Case overlay(const std::string &Copy) {
  return Case(R"(
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
    define internal double @value(ptr %u) noinline {
      %t = load i64, ptr %u
      %p = getelementptr i8, ptr %u, i64 8
      %z = icmp eq i64 %t, 0
      br i1 %z, label %number, label %pointer
    number:
      %v = load double, ptr %p
      %m = fmul double %v, %v
      ret double %m
    pointer:
      %q = load ptr, ptr %p
      %w = load double, ptr %q
      %n = fmul double %w, 3.0
      ret double %n
    }
    define internal void @copy(ptr %d, ptr %s) noinline {
      )" + Copy +
              R"(
      ret void
    }
    define double @f(ptr %d, ptr %s, double %x) {
      call void @copy(ptr %d, ptr %s)
      %v = call double @value(ptr %d)
      %w = call double @value(ptr %s)
      %m = fmul double %v, %w
      %r = fmul double %m, %x
      ret double %r
    })");
}

static const char *const Copies[] = {
    "call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 16, i1 false)",
    R"(%a = load i64, ptr %s
       store i64 %a, ptr %d
       %sp = getelementptr i8, ptr %s, i64 8
       %dp = getelementptr i8, ptr %d, i64 8
       %b = load i64, ptr %sp
       store i64 %b, ptr %dp)",
    R"(%a = load <2 x i64>, ptr %s, align 8
       store <2 x i64> %a, ptr %d, align 8)"};

TEST(ForwardUnion, NumberFromActiveMemory) {
  for (const char *Copy : Copies)
    EXPECT_EQ(forward(overlay(Copy)
                          .record({i64(0), f64(0.5)})
                          .record({i64(0), f64(1.5)})
                          .active(0.7)),
              "")
        << Copy;
}

TEST(ForwardUnion, NumberFromConstantMemory) {
  for (const char *Copy : Copies)
    EXPECT_EQ(forward(overlay(Copy)
                          .record({i64(0), f64(0.5)})
                          .constRecord({i64(0), f64(1.5)})
                          .active(0.7)),
              "")
        << Copy;
}

TEST(ForwardUnion, PointerFromActiveMemory) {
  for (const char *Copy : Copies) {
    Case C = overlay(Copy);
    int Target = C.block({f64(1.5)});
    C.record({i64(1), null()}).record({i64(1), to(Target)}).active(0.7);
    EXPECT_EQ(forward(C), "") << Copy;
  }
}

TEST(ForwardUnion, PointerFromConstantMemory) {
  for (const char *Copy : Copies) {
    Case C = overlay(Copy);
    int Target = C.block({f64(1.5)}, false);
    C.record({i64(1), null()}).constRecord({i64(1), to(Target)}).active(0.7);
    EXPECT_EQ(forward(C), "") << Copy;
  }
}

TEST(ForwardUnion, IntoConstantMemory) {
  // The destination has no shadow: active data is tracked through it.
  for (const char *Copy : Copies) {
    EXPECT_EQ(forward(overlay(Copy)
                          .constRecord({i64(0), f64(0.5)})
                          .record({i64(0), f64(1.5)})
                          .active(0.7)),
              "")
        << Copy;
    Case C = overlay(Copy);
    int Target = C.block({f64(1.5)});
    C.constRecord({i64(1), null()}).record({i64(1), to(Target)}).active(0.7);
    EXPECT_EQ(forward(C), "") << Copy;
  }
}

TEST(ForwardUnion, PointerOutOfAnInteger) {
  // The pointer passes through a register as an integer.
  for (bool Active : {true, false}) {
    Case C(R"(
      define double @f(ptr %s, double %x) {
        %i = load i64, ptr %s
        %p = inttoptr i64 %i to ptr
        %q = getelementptr double, ptr %p, i64 1
        %v = load double, ptr %q
        %r = fmul double %v, %x
        ret double %r
      })");
    int Target = C.block({f64(0.5), f64(1.5)}, Active);
    C.record({to(Target)}).active(0.7);
    EXPECT_EQ(forward(C), "") << Active;
  }
}
