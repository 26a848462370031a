// Which row an instruction or a call has, what calls are, and the shape of what
// partials emit.
#include "ad/rules/Calls.h"
#include "ad/rules/ParsedRow.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

namespace {

struct Parsed {
  LLVMContext Context;
  std::unique_ptr<Module> M;

  explicit Parsed(const Twine &Text) {
    SMDiagnostic Error;
    M = parseAssemblyString(Text.str(), Error, Context);
    if (!M)
      ADD_FAILURE() << Error.getMessage().str() << "\n" << Text.str();
  }
  /// The first instruction of the function "f".
  Instruction &first() { return *instructions(M->getFunction("f")).begin(); }
};

std::string rowOf(const Twine &Line, const Twine &Declarations = "") {
  Parsed P(Declarations +
           "\ndefine void @f(double %x, double %y, float %a, "
           "x86_fp80 %l, fp128 %q, i32 %n, <2 x double> %v, "
           "ptr %p) {\n" +
           Line + "\nret void\n}\n");
  if (!P.M)
    return "?";
  const ScalarRule *Rule = scalarRuleFor(P.first());
  return Rule ? Rule->Name.str() : "none";
}

TEST(RuleLookup, Instructions) {
  EXPECT_EQ(rowOf("%r = fadd double %x, %y"), "fadd");
  EXPECT_EQ(rowOf("%r = fneg <2 x double> %v"), "fneg");
  EXPECT_EQ(rowOf("%r = frem double %x, %y"), "fmod");
  EXPECT_EQ(rowOf("%r = fptrunc double %x to float"), "fptrunc");
  EXPECT_EQ(rowOf("%r = fpext float %a to double"), "fpext");
  EXPECT_EQ(rowOf("%r = fcmp olt double %x, %y"), "none");
  EXPECT_EQ(rowOf("%r = sitofp i32 %n to double"), "none");
  EXPECT_EQ(rowOf("%r = add i32 %n, %n"), "none");
}

TEST(RuleLookup, Intrinsics) {
  EXPECT_EQ(rowOf("%r = call double @llvm.sin.f64(double %x)"), "sin");
  EXPECT_EQ(rowOf("%r = call <2 x double> @llvm.sqrt.v2f64(<2 x double> %v)"),
            "sqrt");
  EXPECT_EQ(rowOf("%r = call double @llvm.fmuladd.f64(double %x, double %y, "
                  "double %x)"),
            "fma");
  EXPECT_EQ(rowOf("%r = call double @llvm.minnum.f64(double %x, double %y)"),
            "fmin");
  EXPECT_EQ(rowOf("%r = call double @llvm.maximum.f64(double %x, double %y)"),
            "fmaximum");
  EXPECT_EQ(rowOf("%r = call double @llvm.powi.f64.i32(double %x, i32 %n)"),
            "powi");
  EXPECT_EQ(rowOf("%r = call double @llvm.ldexp.f64.i32(double %x, i32 %n)"),
            "ldexp");
  EXPECT_EQ(rowOf("%r = call double @llvm.experimental.constrained.fmul.f64("
                  "double %x, double %y, metadata !\"round.dynamic\", metadata "
                  "!\"fpexcept.strict\")"),
            "fmul");
  EXPECT_EQ(rowOf("%r = call float @llvm.experimental.constrained.fptrunc.f32."
                  "f64(double %x, metadata !\"round.dynamic\", metadata "
                  "!\"fpexcept.strict\")"),
            "fptrunc");
  EXPECT_EQ(rowOf("%r = call i32 @llvm.bswap.i32(i32 %n)"), "none");
}

TEST(RuleLookup, LibmInEveryPrecision) {
  EXPECT_EQ(
      rowOf("%r = call double @erf(double %x)", "declare double @erf(double)"),
      "erf");
  EXPECT_EQ(
      rowOf("%r = call float @erff(float %a)", "declare float @erff(float)"),
      "erf");
  EXPECT_EQ(rowOf("%r = call x86_fp80 @erfl(x86_fp80 %l)",
                  "declare x86_fp80 @erfl(x86_fp80)"),
            "erf");
  EXPECT_EQ(rowOf("%r = call fp128 @erff128(fp128 %q)",
                  "declare fp128 @erff128(fp128)"),
            "erf");
  EXPECT_EQ(rowOf("%r = call x86_fp80 @erff64x(x86_fp80 %l)",
                  "declare x86_fp80 @erff64x(x86_fp80)"),
            "erf");
  EXPECT_EQ(rowOf("%r = call double @__exp_finite(double %x)",
                  "declare double @__exp_finite(double)"),
            "exp");
  EXPECT_EQ(rowOf("%r = call float @__expf_finite(float %a)",
                  "declare float @__expf_finite(float)"),
            "exp");
  EXPECT_EQ(rowOf("%r = call double @jn(i32 %n, double %x)",
                  "declare double @jn(i32, double)"),
            "jn");
  EXPECT_EQ(rowOf("%r = call double @scalbln(double %x, i64 3)",
                  "declare double @scalbln(double, i64)"),
            "ldexp");
  EXPECT_EQ(rowOf("%r = call <2 x double> @_ZGVbN2v_sin(<2 x double> %v)",
                  "declare <2 x double> @_ZGVbN2v_sin(<2 x double>)"),
            "sin");
  EXPECT_EQ(rowOf("%r = call double @nexttoward(double %x, x86_fp80 %l)",
                  "declare double @nexttoward(double, x86_fp80)"),
            "nexttoward");
}

TEST(RuleLookup, OthersOfThatName) {
  // Precision and suffix must agree, and so must the signature.
  EXPECT_EQ(rowOf("%r = call double @erff(double %x)",
                  "declare double @erff(double)"),
            "none");
  EXPECT_EQ(rowOf("%r = call double @sin(double %x, double %y)",
                  "declare double @sin(double, double)"),
            "none");
  EXPECT_EQ(rowOf("%r = call double @exp(i32 %n)", "declare double @exp(i32)"),
            "none");
  // A row of an instruction is no function of C.
  EXPECT_EQ(rowOf("%r = call double @fadd(double %x, double %y)",
                  "declare double @fadd(double, double)"),
            "none");
  EXPECT_EQ(rowOf("%r = call double @minimum(double %x, double %y)",
                  "declare double @minimum(double, double)"),
            "none");
  // The user's own: local, or a name that C leaves to users.
  EXPECT_EQ(rowOf("%r = call double @erf(double %x)",
                  "define internal double @erf(double %x) { ret double %x }"),
            "none");
  EXPECT_EQ(rowOf("%r = call double @y1(double %x)",
                  "define double @y1(double %x) { ret double %x }"),
            "none");
  EXPECT_EQ(
      rowOf("%r = call double @y1(double %x)", "declare double @y1(double)"),
      "y1");
  // A libm as bitcode.
  EXPECT_EQ(rowOf("%r = call double @exp(double %x)",
                  "define double @exp(double %x) { ret double %x }"),
            "exp");
}

TEST(RuleLookup, Names) {
  EXPECT_EQ(scalarRuleNamed("log1p")->Name, "log1p");
  EXPECT_EQ(scalarRuleNamed("scalbn")->Name, "ldexp");
  EXPECT_EQ(scalarRuleNamed("maxnum")->Name, "fmax");
  EXPECT_EQ(scalarRuleNamed("llvm.fmuladd")->Name, "fma");
  EXPECT_EQ(scalarRuleNamed("fmul")->Name, "fmul");
  EXPECT_EQ(scalarRuleNamed("no such function"), nullptr);
}

TEST(RowLanguage, Mistakes) {
  auto Mistake = [](StringRef Text) {
    std::string Error;
    EXPECT_FALSE(RowFormula::parse(Text, "xy", Error)) << Text.str();
    return Error;
  };
  EXPECT_EQ(Mistake("z"), "unknown name 'z' before ''");
  EXPECT_EQ(Mistake("x +"), "the formula ends early before ''");
  EXPECT_EQ(Mistake("(x"), "expected ')' before ''");
  EXPECT_EQ(Mistake("x ? y"), "expected ':' before ''");
  EXPECT_EQ(Mistake("x y"), "text after the end of the formula before 'y'");
  EXPECT_EQ(Mistake("x # y"), "text after the end of the formula before '# y'");
}

TEST(RowLanguage, EveryRowHasItsPartials) {
  for (const ScalarRule &Rule : scalarRules()) {
    const ParsedRow &Row = parsedRow(Rule);
    for (unsigned I = 0; I != Rule.Operands; ++I)
      EXPECT_TRUE(Row.Partial[I]) << Rule.Name.str();
    EXPECT_LE(Rule.Operands, 3U);
  }
}

// Calls.

CallClass classOf(const Twine &Line, const Twine &Declarations = "") {
  Parsed P(Declarations +
           "\ndefine void @f(double %x, i64 %s, ptr %p, ptr %q) {\n" + Line +
           "\nret void\n}\n");
  if (!P.M)
    return CallClass();
  RuleBook Rules;
  CallClass C = classifyCall(cast<CallBase>(P.first()), Rules);
  return C;
}

TEST(Calls, Allocators) {
  CallClass C =
      classOf("%r = call ptr @malloc(i64 %s)", "declare ptr @malloc(i64)");
  EXPECT_EQ(C.K, CallClass::Allocate);
  EXPECT_EQ(C.SizeArg, 0);
  EXPECT_FALSE(C.ZeroedMemory);
  C = classOf("%r = call ptr @calloc(i64 %s, i64 8)",
              "declare ptr @calloc(i64, i64)");
  EXPECT_EQ(C.K, CallClass::Allocate);
  EXPECT_EQ(C.SizeArg2, 1);
  EXPECT_TRUE(C.ZeroedMemory);
  C = classOf("%r = call i32 @posix_memalign(ptr %p, i64 64, i64 %s)",
              "declare i32 @posix_memalign(ptr, i64, i64)");
  EXPECT_EQ(C.K, CallClass::Allocate);
  EXPECT_EQ(C.PointerArg, 0);
  EXPECT_EQ(C.SizeArg, 2);
  C = classOf("%r = call ptr @realloc(ptr %p, i64 %s)",
              "declare ptr @realloc(ptr, i64)");
  EXPECT_EQ(C.K, CallClass::Reallocate);
  EXPECT_EQ(C.PointerArg, 0);
  EXPECT_EQ(C.SizeArg, 1);
  for (const char *Name :
       {"_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnwmRKSt9nothrow_t",
        "_ZnamSt11align_val_tRKSt9nothrow_t"}) {
    C = classOf(Twine("%r = call ptr @") + Name + "(i64 %s)",
                Twine("declare ptr @") + Name + "(i64)");
    EXPECT_EQ(C.K, CallClass::Allocate) << Name;
    EXPECT_EQ(C.SizeArg, 0) << Name;
  }
  for (const char *Name : {"_ZdlPv", "_ZdaPv", "_ZdlPvm", "free",
                           "_ZdlPvmSt11align_val_t", "_ZdlPvRKSt9nothrow_t"}) {
    C = classOf(Twine("call void @") + Name + "(ptr %p)",
                Twine("declare void @") + Name + "(ptr)");
    EXPECT_EQ(C.K, CallClass::Free) << Name;
    EXPECT_EQ(C.PointerArg, 0) << Name;
  }
}

TEST(Calls, RustAllocators) {
  for (const char *Name :
       {"__rust_alloc", "_RNvCs5RnGFTlCI8J_7___rustc12___rust_alloc"}) {
    // Defined, local and fastcc, as fat LTO delivers it.
    CallClass C =
        classOf(Twine("%r = call fastcc ptr @") + Name + "(i64 %s, i64 8)",
                Twine("define internal fastcc ptr @") + Name +
                    "(i64 %s, i64 %a) { ret ptr null }");
    EXPECT_EQ(C.K, CallClass::Allocate) << Name;
    EXPECT_EQ(C.SizeArg, 0) << Name;
  }
  CallClass C = classOf(
      "%r = call ptr @_RNvCs5_7___rustc14___rust_realloc(ptr %p, i64 1, i64 8, "
      "i64 %s)",
      "declare ptr @_RNvCs5_7___rustc14___rust_realloc(ptr, i64, i64, i64)");
  EXPECT_EQ(C.K, CallClass::Reallocate);
  EXPECT_EQ(C.SizeArg, 3);
  C = classOf("call void @_RNvCs5_7___rustc14___rust_dealloc(ptr %p, i64 1, "
              "i64 8)",
              "declare void @_RNvCs5_7___rustc14___rust_dealloc(ptr, i64, "
              "i64)");
  EXPECT_EQ(C.K, CallClass::Free);
}

TEST(Calls, AllocatorsByAttribute) {
  CallClass C =
      classOf("%r = call ptr @pool_get(ptr %p, i64 %s)",
              "declare ptr @pool_get(ptr, i64) allockind(\"alloc,zeroed\") "
              "allocsize(1) \"alloc-family\"=\"pool\"");
  EXPECT_EQ(C.K, CallClass::Allocate);
  EXPECT_EQ(C.SizeArg, 1);
  EXPECT_TRUE(C.ZeroedMemory);
  C = classOf("call void @pool_put(ptr %p, ptr %q)",
              "declare void @pool_put(ptr, ptr allocptr) allockind(\"free\") "
              "\"alloc-family\"=\"pool\"");
  EXPECT_EQ(C.K, CallClass::Free);
  EXPECT_EQ(C.PointerArg, 1);
}

TEST(Calls, Memory) {
  CallClass C = classOf(
      "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %s, i1 false)");
  EXPECT_EQ(C.K, CallClass::Transfer);
  EXPECT_EQ(C.PointerArg, 0);
  EXPECT_EQ(C.SourceArg, 1);
  EXPECT_EQ(C.SizeArg, 2);
  C = classOf("call void @bcopy(ptr %q, ptr %p, i64 %s)",
              "declare void @bcopy(ptr, ptr, i64)");
  EXPECT_EQ(C.K, CallClass::Transfer);
  EXPECT_EQ(C.PointerArg, 1);
  EXPECT_EQ(C.SourceArg, 0);
  C = classOf("call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %s, i1 false)");
  EXPECT_EQ(C.K, CallClass::Fill);
  EXPECT_EQ(C.SourceArg, 1);
  C = classOf("%r = call i64 @fread(ptr %p, i64 8, i64 %s, ptr %q)",
              "declare i64 @fread(ptr, i64, i64, ptr)");
  EXPECT_EQ(C.K, CallClass::Fill);
  EXPECT_EQ(C.SourceArg, -1);
  EXPECT_EQ(C.SizeArg2, 2);
}

TEST(Calls, WithoutDerivative) {
  EXPECT_EQ(classOf("%r = call i32 (ptr, ...) @printf(ptr %p, double %x)",
                    "declare i32 @printf(ptr, ...)")
                .K,
            CallClass::Inactive);
  EXPECT_EQ(classOf("%r = call ptr @_ZNSo9_M_insertIdEERSoT_(ptr %p, double "
                    "%x)",
                    "declare ptr @_ZNSo9_M_insertIdEERSoT_(ptr, double)")
                .K,
            CallClass::Inactive);
  EXPECT_EQ(
      classOf("call void @_ZN4core3fmt5write17h0123456789abcdefE(ptr %p)",
              "define void @_ZN4core3fmt5write17h0123456789abcdefE(ptr %p) { "
              "ret void }")
          .K,
      CallClass::Inactive);
  EXPECT_EQ(classOf("call void @_RNvNtCs1_4core3fmt5write(ptr %p)",
                    "declare void @_RNvNtCs1_4core3fmt5write(ptr)")
                .K,
            CallClass::Inactive);
  EXPECT_EQ(classOf("%r = call double @strtod(ptr %p, ptr %q)",
                    "declare double @strtod(ptr, ptr)")
                .K,
            CallClass::Inactive);
  EXPECT_EQ(classOf("call void @llvm.lifetime.start.p0(ptr %p)",
                    "declare void @llvm.lifetime.start.p0(ptr)\n"
                    "define void @g() { %a = alloca i8\n ret void }")
                .K,
            CallClass::Inactive);
  EXPECT_EQ(
      classOf("%r = call i64 @lround(double %x)", "declare i64 @lround(double)")
          .K,
      CallClass::Inactive);
}

TEST(Calls, NeverWithoutDerivative) {
  // They move pointers or write floats.
  for (const char *Name :
       {"qsort", "scanf", "sscanf", "fscanf", "_ZNSi10_M_extractIdEERSiRT_",
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        "_ZNSt8__detail15_List_node_base7_M_hookEPS0_", "bsearch", "lfind",
        "pthread_create"}) {
    CallClass C = classOf(Twine("call void @") + Name + "(ptr %p, ptr %q)",
                          Twine("declare void @") + Name + "(ptr, ptr)");
    EXPECT_EQ(C.K, CallClass::Unknown) << Name;
  }
  // A body says itself what it does, whatever its name.
  EXPECT_EQ(classOf("%r = call double @time(double %x)",
                    "define double @time(double %x) { ret double %x }")
                .K,
            CallClass::Derive);
}

TEST(Calls, Others) {
  EXPECT_EQ(classOf("call void %p()").K, CallClass::Indirect);
  EXPECT_EQ(classOf("call void asm sideeffect \"nop\", \"\"()").K,
            CallClass::Assembly);
  EXPECT_EQ(classOf("call void @panic() noreturn", "declare void @panic()").K,
            CallClass::NoReturn);
  EXPECT_EQ(classOf("call void @abort()", "declare void @abort()").K,
            CallClass::NoReturn);
  EXPECT_EQ(classOf("call void @_ZSt24__throw_out_of_range_fmtPKcz(ptr %p)",
                    "declare void @_ZSt24__throw_out_of_range_fmtPKcz(ptr)")
                .K,
            CallClass::NoReturn);
  EXPECT_EQ(classOf("call void @llvm.trap()").K, CallClass::NoReturn);
  EXPECT_EQ(
      classOf("call void @foreign(ptr %p)", "declare void @foreign(ptr)").K,
      CallClass::Unknown);
  CallClass C = classOf("call void @sincos(double %x, ptr %p, ptr %q)",
                        "declare void @sincos(double, ptr, ptr)");
  EXPECT_EQ(C.K, CallClass::Multi);
  EXPECT_EQ(C.Several->Name, "sincos");
  C = classOf("%r = call {double, i32} @llvm.frexp.f64.i32(double %x)");
  EXPECT_EQ(C.K, CallClass::Multi);
  C = classOf("%r = call double @sin(double %x)",
              "declare double @sin(double)");
  EXPECT_EQ(C.K, CallClass::Scalar);
  EXPECT_EQ(C.Rule->Name, "sin");
}

TEST(Calls, RegistrationsWin) {
  Parsed P("define double @g(double %x) { ret double %x }\n"
           "define void @f(double %x) { %r = call double @g(double %x)\n"
           "ret void }");
  auto &Call = cast<CallBase>(P.first());
  const Function *G = P.M->getFunction("g");
  RuleBook Rules;
  EXPECT_EQ(classifyCall(Call, Rules).K, CallClass::Derive);
  EXPECT_FALSE(Rules.hasRule(*G));
  Rules.Inactive.insert(G);
  EXPECT_EQ(classifyCall(Call, Rules).K, CallClass::Inactive);
  EXPECT_TRUE(Rules.hasRule(*G));
  Rules.FunctionLike[G] = "log1p";
  EXPECT_EQ(classifyCall(Call, Rules).K, CallClass::Scalar);
  EXPECT_EQ(classifyCall(Call, Rules).Rule->Name, "log1p");
  Rules.Custom[G] = CustomRule();
  EXPECT_EQ(classifyCall(Call, Rules).K, CallClass::Custom);
}

// The shape of what is emitted.

/// Emits push of operand \p I of the last operation of @f, with the function's
/// last argument as the tangent, and returns it.
struct Emitted : Parsed {
  SmallVector<Instruction *, 8> New;
  Value *Result = nullptr;

