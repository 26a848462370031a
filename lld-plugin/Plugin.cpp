// The entry of the pass plugin: where LLD and opt meet Adjoin.
#include "Link.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace adjoin;

// Not in every version: the plugin may find itself in another one.
extern "C" __attribute__((weak)) void
LLVMGetVersion(unsigned *Major, unsigned *Minor, unsigned *Patch);

namespace {

struct AdjoinPass : PassInfoMixin<AdjoinPass> {
  PassBuilder &PB;
  StringRef Notes;
  AdjoinPass(PassBuilder &PB, StringRef Notes) : PB(PB), Notes(Notes) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    return runOnModule(M, PB, MAM, Options::ofProcess(), Notes)
               ? PreservedAnalyses::none()
               : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

struct RefusePass : PassInfoMixin<RefusePass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    refuseMarkers(M, Options::ofProcess(), "ld.lld: ");
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

} // namespace

static void registerCallbacks(PassBuilder &PB) {
  unsigned Major = 0, Minor = 0, Patch = 0;
  if (LLVMGetVersion)
    LLVMGetVersion(&Major, &Minor, &Patch);
  if (Major != LLVM_VERSION_MAJOR) {
    errs() << "adjoin: error: this is a plugin for LLVM " << LLVM_VERSION_MAJOR
           << ", it was loaded into LLVM ";
    if (Major)
      errs() << Major << "." << Minor << "." << Patch << "\n";
    else
      errs() << "older than 16\n";
    exit(1);
  }
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(
      [&PB](ModulePassManager &MPM, OptimizationLevel) {
        MPM.addPass(AdjoinPass(PB, "ld.lld: "));
      });
  PB.registerPipelineEarlySimplificationEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase Phase) {
        if (Phase == ThinOrFullLTOPhase::ThinLTOPostLink)
          MPM.addPass(RefusePass());
      });
  PB.registerPipelineParsingCallback(
      [&PB](StringRef Name, ModulePassManager &MPM,
            ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "adjoin")
          return false;
        MPM.addPass(AdjoinPass(PB, ""));
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "adjoin", LLVM_VERSION_STRING,
          registerCallbacks};
}
