// The runtime as IR: it fits into any module, whatever that says about malloc.
#include "ad/runtime/RuntimeLibrary.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

static std::string text(const Module &M) {
  std::string S;
  raw_string_ostream(S) << M;
  return S;
}

static std::unique_ptr<Module> parse(LLVMContext &Ctx, StringRef IR) {
  SMDiagnostic Error;
  std::unique_ptr<Module> M = parseAssemblyString(IR, Error, Ctx);
  if (!M)
    Error.print("test", errs());
  return M;
}

TEST(RuntimeLibrary, ComesAndGoesWithoutATrace) {
  LLVMContext Ctx;
  auto M = parse(Ctx, "define void @f() {\n ret void\n}");
  std::string Was = text(*M);
  RuntimeLibrary Runtime(*M);
  for (const char *Name :
       {"adjoin_rt_init", "adjoin_rt_finish", "adjoin_rt_push", "adjoin_rt_pop",
        "adjoin_rt_shadow_read", "adjoin_rt_shadow_write",
        "adjoin_rt_shadow_read_pointer", "adjoin_rt_shadow_clear",
        "adjoin_rt_shadow_copy", "adjoin_rt_shadow_fill", "adjoin_rt_abort"})
    EXPECT_TRUE(Runtime.get(Name)->hasInternalLinkage());
  EXPECT_FALSE(verifyModule(*M, &errs()));
  for (const Function &F : *M)
    for (Attribute A : F.getAttributes().getFnAttrs())
      EXPECT_FALSE(A.isStringAttribute()) << A.getAsString();
  EXPECT_EQ(text(*M).find("tbaa"), std::string::npos);
  Runtime.eraseUnused();
  EXPECT_EQ(text(*M), Was);
}

TEST(RuntimeLibrary, KeepsWhatIsUsed) {
  LLVMContext Ctx;
  auto M = parse(Ctx, "declare void @g(ptr)");
  RuntimeLibrary Runtime(*M);
  Function *F =
      Function::Create(FunctionType::get(PointerType::getUnqual(Ctx), false),
                       GlobalValue::ExternalLinkage, "f", *M);
  IRBuilder<> B(BasicBlock::Create(Ctx, "", F));
  Value *Null = ConstantPointerNull::get(B.getPtrTy());
  B.CreateRet(
      B.CreateCall(Runtime.get("adjoin_rt_push"), {Null, B.getInt64(8)}));
  Runtime.eraseUnused();
  EXPECT_FALSE(verifyModule(*M, &errs()));
  EXPECT_TRUE(M->getFunction("adjoin_rt_push"));
  EXPECT_FALSE(M->getFunction("adjoin_rt_shadow_copy"));
  EXPECT_TRUE(M->getFunction("malloc"));
  EXPECT_FALSE(M->getFunction("calloc"));
  EXPECT_EQ(Runtime.get("adjoin_rt_push"), M->getFunction("adjoin_rt_push"));
}

TEST(RuntimeLibrary, NamesMeanWhatTheProgramMeans) {
  LLVMContext Ctx;
  auto M = parse(Ctx, R"(
    @write = external global i32
    @free = alias void (ptr), ptr @drop
    define void @drop(ptr %p) { 
      ret void
    }
    define weak i32 @malloc(i32 %n) {
      ret i32 %n
    }
    define internal void @calloc() {
      ret void
    }
    define internal void @adjoin_rt_push() {
      call void @calloc()
      ret void
    })");
  Function *Static = M->getFunction("calloc");
  Function *Old = M->getFunction("adjoin_rt_push");
  RuntimeLibrary Runtime(*M);
  EXPECT_NE(Runtime.get("adjoin_rt_push"), Old);
  EXPECT_FALSE(verifyModule(*M, &errs())) << text(*M);
  EXPECT_EQ(M->getFunction("malloc")->getNumUses(), 1U);
  EXPECT_TRUE(M->getNamedAlias("free"));
  ASSERT_TRUE(M->getFunction("calloc"));
  EXPECT_NE(M->getFunction("calloc"), Static);
  EXPECT_TRUE(M->getFunction("calloc")->isDeclaration());
  EXPECT_EQ(Static->getNumUses(), 1U);
}
