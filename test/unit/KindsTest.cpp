// Kind analysis: what bytes mean, deduced from uses.
#include "ad/analysis/Kinds.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

namespace {

/// A module with kind analysis of some of its functions (all by default).
class Kinds {
public:
  explicit Kinds(const char *IR, std::vector<std::string> Roots = {}) {
    SMDiagnostic E;
    std::string Text =
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-"
        "i128:128-f80:128-n8:16:32:64-S128\"\n"
        "target triple = \"x86_64-unknown-linux-gnu\"\n";
    M = parseAssemblyString(Text + IR, E, C);
    if (!M) {
      E.print("test", errs());
      abort();
    }
    A = std::make_unique<KindAnalysis>(*M);
    SmallVector<Function *> Copies;
    if (Roots.empty()) {
      for (Function &F : *M)
        if (!F.isDeclaration())
          Copies.push_back(&F);
    } else {
      for (const std::string &R : Roots)
        Copies.push_back(M->getFunction(R));
    }
    A->add(Copies);
  }

  const Value *at(StringRef Function, StringRef Name) {
    llvm::Function *F = M->getFunction(Function);
    for (Argument &Arg : F->args())
      if (Arg.getName() == Name)
        return &Arg;
    for (Instruction &I : instructions(F))
      if (I.getName() == Name)
        return &I;
    ADD_FAILURE() << "no value " << Name.str();
    return nullptr;
  }

  static std::string text(const KindRanges &Ranges) {
    std::string S;
    raw_string_ostream OS(S);
    for (const KindRange &R : Ranges) {
      OS << (S.empty() ? "" : " ") << R.Begin << '-' << R.End << ':';
      R.Kinds.print(OS);
    }
    return S;
  }
  std::string value(StringRef F, StringRef Name) {
    return text(A->value(at(F, Name)));
  }
  std::string memory(StringRef F, StringRef Name, uint64_t Size) {
    return text(A->memory(at(F, Name), Size));
  }
  std::string object(StringRef F, StringRef Name) {
    std::string S;
    raw_string_ostream OS(S);
    A->object(at(F, Name)).print(OS);
    return S;
  }

