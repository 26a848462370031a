// What happens to one module: from markers and registrations to code.
#ifndef ADJOIN_LLDPLUGIN_LINK_H
#define ADJOIN_LLDPLUGIN_LINK_H

#include "Options.h"
#include "llvm/Passes/PassBuilder.h"

namespace adjoin {

/// Replaces all markers of \p M by derivatives. \p Notes is what stands before
/// a note in a diagnostic: "ld.lld: ". Returns whether the module was changed.
bool runOnModule(llvm::Module &M, llvm::PassBuilder &PB,
                 llvm::ModuleAnalysisManager &MAM, const Options &O,
                 llvm::StringRef Notes);

/// Reports markers in a module of which only a part is here (ThinLTO).
void refuseMarkers(llvm::Module &M, const Options &O, llvm::StringRef Notes);

} // namespace adjoin

#endif
