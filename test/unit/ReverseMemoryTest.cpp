// Reverse mode: loads, stores, buffers updated in place, copies of memory.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

static const char *Declarations = R"(
  declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
  declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
  declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
  declare ptr @malloc(i64)
  declare ptr @calloc(i64, i64)
  declare void @free(ptr)
)";

static Case memory(const std::string &IR) { return Case(Declarations + IR); }

TEST(ReverseMemory, Dot) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(ptr %p, ptr %q, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %s = phi double [ 0.0, %entry ], [ %t, %loop ]
      %pa = getelementptr double, ptr %p, i64 %i
      %pb = getelementptr double, ptr %q, i64 %i
      %a = load double, ptr %pa
      %b = load double, ptr %pb
      %c = fmul double %a, %b
      %t = fadd double %s, %c
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      ret double %t
    })")
                        .buffer({1.5, 2.5, -1.0})
                        .buffer({0.5, 2.0, 3.0})
                        .integer(3)),
            "");
}

TEST(ReverseMemory, LoadAndStore) {
  EXPECT_EQ(reverse(memory(R"(
    define void @f(ptr %p, ptr %q) {
      %a = load double, ptr %p
      %p1 = getelementptr double, ptr %p, i64 1
      %b = load double, ptr %p1
      %c = fmul double %a, %b
      store double %c, ptr %q
      ret void
    })")
                        .buffer({1.5, 2.5})
                        .buffer({0.0})),
            "");
}

TEST(ReverseMemory, OverwrittenInput) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(ptr %p) {
      %a = load double, ptr %p
      %b = fmul double %a, %a
      store double %b, ptr %p
      %c = load double, ptr %p
      %d = fmul double %c, %a
      store double 7.0, ptr %p
      ret double %d
    })")
                        .buffer({1.5})),
            "");
}

TEST(ReverseMemory, UpdatedInPlaceInALoop) {
  EXPECT_EQ(reverse(memory(R"(
    define void @f(ptr %p, i64 %n, double %x) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 1, %entry ], [ %i1, %loop ]
      %h = add i64 %i, -1
      %pa = getelementptr double, ptr %p, i64 %h
      %pb = getelementptr double, ptr %p, i64 %i
      %a = load double, ptr %pa
      %b = load double, ptr %pb
      %c = fmul double %a, %x
      %d = fmul double %c, %b
      store double %d, ptr %pb
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    })")
                        .buffer({1.5, 0.5, 1.25, 0.75})
                        .integer(4)
                        .active(1.1)),
            "");
}

TEST(ReverseMemory, ConstantBuffer) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(ptr %p, ptr %q) {
      %a = load double, ptr %p
      %b = load double, ptr %q
      %c = fmul double %a, %b
      ret double %c
    })")
                        .buffer({1.5})
                        .constBuffer({2.5})),
            "");
}

TEST(ReverseMemory, PointerChosenAtRunTime) {
  // %q has a shadow, %r has none: the guard decides.
  for (int K = 0; K != 2; ++K)
    EXPECT_EQ(reverse(memory(R"(
    define double @f(double %x, ptr %q, ptr %r, i64 %k) {
      %c = icmp eq i64 %k, 0
      %p = select i1 %c, ptr %q, ptr %r
      %p1 = getelementptr double, ptr %p, i64 1
      %a = load double, ptr %p1
      %d = fmul double %a, %x
      ret double %d
    })")
                          .active(1.5)
                          .buffer({2.5, 3.5})
                          .constBuffer({0.5, 1.25})
                          .integer(K)),
              "")
        << K;
}

TEST(ReverseMemory, StackBuffer) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(double %x, i64 %i, i64 %j) {
      %buf = alloca [4 x double]
      call void @llvm.memset.p0.i64(ptr %buf, i8 0, i64 32, i1 false)
      %p = getelementptr double, ptr %buf, i64 %i
      %q = getelementptr double, ptr %buf, i64 %j
      %x2 = fmul double %x, %x
      store double %x, ptr %p
      store double %x2, ptr %q
      %a = load double, ptr %p
      %b = load double, ptr %q
      %r = fmul double %a, %b
      ret double %r
    })")
                        .active(1.5)
                        .integer(1)
                        .integer(1)),
            "");
}