  LLVMContext C;
  std::unique_ptr<Module> M;
  std::unique_ptr<KindAnalysis> A;
};

TEST(Kinds, ArithmeticDecidesAndReachesMemory) {
  Kinds K(R"(
    define double @f(ptr %p, i64 %n) {
      %x = load double, ptr %p
      %y = fadd double %x, 1.0
      %q = getelementptr i8, ptr %p, i64 8
      %i = load i64, ptr %q
      %j = add i64 %i, %n
      store i64 %j, ptr %q
      ret double %y
    })");
  EXPECT_EQ(K.value("f", "x"), "0-8:f64");
  EXPECT_EQ(K.value("f", "i"), "0-8:int");
  EXPECT_EQ(K.value("f", "n"), "0-8:int");
  EXPECT_EQ(K.value("f", "p"), "0-8:ptr");
  EXPECT_EQ(K.memory("f", "p", 16), "0-8:f64 8-16:int");
  EXPECT_EQ(K.object("f", "p"), "int|f64");
}

TEST(Kinds, MovesAloneDecideNothing) {
  Kinds K(R"(
    define double @f(ptr %p, ptr %q, i1 %c) {
      %x = load double, ptr %p
      %y = load i64, ptr %q
      store double %x, ptr %q
      %s = select i1 %c, double %x, double 2.0
      ret double %s
    })");
  EXPECT_EQ(K.value("f", "x"), "");
  EXPECT_EQ(K.value("f", "y"), "");
  EXPECT_EQ(K.value("f", "s"), "");
  EXPECT_EQ(K.object("f", "p"), "?");
}

// rustc passes a pair of f32 in a double, or in an integer.
TEST(Kinds, TwoFloatsInARegister) {
  Kinds K(R"(
    define float @f(i64 %pair) {
      %low = trunc i64 %pair to i32
      %high = lshr i64 %pair, 32
      %h = trunc nuw i64 %high to i32
      %a = bitcast i32 %low to float
      %b = bitcast i32 %h to float
      %r = fmul float %a, %b
      ret float %r
    }
    define i64 @g(float %a, float %b) {
      %n = fneg float %a
      %i = bitcast float %n to i32
      %j = bitcast float %b to i32
      %low = zext i32 %i to i64
      %wide = zext i32 %j to i64
      %high = shl nuw i64 %wide, 32
      %pair = or disjoint i64 %high, %low
      ret i64 %pair
    }
    define float @h(ptr %p) {
      %d = load double, ptr %p
      %v = bitcast double %d to <2 x float>
      %a = extractelement <2 x float> %v, i64 1
      %r = fadd float %a, %a
      ret float %r
    })");
  EXPECT_EQ(K.value("f", "pair"), "0-8:f32");
  EXPECT_EQ(K.value("f", "high"), "0-4:f32");
  EXPECT_EQ(K.value("g", "pair"), "0-4:f32");
  EXPECT_EQ(K.value("g", "high"), "");
  EXPECT_EQ(K.value("h", "d"), "4-8:f32");
  EXPECT_EQ(K.memory("h", "p", 8), "4-8:f32");
}

TEST(Kinds, SignTricksAreFloatOperations) {
  Kinds K(R"(
    define double @f(ptr %p, ptr %q, i64 %e) {
      %i = load i64, ptr %p
      %n = xor i64 %i, -9223372036854775808
      %a = and i64 %n, 9223372036854775807
      store i64 %a, ptr %q
      %x = load double, ptr %q
      %y = fmul double %x, %x
      %x1 = lshr i64 %i, 52
      %x2 = and i64 %x1, 2047
      ret double %y
    }
    define double @copysign(i64 %m, i64 %s) {
      %a = and i64 %m, 9223372036854775807
      %b = and i64 %s, -9223372036854775808
      %c = or disjoint i64 %a, %b
      %d = bitcast i64 %c to double
      %r = fadd double %d, 1.0
      ret double %r
    })");
  EXPECT_EQ(K.value("f", "i"), "0-8:f64");
  EXPECT_EQ(K.value("f", "n"), "0-8:f64");
  EXPECT_EQ(K.memory("f", "p", 8), "0-8:f64");
  EXPECT_EQ(K.value("f", "x1"), "0-8:int");
  EXPECT_EQ(K.value("copysign", "m"), "0-8:f64");
  EXPECT_EQ(K.value("copysign", "s"), "");
}

TEST(Kinds, TotalOrderLeavesFloatsFloats) {
  Kinds K(R"(
    define i1 @f(ptr %p, ptr %q) {
      %x = load i64, ptr %p
      %y = load i64, ptr %q
      %s = ashr i64 %x, 63
      %t = lshr i64 %s, 1
      %u = xor i64 %t, %x
      %s1 = ashr i64 %y, 63
      %t1 = lshr i64 %s1, 1
      %u1 = xor i64 %t1, %y
      %c = icmp slt i64 %u, %u1
      %d = load double, ptr %p
      %e = fadd double %d, 1.0
      ret i1 %c
    })");
  EXPECT_EQ(K.value("f", "x"), "0-8:f64");
  EXPECT_EQ(K.value("f", "y"), "");
}

TEST(Kinds, StridesFoldArrays) {
  Kinds K(R"(
    define double @f(ptr %a, i64 %i, i64 %n) {
      %p = getelementptr [24 x i8], ptr %a, i64 %i
      %x = load double, ptr %p
      %xx = fadd double %x, 1.0
      %q = getelementptr i8, ptr %p, i64 8
      %k = load i32, ptr %q
      %kk = add i32 %k, 1
      %r = getelementptr i8, ptr %a, i64 64
      %o = load ptr, ptr %r
      %off = shl i64 %n, 3
      %s = getelementptr i8, ptr %o, i64 %off
      %y = load double, ptr %s
      %z = fadd double %y, %xx
      ret double %z
    })");
  EXPECT_EQ(K.memory("f", "a", 48),
            "0-8:f64 8-12:int 16-24:ptr 24-32:f64 32-36:int 40-48:ptr");
  EXPECT_EQ(K.memory("f", "o", 24), "0-24:f64");
  EXPECT_EQ(K.value("f", "n"), "0-8:int");
}

TEST(Kinds, PointerBumpFolds) {
  Kinds K(R"(
    define double @f(ptr %a, ptr %end) {
    entry:
      br label %loop
    loop:
      %p = phi ptr [ %a, %entry ], [ %next, %loop ]
      %s = phi double [ 0.0, %entry ], [ %t, %loop ]
      %x = load double, ptr %p
      %t = fadd double %s, %x
      %next = getelementptr i8, ptr %p, i64 16
      %c = icmp eq ptr %next, %end
      br i1 %c, label %done, label %loop
    done:
      ret double %t
    })");
  EXPECT_EQ(K.memory("f", "a", 32), "0-8:f64 16-24:f64");
}

TEST(Kinds, PointerDifferenceIsAMultipleOfTheStride) {
  Kinds K(R"(
    define void @f(ptr %a, i64 %i, ptr %b) {
      %p = getelementptr [16 x i8], ptr %a, i64 %i
      %x = load double, ptr %p
      %y = fadd double %x, 1.0
      %q = getelementptr i8, ptr %p, i64 8
      %k = load i64, ptr %q
      %l = mul i64 %k, 3
      %pi = ptrtoint ptr %p to i64
      %ai = ptrtoint ptr %a to i64
      %d = sub i64 %pi, %ai
      %e = getelementptr i8, ptr %b, i64 %d
      store double %y, ptr %e
      %e8 = getelementptr i8, ptr %e, i64 8
      store i64 %l, ptr %e8
      ret void
    })");
  EXPECT_EQ(K.value("f", "d"), "0-8:int");
  EXPECT_EQ(K.value("f", "pi"), "0-8:ptr");
  EXPECT_EQ(K.memory("f", "a", 16), "0-8:f64 8-16:int");
  EXPECT_EQ(K.memory("f", "b", 32), "0-8:f64 8-16:int 16-24:f64 24-32:int");
}

TEST(Kinds, CopiesAndAggregates) {
  Kinds K(R"(
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
    define double @f(ptr %a, ptr %o) {
      %b = alloca [24 x i8]
      call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 24, i1 false)
      %p = getelementptr i8, ptr %b, i64 8
      %x = load double, ptr %p
      %y = fadd double %x, 1.0
      %q = getelementptr i8, ptr %b, i64 16
      %z = load ptr, ptr %q
      %w = load { double, i32 }, ptr %z
      %w0 = extractvalue { double, i32 } %w, 0
      %w1 = extractvalue { double, i32 } %w, 1
      %r = fmul double %w0, %y
      %i = mul i32 %w1, 5
      %v = insertvalue { double, i32 } %w, double %r, 0
      store { double, i32 } %v, ptr %o
      ret double %r
    })");
  EXPECT_EQ(K.memory("f", "a", 24), "8-16:f64 16-24:ptr");
  EXPECT_EQ(K.memory("f", "o", 16), "0-8:f64 8-12:int");
  EXPECT_EQ(K.value("f", "w"), "0-8:f64 8-12:int");
}

