// Forward mode: loads, stores, copies of memory, integer copies of floats.
#include "harness/Check.h"
#include "gtest/gtest.h"

using namespace adjoin::test;

static const char *Declarations = R"(
  declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
  declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
  declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
  declare ptr @memcpy(ptr, ptr, i64)
  declare ptr @memmove(ptr, ptr, i64)
  declare ptr @memset(ptr, i32, i64)
)";

static Case memory(const std::string &IR) { return Case(Declarations + IR); }

TEST(ForwardMemory, LoadAndStore) {
  EXPECT_EQ(forward(memory(R"(
    define void @f(ptr %p, ptr %q) {
      %a = load double, ptr %p
      %p1 = getelementptr double, ptr %p, i64 1
      %b = load double, ptr %p1
      %c = fmul double %a, %b
      store double %c, ptr %q
      ret void
    })")
                        .buffer({1.5, 2.5})
                        .output(1)),
            "");
}

TEST(ForwardMemory, OverwrittenInput) {
  EXPECT_EQ(forward(memory(R"(
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

TEST(ForwardMemory, UpdatedInPlaceInALoop) {
  EXPECT_EQ(forward(memory(R"(
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
      %d = fadd double %b, %c
      store double %d, ptr %pb
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret void
    })")
                        .buffer({1, 2, 3, 4})
                        .integer(4)
                        .active(0.5)),
            "");
}

TEST(ForwardMemory, ArgumentsThatAlias) {
  Case Base = memory(R"(
    define double @f(ptr %p, ptr %q) {
      %a = load double, ptr %p
      %b = fmul double %a, 3.0
      store double %b, ptr %q
      %c = load double, ptr %p
      %d = fmul double %c, %a
      ret double %d
    })");
  Case Apart = Base;
  EXPECT_EQ(forward(Apart.buffer({1.5}).buffer({2.5})), "");
  Case Same = Base;
  int B = Same.block(Case::cells({1.5}));
  EXPECT_EQ(forward(Same.pointer(B).pointer(B)), "");
  Case Overlap = Base;
  B = Overlap.block(Case::cells({1.5, 2.5}));
  EXPECT_EQ(forward(Overlap.pointer(B, 8).pointer(B, 0)), "");
}

TEST(ForwardMemory, ConstantArgument) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p, ptr %c, double %x, double %y) {
      %a = load double, ptr %p
      %b = load double, ptr %c
      %d = fmul double %a, %b
      %e = fmul double %x, %y
      %g = fadd double %d, %e
      ret double %g
    })")
                        .buffer({1.5})
                        .constBuffer({2.5})
                        .active(3)
                        .constant(4)),
            "");
}

TEST(ForwardMemory, ConstantScratchReceivesActiveData) {
  // The caller gave no shadow, yet active data passes through the memory.
  EXPECT_EQ(forward(memory(R"(
    define double @f(double %x, ptr %w) {
      %a = fmul double %x, %x
      store double %a, ptr %w
      %w1 = getelementptr double, ptr %w, i64 1
      store double %x, ptr %w1
      %b = load double, ptr %w
      %c = load double, ptr %w1
      %d = fmul double %b, %c
      ret double %d
    })")
                        .active(1.5)
                        .constBuffer({0, 0})),
            "");
}

TEST(ForwardMemory, ConstantScratchThroughACall) {
  EXPECT_EQ(forward(memory(R"(
    define internal void @put(ptr %w, i64 %n, double %x) noinline {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
      %q = getelementptr double, ptr %w, i64 %i
      %v = load double, ptr %q
      %s = fmul double %v, %x
      store double %s, ptr %q
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret void
    }
    define double @f(double %x, ptr %w) {
      call void @put(ptr %w, i64 3, double %x)
      call void @put(ptr %w, i64 2, double %x)
      %w2 = getelementptr double, ptr %w, i64 2
      %a = load double, ptr %w
      %b = load double, ptr %w2
      %c = fmul double %a, %b
      ret double %c
    })")
                        .active(1.5)
                        .constBuffer({2, 3, 4})),
            "");
}

