// Diagnostics as values: places, names and notes.
#include "ad/Diagnostic.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace adjoin;

TEST(Diagnostic, NamesAreDemangledAndWithoutSuffix) {
  LLVMContext C;
  SMDiagnostic E;
  auto M = parseAssemblyString(R"(
    define void @_ZN5alpha4betaEd(double %x) { ret void }
    define void @"energy.adjoin.fwd"() { ret void }
    define void @_ZN4phys6energy17h0123456789abcdefE() { ret void }
  )",
                               E, C);
  ASSERT_TRUE(M);
  EXPECT_EQ(quotedName(*M->getFunction("_ZN5alpha4betaEd")),
            "'alpha::beta(double)'");
  EXPECT_EQ(quotedName(*M->getFunction("energy.adjoin.fwd")), "'energy'");
  EXPECT_EQ(quotedName(*M->getFunction("_ZN4phys6energy17h0123456789abcdefE")),
            "'phys::energy'");
}

TEST(Diagnostic, NotesFollowTheMessage) {
  LLVMContext C;
  SMDiagnostic SM;
  auto M = parseAssemblyString("define void @f() { ret void }", SM, C);
  ASSERT_TRUE(M);
  Error E = diagnose(*M->getFunction("f"), "cannot do this");
  E = withNote(std::move(E), "needed for that");
  EXPECT_EQ(toString(std::move(E)),
            "'f': cannot do this\nnote: needed for that");
}