TEST(Kinds, CallsBindBothWays) {
  Kinds K(R"(
    define internal ptr @pick(ptr %p, i64 %i) {
      %q = getelementptr double, ptr %p, i64 %i
      ret ptr %q
    }
    define internal double @same(double %x) {
      ret double %x
    }
    define double @f(ptr %a) {
      %q = call ptr @pick(ptr %a, i64 3)
      %x = load double, ptr %q
      %y = call double @same(double %x)
      %z = fmul double %y, %y
      ret double %z
    })",
          {"f"});
  EXPECT_EQ(K.value("same", "x"), "0-8:f64");
  EXPECT_EQ(K.memory("f", "a", 8), "0-8:f64");
  EXPECT_EQ(K.value("pick", "i"), "0-8:int");
}

TEST(Kinds, VirtualCallsGoThroughTables) {
  Kinds K(R"(
    @vt = internal constant <{ [16 x i8], ptr, ptr }>
      <{ [16 x i8] zeroinitializer, ptr @area, ptr @count }>
    define internal double @area(ptr %self) {
      %r = load double, ptr %self
      %s = fmul double %r, %r
      ret double %s
    }
    define internal double @count(ptr %self, double %x) {
      ret double %x
    }
    define internal double @other(ptr %self) {
      %q = getelementptr i8, ptr %self, i64 8
      %n = load float, ptr %q
      %m = fadd float %n, 1.0
      ret double 0.0
    }
    @keep = global ptr @other
    define double @f(ptr %box) {
      %obj = alloca { ptr, ptr }
      store ptr %box, ptr %obj
      %slot = getelementptr i8, ptr %obj, i64 8
      store ptr @vt, ptr %slot
      %t = load ptr, ptr %slot
      %fnp = getelementptr i8, ptr %t, i64 16
      %fn = load ptr, ptr %fnp
      %r = call double %fn(ptr %box)
      ret double %r
    })",
          {"f"});
  EXPECT_EQ(K.memory("f", "box", 16), "0-8:f64");
}