TEST(ForwardMemory, ConstantStoredOverActive) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(double %x) {
      %a = alloca double
      store double %x, ptr %a
      %b = load double, ptr %a
      store volatile double 2.0, ptr %a
      %c = load volatile double, ptr %a
      %d = fmul double %b, %c
      ret double %d
    })")
                        .active(1.5)),
            "");
}

TEST(ForwardMemory, LocalArrayByIndex) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(double %x, i64 %i, i64 %j) {
      %a = alloca [8 x double]
      call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 64, i1 false)
      %p = getelementptr [8 x double], ptr %a, i64 0, i64 %i
      %q = getelementptr [8 x double], ptr %a, i64 0, i64 %j
      store double %x, ptr %p
      %v = load double, ptr %q
      %w = fadd double %v, 1.0
      %m = fmul double %w, %x
      store double %m, ptr %q
      %r = load double, ptr %p
      ret double %r
    })")
                        .active(1.5)
                        .integer(3)
                        .integer(3)),
            "");
}

TEST(ForwardMemory, AllocaInALoopStartsWithoutTangent) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(double %x, i64 %n) {
    entry:
      %a = alloca double
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %i1, %next ]
      %s = phi double [ 0.0, %entry ], [ %s1, %next ]
      %odd = and i64 %i, 1
      %c = icmp eq i64 %odd, 0
      br i1 %c, label %even, label %other
    even:
      store volatile double %x, ptr %a
      br label %next
    other:
      store volatile double 3.0, ptr %a
      br label %next
    next:
      %v = load volatile double, ptr %a
      %s1 = fadd double %s, %v
      %i1 = add i64 %i, 1
      %t = icmp slt i64 %i1, %n
      br i1 %t, label %loop, label %exit
    exit:
      ret double %s1
    })")
                        .active(1.5)
                        .integer(5)),
            "");
}

TEST(ForwardMemory, ConstantBytesOfUnknownKindHaveNoTangent) {
  // Nothing says that the bytes are floats: no arithmetic, no type.
  EXPECT_EQ(forward(Case(R"(
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
    define void @f(ptr %p, ptr %q) {
      call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 16, i1 false)
      ret void
    })")
                        .constBuffer({1.5, 2.5})
                        .buffer({0.5, 0.25})),
            "");
  EXPECT_EQ(forward(Case(R"(
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
    define void @f(ptr %p, ptr %q, i64 %n) {
      %bytes = shl i64 %n, 3
      call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 %bytes, i1 false)
      ret void
    })")
                        .constBuffer({1.5, 2.5})
                        .buffer({0.5, 0.25})
                        .integer(2)),
            "");
}

TEST(ForwardMemory, CopiedAsIntegers) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p, ptr %q) {
      %a = load i64, ptr %p
      store i64 %a, ptr %q
      %p1 = getelementptr i8, ptr %p, i64 8
      %b = load i64, ptr %p1
      %q1 = getelementptr i8, ptr %q, i64 8
      store i64 %b, ptr %q1
      %x = load double, ptr %q
      %y = load double, ptr %q1
      %r = fmul double %x, %y
      ret double %r
    })")
                        .buffer({1.5, 2.5})
                        .output(2)),
            "");
}

TEST(ForwardMemory, PairOfFloatsCopiedAsOneInteger) {
  EXPECT_EQ(forward(memory(R"(
    define float @f(ptr %p, ptr %q) {
      %a = load i64, ptr %p
      store i64 %a, ptr %q
      %q1 = getelementptr float, ptr %q, i64 1
      %x = load float, ptr %q
      %y = load float, ptr %q1
      %r = fmul float %x, %y
      ret float %r
    })")
                        .floats({1.5, 2.5})
                        .output(2, CellKind::F32)),
            "");
}