  Emitted(const Twine &Text, unsigned I, bool StrongZero = true)
      : Parsed(Text) {
    Function *F = M->getFunction("f");
    Instruction *Ret = F->getEntryBlock().getTerminator();
    Instruction *Primal = Ret->getPrevNode();
    SmallVector<Value *, 4> Operands(
        isa<CallBase>(Primal)
            ? SmallVector<Value *, 4>(cast<CallBase>(Primal)->args())
            : SmallVector<Value *, 4>(Primal->operands()));
    SmallPtrSet<Instruction *, 16> Before;
    for (Instruction &Old : instructions(F))
      Before.insert(&Old);
    IRBuilder<> B(Ret);
    LinearMap Map(*scalarRuleFor(*Primal), *Primal, Operands, Primal, 1,
                  StrongZero);
    Result = Map.push(B, I, F->getArg(F->arg_size() - 1));
    for (Instruction &Now : instructions(F))
      if (!Before.contains(&Now))
        New.push_back(&Now);
    EXPECT_FALSE(verifyModule(*M, &errs()));
  }
  unsigned count(StringRef Name) const {
    return count_if(New, [&](Instruction *I) {
      auto *Call = dyn_cast<CallInst>(I);
      return Call ? Call->getCalledFunction()->getName().contains(Name)
                  : I->getOpcodeName() == Name;
    });
  }
};

Emitted emit(const Twine &Body, unsigned I = 0, bool StrongZero = true) {
  return {"define void @f(double %x, double %y, double %t) {\n" + Body +
              "\nret void\n}\n",
          I, StrongZero};
}

TEST(Emission, ZeroStaysZeroOnlyWhereNeeded) {
  EXPECT_EQ(emit("%r = call double @llvm.sqrt.f64(double %x)").count("select"),
            1U);
  EXPECT_EQ(emit("%r = call double @llvm.sqrt.f64(double %x)", 0, false)
                .count("select"),
            0U);
  for (const char *Argument :
       {"%s = fmul double %x, %x\n%a = fadd double %s, 1.0",
        "%s = call double @llvm.exp.f64(double %x)\n%a = fadd double 1.0, %s",
        "%s = fmul double %x, %x\n%u = fmul double %y, %y\n"
        "%v = fadd double %s, %u\n%a = fadd double %v, 1.0e-12",
        "%a = call double @llvm.fmuladd.f64(double %x, double %x, double 1.0)",
        "%a = call double @llvm.cosh.f64(double %x)",
        "%s = call double @llvm.fabs.f64(double %x)\n"
        "%a = fadd double %s, 0.5"})
    EXPECT_EQ(
        emit(Twine(Argument) + "\n%r = call double @llvm.sqrt.f64(double %a)")
            .count("select"),
        0U)
        << Argument;
  // These can be zero: a square, an exponential that underflows.
  for (const char *Argument :
       {"%a = fmul double %x, %x", "%a = call double @llvm.exp.f64(double %x)",
        "%a = fadd double %x, 1.0"})
    EXPECT_EQ(
        emit(Twine(Argument) + "\n%r = call double @llvm.sqrt.f64(double %a)")
            .count("select"),
        1U)
        << Argument;
  EXPECT_EQ(emit("%r = call double @llvm.pow.f64(double %x, double 2.5)")
                .count("select"),
            0U);
  EXPECT_EQ(emit("%r = call double @llvm.pow.f64(double %x, double 0.5)")
                .count("select"),
            1U);
  EXPECT_EQ(emit("%r = fdiv double %x, %y").count("select"), 0U);
}

TEST(Emission, ConstantExponents) {
  auto Pow = [](const char *Exponent) {
    return emit(Twine("%r = call double @llvm.pow.f64(double %x, double ") +
                Exponent + ")");
  };
  EXPECT_EQ(Pow("3.0").count("llvm.pow"), 0U);
  EXPECT_EQ(Pow("3.0").New.size(), 3U); // 3 * (x * x) * t
  EXPECT_EQ(Pow("2.0").New.size(), 2U);
  EXPECT_EQ(Pow("1.0").New.size(), 0U);
  EXPECT_EQ(Pow("0.0").New.size(), 0U);
  EXPECT_EQ(Pow("1.5").count("llvm.sqrt"), 1U);
  EXPECT_EQ(Pow("1.5").count("llvm.pow"), 0U);
  EXPECT_EQ(Pow("2.3").count("llvm.pow"), 1U);
}

TEST(Emission, UnitPartialsNeedNoProduct) {
  EXPECT_EQ(emit("%r = fadd double %x, %y").New.size(), 0U);
  EXPECT_EQ(emit("%r = fsub double %x, %y", 1).New.size(), 1U);
  EXPECT_EQ(emit("%r = call double @llvm.maxnum.f64(double %x, double %y)")
                .count("fmul"),
            0U);
}

TEST(Emission, FlagsComeFromThePrimal) {
  Emitted E = emit("%r = fmul fast double %x, %y");
  ASSERT_EQ(E.New.size(), 1U);
  FastMathFlags Flags = E.New[0]->getFastMathFlags();
  EXPECT_TRUE(Flags.allowReassoc() && Flags.allowContract() &&
              Flags.allowReciprocal() && Flags.approxFunc() &&
              Flags.noSignedZeros());
  EXPECT_FALSE(Flags.noNaNs() || Flags.noInfs());
  EXPECT_FALSE(
      emit("%r = fmul double %x, %y").New[0]->getFastMathFlags().any());
}

TEST(Emission, LibmCallsMerge) {
  Emitted E("declare double @j0(double)\n"
            "define void @f(double %x, double %t) {\n"
            "%r = call double @j0(double %x)\nret void }",
            0);
  ASSERT_EQ(E.count("j1"), 1U);
  for (Instruction *I : E.New)
    if (auto *Call = dyn_cast<CallInst>(I)) {
      EXPECT_TRUE(Call->doesNotAccessMemory());
      EXPECT_TRUE(Call->doesNotThrow());
      EXPECT_TRUE(Call->hasFnAttr(Attribute::WillReturn));
    }
}

TEST(Emission, TheUsersOwnFunctionMakesWay) {
  Emitted E("declare double @j0(double)\n"
            "define internal double @j1(double %x) { ret double 0.0 }\n"
            "define void @f(double %x, double %t) {\n"
            "%r = call double @j0(double %x)\nret void }",
            0);
  const Function *J1 = E.M->getFunction("j1");
  ASSERT_TRUE(J1);
  EXPECT_TRUE(J1->isDeclaration());
}

TEST(Emission, StrictFloatingPoint) {
  Emitted E("define void @f(double %x, double %t) strictfp {\n"
            "%r = call double @llvm.experimental.constrained.sin.f64(double "
            "%x, metadata !\"round.upward\", metadata !\"fpexcept.strict\") "
            "strictfp\nret void }",
            0);
  ASSERT_FALSE(E.New.empty());
  for (Instruction *I : E.New) {
    auto *Op = dyn_cast<ConstrainedFPIntrinsic>(I);
    ASSERT_TRUE(Op);
    EXPECT_EQ(Op->getRoundingMode(), RoundingMode::TowardPositive);
    EXPECT_EQ(Op->getExceptionBehavior(), fp::ebIgnore);
  }
}

} // namespace