TEST(Kinds, UnknownFunctionPointersReachAllOfTheirType) {
  Kinds K(R"(
    define internal double @a(double %x, ptr %p) {
      %y = load double, ptr %p
      %z = fmul double %x, %y
      ret double %z
    }
    @keep = global ptr @a
    define double @f(ptr %fn, i64 %x, ptr %q) {
      %d = bitcast i64 %x to double
      %r = call double %fn(double %d, ptr %q)
      ret double %r
    })",
          {"f"});
  EXPECT_EQ(K.value("f", "x"), "0-8:f64");
  EXPECT_EQ(K.memory("f", "q", 8), "0-8:f64");
}

TEST(Kinds, InitialisersHoldPointersButTheirTypesAreNoKinds) {
  Kinds K(R"(
    @data = internal global <{ [24 x i8] }> zeroinitializer
    @table = internal global <{ ptr, [8 x i8], double }>
       <{ ptr getelementptr (i8, ptr @data, i64 8), [8 x i8] zeroinitializer, double 1.0 }>
    define double @f() {
      %p = load ptr, ptr @table
      %x = load double, ptr %p
      %y = fadd double %x, 1.0
      ret double %y
    }
    define ptr @g() {
      %d = getelementptr i8, ptr @data, i64 0
      ret ptr %d
    }
    define ptr @h() {
      %t = getelementptr i8, ptr @table, i64 0
      ret ptr %t
    })");
  EXPECT_EQ(K.memory("g", "d", 24), "8-16:f64");
  EXPECT_EQ(K.memory("h", "t", 24), "0-8:ptr");
}

TEST(Kinds, IntegerOnlyObjects) {
  Kinds K(R"(
    define i64 @f(ptr %p) {
      %a = alloca [4 x i64]
      %b = alloca [16 x i8]
      %x = load i64, ptr %p
      %y = mul i64 %x, 3
      store i64 %y, ptr %a
      store i64 %y, ptr %b
      %q = getelementptr i8, ptr %b, i64 8
      %u = load i64, ptr %q
      ret i64 %u
    })");
  EXPECT_TRUE(K.A->onlyIntegers(K.at("f", "a")));
  EXPECT_FALSE(K.A->onlyIntegers(K.at("f", "b")));
  EXPECT_TRUE(K.A->onlyIntegers(K.at("f", "p")));
}

TEST(Kinds, KnownLibraryPrototypes) {
  Kinds K(R"(
    declare double @cos(double)
    declare double @mystery(double)
    declare double @llvm.fma.f64(double, double, double)
    declare i32 @printf(ptr, ...)
    define double @f(double %a, double %b, double %c, double %d, ptr %s) {
      %x = call double @cos(double %a)
      %y = call double @mystery(double %b)
      %z = call double @llvm.fma.f64(double %c, double 1.0, double 2.0)
      %n = call i32 (ptr, ...) @printf(ptr %s, double %d)
      ret double %y
    })");
  EXPECT_EQ(K.value("f", "a"), "0-8:f64");
  EXPECT_EQ(K.value("f", "b"), "");
  EXPECT_EQ(K.value("f", "y"), "");
  EXPECT_EQ(K.value("f", "c"), "0-8:f64");
  EXPECT_EQ(K.value("f", "z"), "0-8:f64");
  EXPECT_EQ(K.value("f", "d"), "0-8:f64");
}

TEST(Kinds, AllocationsAreFreshAtEachCall) {
  Kinds K(R"(
    declare noalias ptr @malloc(i64)
    declare noalias ptr @_RNvCsdBezzDwma51_7___rustc12___rust_alloc(i64, i64)
    define void @f(double %x, i64 %n) {
      %a = call ptr @malloc(i64 %n)
      %b = call ptr @malloc(i64 8)
      %c = call ptr @_RNvCsdBezzDwma51_7___rustc12___rust_alloc(i64 8, i64 8)
      %y = fadd double %x, 1.0
      store double %y, ptr %a
      %m = add i64 %n, 1
      store i64 %m, ptr %b
      store i64 %m, ptr %c
      ret void
    })");
  EXPECT_EQ(K.object("f", "a"), "f64");
  EXPECT_EQ(K.object("f", "b"), "int");
  EXPECT_EQ(K.object("f", "c"), "int");
}