TEST(ForwardMemory, IntegerReturnedThatIsAFloat) {
  // What rustc makes of a function that returns [f32; 2].
  EXPECT_EQ(forward(memory(R"(
    define internal i64 @pair(float %x, float %y) noinline {
      %a = bitcast float %x to i32
      %b = bitcast float %y to i32
      %wa = zext i32 %a to i64
      %wb = zext i32 %b to i64
      %sb = shl nuw i64 %wb, 32
      %w = or disjoint i64 %wa, %sb
      ret i64 %w
    }
    define float @f(float %x, float %y) {
      %m = fmul float %x, %y
      %w = call i64 @pair(float %m, float %x)
      %l = trunc i64 %w to i32
      %lf = bitcast i32 %l to float
      %s = lshr i64 %w, 32
      %h = trunc i64 %s to i32
      %hf = bitcast i32 %h to float
      %r = fmul float %lf, %hf
      ret float %r
    })")
                        .active(1.5)
                        .active(0.75)),
            "");
}

TEST(ForwardMemory, MemcpyOfFloats) {
  for (const char *Copy :
       {"call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 24, i1 false)",
        "call void @llvm.memmove.p0.p0.i64(ptr %q, ptr %p, i64 24, i1 false)",
        "%c = call ptr @memcpy(ptr %q, ptr %p, i64 24)",
        "%c = call ptr @memmove(ptr %q, ptr %p, i64 24)"})
    EXPECT_EQ(forward(memory(std::string(R"(
      define double @f(ptr %p, ptr %q) {)") +
                             Copy + R"(
        %q2 = getelementptr double, ptr %q, i64 2
        %a = load double, ptr %q
        %b = load double, ptr %q2
        %r = fmul double %a, %b
        ret double %r
      })")
                          .buffer({1, 2, 3})
                          .output(3)),
              "")
        << Copy;
}

TEST(ForwardMemory, MemmoveOverlaps) {
  EXPECT_EQ(forward(memory(R"(
    define void @f(ptr %p, i64 %n) {
      %q = getelementptr double, ptr %p, i64 1
      %b = shl i64 %n, 3
      call void @llvm.memmove.p0.p0.i64(ptr %q, ptr %p, i64 %b, i1 false)
      %a = load double, ptr %q
      %c = fmul double %a, %a
      store double %c, ptr %p
      ret void
    })")
                        .buffer({1, 2, 3, 4})
                        .integer(3)),
            "");
}

TEST(ForwardMemory, MemsetClearsTangents) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p, double %x, i64 %n) {
      %r = call ptr @memset(ptr %p, i32 0, i64 %n)
      %p2 = getelementptr double, ptr %p, i64 2
      %a = load double, ptr %p
      %b = load double, ptr %p2
      %s = fadd double %a, %b
      %t = fmul double %s, %x
      ret double %t
    })")
                        .buffer({1, 2, 3})
                        .active(4)
                        .integer(16)),
            "");
}

TEST(ForwardMemory, RecordWithIntegersAndPointers) {
  Case C = memory(R"(
    %node = type {i32, double, ptr, i8, float}
    define double @f(ptr %a, ptr %b) {
      call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 32, i1 false)
      %pn = getelementptr %node, ptr %b, i64 0, i32 2
      %n = load ptr, ptr %pn
      %px = getelementptr %node, ptr %b, i64 0, i32 1
      %x = load double, ptr %px
      %y = load double, ptr %n
      %pf = getelementptr %node, ptr %b, i64 0, i32 4
      %z = load float, ptr %pf
      %w = fpext float %z to double
      %pi = getelementptr %node, ptr %b, i64 0, i32 0
      %i = load i32, ptr %pi
      %k = sitofp i32 %i to double
      %m = fmul double %x, %y
      %o = fmul double %m, %w
      %r = fmul double %o, %k
      store double %r, ptr %n
      ret double %r
    })");
  int Target = C.block({f64(2.5)});
  int A = C.block({i32(3), f64(1.5), to(Target), i8(1), f32(0.5)});
  int B = C.block({i32(0), f64(0), null(), i8(0), f32(0)});
  EXPECT_EQ(forward(C.pointer(A).pointer(B).unit(CellKind::F32)), "");
}