TEST(ReverseMemory, HeapBuffer) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(double %x, i64 %n) {
    entry:
      %bytes = shl i64 %n, 3
      %buf = call ptr @malloc(i64 %bytes)
      br label %fill
    fill:
      %i = phi i64 [ 0, %entry ], [ %i1, %fill ]
      %v = phi double [ %x, %entry ], [ %v1, %fill ]
      %p = getelementptr double, ptr %buf, i64 %i
      store double %v, ptr %p
      %v1 = fmul double %v, %x
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %fill, label %sum
    sum:
      %j = phi i64 [ 0, %fill ], [ %j1, %sum ]
      %s = phi double [ 0.0, %fill ], [ %t, %sum ]
      %q = getelementptr double, ptr %buf, i64 %j
      %a = load double, ptr %q
      %t = fadd double %s, %a
      %j1 = add i64 %j, 1
      %again = icmp slt i64 %j1, %n
      br i1 %again, label %sum, label %end
    end:
      call void @free(ptr %buf)
      ret double %t
    })")
                        .active(1.25)
                        .integer(5)),
            "");
}

TEST(ReverseMemory, CopyOfFloats) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(ptr %p, ptr %q, i64 %n) {
      call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 %n, i1 false)
      %a = load double, ptr %q
      %q1 = getelementptr double, ptr %q, i64 1
      %b = load double, ptr %q1
      %c = fmul double %a, %b
      store double %c, ptr %q
      ret double %c
    })")
                        .buffer({1.5, 2.5, 3.5})
                        .buffer({0.5, 0.25, 0.125})
                        .integer(16)),
            "");
}

TEST(ReverseMemory, OverlappingMove) {
  for (int To = 0; To != 2; ++To)
    EXPECT_EQ(reverse(memory(R"(
    define void @f(ptr %p, i64 %to, i64 %from, double %x) {
      %q = getelementptr double, ptr %p, i64 %to
      %r = getelementptr double, ptr %p, i64 %from
      %y = fmul double %x, %x
      store double %y, ptr %r
      call void @llvm.memmove.p0.p0.i64(ptr %q, ptr %r, i64 24, i1 false)
      ret void
    })")
                          .buffer({1.5, 2.5, 3.5, 4.5})
                          .integer(To)
                          .integer(1 - To)
                          .active(1.25)),
              "")
        << To;
}

TEST(ReverseMemory, AccumulatorClearedInALoop) {
  EXPECT_EQ(reverse(memory(R"(
    define double @f(ptr %p, i64 %n) {
    entry:
      %acc = alloca [2 x double]
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %s = phi double [ 0.0, %entry ], [ %t, %loop ]
      call void @llvm.memset.p0.i64(ptr %acc, i8 0, i64 16, i1 false)
      %q = getelementptr double, ptr %p, i64 %i
      %a = load double, ptr %q
      %k = and i64 %i, 1
      %c = getelementptr double, ptr %acc, i64 %k
      store double %a, ptr %c
      %u = load double, ptr %acc
      %acc1 = getelementptr double, ptr %acc, i64 1
      %v = load double, ptr %acc1
      %w = fmul double %u, 2.0
      %x = fadd double %w, %v
      %y = fmul double %x, %a
      %t = fadd double %s, %y
      %i1 = add i64 %i, 1
      %more = icmp slt i64 %i1, %n
      br i1 %more, label %loop, label %end
    end:
      ret double %t
    })")
                        .buffer({1.5, 2.5, 3.5})
                        .integer(3)),
            "");
}

TEST(ReverseMemory, PointersInMemory) {
  // The pointer is read from memory, and replaced there.
  EXPECT_EQ(reverse(memory(R"(
    define double @f(ptr %pp, ptr %q) {
      %p = load ptr, ptr %pp
      %a = load double, ptr %p
      store ptr %q, ptr %pp
      %r = load ptr, ptr %pp
      %b = load double, ptr %r
      %c = fmul double %a, %b
      store double %c, ptr %r
      ret double %c
    })")
                        .record({to(0)})
                        .buffer({2.5})),
            "");
}