TEST(Kinds, ManyFieldsCollapse) {
  std::string IR = "define void @f(ptr %p, double %x) {\n"
                   "%y = fadd double %x, 1.0\n";
  for (int I = 0; I != 600; ++I)
    IR += "%p" + std::to_string(I) + " = getelementptr i8, ptr %p, i64 " +
          std::to_string(16 * I) + "\n store double %y, ptr %p" +
          std::to_string(I) + "\n";
  IR += "ret void }";
  Kinds K(IR.c_str());
  EXPECT_EQ(K.memory("f", "p", 32), "0-32:f64");
}

TEST(Kinds, RecursiveStructures) {
  Kinds K(R"(
    define double @sum(ptr %n) {
    entry:
      %z = icmp eq ptr %n, null
      br i1 %z, label %done, label %more
    more:
      %v = load double, ptr %n
      %np = getelementptr i8, ptr %n, i64 8
      %next = load ptr, ptr %np
      %rest = call double @sum(ptr %next)
      %s = fadd double %v, %rest
      br label %done
    done:
      %r = phi double [ 0.0, %entry ], [ %s, %more ]
      ret double %r
    })");
  EXPECT_EQ(K.memory("sum", "n", 16), "0-8:f64 8-16:ptr");
  EXPECT_EQ(K.memory("sum", "next", 16), "0-8:f64 8-16:ptr");
}

// What a shared function does is copied for each of its calls.
TEST(Kinds, CallersOfOneFunctionStayApart) {
  Kinds K(R"(
    define internal void @swap(ptr %a, ptr %b) {
      %x = load i64, ptr %a
      %y = load i64, ptr %b
      store i64 %y, ptr %a
      store i64 %x, ptr %b
      ret void
    }
    define double @f(ptr %p, ptr %q) {
      call void @swap(ptr %p, ptr %q)
      %x = load double, ptr %p
      %y = fadd double %x, 1.0
      ret double %y
    }
    define i64 @g(ptr %p, ptr %q) {
      call void @swap(ptr %p, ptr %q)
      %x = load i64, ptr %p
      %y = mul i64 %x, 3
      ret i64 %y
    })");
  EXPECT_EQ(K.memory("f", "q", 8), "0-8:f64");
  EXPECT_EQ(K.memory("g", "q", 8), "0-8:int");
  EXPECT_EQ(K.value("swap", "x"), "0-8:int|f64");
  EXPECT_EQ(K.memory("swap", "b", 8), "0-8:int|f64");
}

TEST(Kinds, CallersSayWhatElseIsInTheObject) {
  Kinds K(R"(
    define internal i64 @tag(ptr %o) {
      %t = load i64, ptr %o
      %u = add i64 %t, 1
      ret i64 %u
    }
    define void @f(ptr %o, double %x) {
      %p = getelementptr i8, ptr %o, i64 8
      %y = fadd double %x, 1.0
      store double %y, ptr %p
      %t = call i64 @tag(ptr %o)
      ret void
    })");
  EXPECT_EQ(K.memory("tag", "o", 16), "0-8:int 8-16:f64");
  EXPECT_FALSE(K.A->onlyIntegers(K.at("tag", "o")));
}

TEST(Kinds, ReachableFloats) {
  Kinds K(R"(
    define double @f(ptr %p, ptr %i, ptr %l) {
      %q = load ptr, ptr %p
      %x = load double, ptr %q
      %y = fadd double %x, 1.0
      %a = load i64, ptr %i
      %b = add i64 %a, 1
      store i64 %b, ptr %i
      %m = load ptr, ptr %l
      store ptr %i, ptr %m
      ret double %y
    })");
  EXPECT_TRUE(K.A->mayReachFloats(K.at("f", "p")));
  EXPECT_FALSE(K.A->mayReachFloats(K.at("f", "i")));
  EXPECT_FALSE(K.A->mayReachFloats(K.at("f", "l")));
}

TEST(Kinds, AnIntegerThatIsHeldAsADoubleIsUnknown) {
  Kinds K(R"(
    define internal void @mix(ptr %a) {
      %x = load i64, ptr %a
      %y = mul i64 %x, 3
      store i64 %y, ptr %a
      %d = load double, ptr %a
      store double %d, ptr %a
      ret void
    })");
  EXPECT_EQ(K.value("mix", "x"), "");
  EXPECT_FALSE(K.A->onlyIntegers(K.at("mix", "a")));
}

} // namespace