TEST(ForwardMemory, PointerToConstantInAnActiveRecord) {
  // The shadow of the pointer is null, or the primal: what it points to is
  // constant.
  for (int Extra : {0, 1}) {
    Case C = memory(R"(
      define double @f(ptr %a) {
        %p = load ptr, ptr %a
        %x = load double, ptr %p
        %a1 = getelementptr i8, ptr %a, i64 8
        %y = load double, ptr %a1
        %r = fmul double %x, %y
        ret double %r
      })");
    for (int I = 0; I != Extra; ++I)
      C.block({f64(0)}, false);
    int Constant = C.block({f64(2.5)}, false);
    EXPECT_EQ(forward(C.pointer(C.block({to(Constant), f64(1.5)}))), "");
  }
}

TEST(ForwardMemory, StoreThroughPointerToConstant) {
  for (int Extra : {0, 1}) {
    Case C = memory(R"(
      define double @f(ptr %a, double %x) {
        %p = load ptr, ptr %a
        store double %x, ptr %p
        %q = load ptr, ptr %a
        %y = load double, ptr %q
        %r = fmul double %x, %y
        ret double %r
      })");
    for (int I = 0; I != Extra; ++I)
      C.block({f64(0)}, false);
    int Constant = C.block({f64(2.5)}, false);
    EXPECT_EQ(forward(C.pointer(C.block({to(Constant)})).active(1.5)), "");
  }
}

TEST(ForwardMemory, PointerSelectedBetweenActiveAndConstant) {
  Case Base = memory(R"(
    define double @f(ptr %p, ptr %c, i32 %k, double %x) {
      %t = icmp eq i32 %k, 0
      %s = select i1 %t, ptr %p, ptr %c
      %v = load double, ptr %s
      %w = fmul double %v, %x
      store double %w, ptr %s
      %u = load double, ptr %s
      %r = fmul double %u, %u
      ret double %r
    })");
  for (int K : {0, 1})
    EXPECT_EQ(
        forward(
            Case(Base).buffer({1.5}).constBuffer({2.5}).integer(K).active(0.5)),
        "")
        << K;
}

TEST(ForwardMemory, PointerPhiWalksAList) {
  Case C = memory(R"(
    define double @f(ptr %head) {
    entry:
      br label %loop
    loop:
      %p = phi ptr [ %head, %entry ], [ %n, %body ]
      %s = phi double [ 1.0, %entry ], [ %s1, %body ]
      %z = icmp eq ptr %p, null
      br i1 %z, label %exit, label %body
    body:
      %v = load double, ptr %p
      %s1 = fmul double %s, %v
      %pn = getelementptr i8, ptr %p, i64 8
      %n = load ptr, ptr %pn
      br label %loop
    exit:
      ret double %s
    })");
  int A = C.block({f64(1.5), null()});
  int B = C.block({f64(2.5), to(A)});
  EXPECT_EQ(forward(C.pointer(C.block({f64(0.5), to(B)}))), "");
}

TEST(ForwardMemory, NullShadowedPointerIsCompared) {
  Case Base = memory(R"(
    define double @f(ptr %p, double %x) {
      %z = icmp eq ptr %p, null
      br i1 %z, label %no, label %yes
    yes:
      %v = load double, ptr %p
      %m = fmul double %v, %x
      ret double %m
    no:
      ret double %x
    })");
  EXPECT_EQ(forward(Case(Base).nullPointer().active(1.5)), "");
  EXPECT_EQ(forward(Case(Base).buffer({2.5}).active(1.5)), "");
}

TEST(ForwardMemory, UnionThatTheTagDecides) {
  // {tag, {double | i64}}: the integer is never a float.
  Case Base = memory(R"(
    define double @f(ptr %u, double %x) {
      %t = load i32, ptr %u
      %pv = getelementptr i8, ptr %u, i64 8
      %z = icmp eq i32 %t, 0
      br i1 %z, label %fl, label %in
    fl:
      %v = load double, ptr %pv
      %m = fmul double %v, %x
      ret double %m
    in:
      %i = load i64, ptr %pv
      %k = sitofp i64 %i to double
      %o = fmul double %k, %x
      ret double %o
    })");
  EXPECT_EQ(forward(Case(Base).record({i32(0), f64(2.5)}).active(1.5)), "");
  EXPECT_EQ(forward(Case(Base).record({i32(1), i64(3)}).active(1.5)), "");
}

TEST(ForwardMemory, UnionReusesALocal) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(double %x, i64 %k) {
      %u = alloca i64
      store volatile i64 %k, ptr %u
      %i = load volatile i64, ptr %u
      %s = sitofp i64 %i to double
      store volatile double %x, ptr %u
      %v = load volatile double, ptr %u
      %r = fmul double %s, %v
      ret double %r
    })")
                        .active(1.5)
                        .integer(3)),
            "");
}

TEST(ForwardMemory, PackedAndUnaligned) {
  Case C = memory(R"(
    define double @f(ptr %p) {
      %q = getelementptr i8, ptr %p, i64 1
      %v = load double, ptr %q, align 1
      %w = fmul double %v, %v
      store double %w, ptr %q, align 1
      ret double %w
    })");
  int B = C.block({i8(3), f64(1.5)});
  C.Blocks[B].Packed = true;
  EXPECT_EQ(forward(C.pointer(B)), "");
}

TEST(ForwardMemory, PointerStoredAndLoadedBack) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p, i64 %k) {
      %t = alloca [2 x ptr]
      %t1 = getelementptr [2 x ptr], ptr %t, i64 0, i64 1
      %p1 = getelementptr double, ptr %p, i64 1
      store ptr %p, ptr %t
      store ptr %p1, ptr %t1
      %q = getelementptr [2 x ptr], ptr %t, i64 0, i64 %k
      %s = load ptr, ptr %q
      %v = load double, ptr %s
      %w = fmul double %v, %v
      store double %w, ptr %s
      ret double %w
    })")
                        .buffer({1.5, 2.5})
                        .integer(1)),
            "");
}

TEST(ForwardMemory, PointerThroughIntegers) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p) {
      %i = ptrtoint ptr %p to i64
      %j = add i64 %i, 8
      %q = inttoptr i64 %j to ptr
      %v = load double, ptr %q
      %w = fmul double %v, %v
      ret double %w
    })")
                        .buffer({1.5, 2.5})),
            "");
}

TEST(ForwardMemory, PointerReturned) {
  EXPECT_EQ(forward(memory(R"(
    define internal ptr @at(ptr %p, i64 %k) noinline {
      %q = getelementptr double, ptr %p, i64 %k
      ret ptr %q
    }
    define double @f(ptr %p, i64 %k) {
      %q = call ptr @at(ptr %p, i64 %k)
      %v = load double, ptr %q
      %w = fmul double %v, %v
      store double %w, ptr %q
      ret double %w
    })")
                        .buffer({1.5, 2.5})
                        .integer(1)),
            "");
}

TEST(ForwardMemory, AtomicLoadAndStoreOfFloats) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p) {
      %v = load atomic double, ptr %p seq_cst, align 8
      %w = fmul double %v, %v
      store atomic double %w, ptr %p release, align 8
      ret double %w
    })")
                        .buffer({1.5})),
            "");
}

TEST(ForwardMemory, AtomicCounterCarriesNothing) {
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %n, double %x) {
      %o = atomicrmw add ptr %n, i64 1 seq_cst
      %k = sitofp i64 %o to double
      %r = fmul double %k, %x
      ret double %r
    })")
                        .constRecord({i64(3)})
                        .active(1.5)),
            "");
}

TEST(ForwardMemory, ReferenceCountBesideFloats) {
  // A variable index lets the analysis see floats wherever the counts are.
  EXPECT_EQ(forward(memory(R"(
    define double @f(ptr %p, i64 %i, ptr %q) {
      %a = atomicrmw add ptr %p, i32 1 acq_rel
      %c = getelementptr i8, ptr %p, i64 8
      %b = atomicrmw sub ptr %c, i64 1 release
      %d = getelementptr double, ptr %p, i64 %i
      %v = load double, ptr %d
      %k = sitofp i32 %a to double
      %l = sitofp i64 %b to double
      %m = fmul double %v, %k
      %n = fmul double %m, %l
      %r = fmul double %n, %v
      store ptr %p, ptr %q
      ret double %r
    })")
                        .record({i32(3), pad(4), i64(2), f64(1.5)})
                        .integer(2)
                        .constRecord({null()})),
            "");
}
