// The order of things in one link.
#include "Link.h"
#include "Lowering.h"
#include "Places.h"
#include "Registrations.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace adjoin;

static bool isTag(const GlobalVariable &G) { return tagOf(G).has_value(); }

/// The program has something that is ours: this is what a link without
/// derivatives costs.
static bool concernsUs(const Module &M) {
  for (const Function &F : M)
    if (F.isDeclaration() && markerOf(F))
      return true;
  for (const GlobalVariable &G : M.globals())
    if (registrationNamed(G.getName()) || isTag(G))
      return true;
  return false;
}

/// Takes a tag out of the module. Where code that nobody needs still looks at
/// it, a private zero stands for it.
static void removeTag(GlobalVariable &G) {
  for (User *U : make_early_inc_range(G.users()))
    if (auto *Load = dyn_cast<LoadInst>(U); Load && Load->use_empty())
      Load->eraseFromParent();
  G.removeDeadConstantUsers();
  if (!G.use_empty()) {
    Module &M = *G.getParent();
    auto *Zero = new GlobalVariable(
        M, G.getValueType(), true, GlobalValue::PrivateLinkage,
        Constant::getNullValue(G.getValueType()), "tag");
    Zero->setAlignment(G.getAlign());
    G.replaceAllUsesWith(Zero);
  }
  G.eraseFromParent();
}

/// Markers and tags leave no trace.
static void removeVocabulary(Module &M) {
  auto IsOurs = [](const Constant *C) {
    if (auto *F = dyn_cast<Function>(C))
      return markerOf(*F).has_value();
    auto *G = dyn_cast<GlobalVariable>(C);
    return G && G->isDeclaration() && isTag(*G);
  };
  removeFromUsedLists(M, [&](Constant *C) {
    return IsOurs(cast<Constant>(C->stripPointerCasts()));
  });
  for (Function &F : make_early_inc_range(M)) {
    if (!markerOf(F))
      continue;
    F.removeDeadConstantUsers();
    if (!F.use_empty())
      F.replaceAllUsesWith(Constant::getNullValue(F.getType()));
    F.eraseFromParent();
  }
  for (GlobalVariable &G : make_early_inc_range(M.globals()))
    if (G.isDeclaration() && isTag(G))
      removeTag(G);
}

bool adjoin::runOnModule(Module &M, PassBuilder &PB, ModuleAnalysisManager &MAM,
                         const Options &O, StringRef Notes) {
  if (!concernsUs(M))
    return false;
  Report Out(M, O, Notes);
  Pipelines Pipes(PB, MAM, M);
  Registrations Registered(M, Out);
  RuleBook Rules = Registered.read();
  SmallPtrSet<const Function *, 32> Before;
  for (const Function &F : M)
    Before.insert(&F);

  MarkerResolver Resolver(M, Pipes, Out);
  Resolver.resolve();
  {
    Differentiator D(M, Rules, Pipes);
    if (O.PrintPlan)
      D.printPlans(errs());
    SmallVector<ResolvedMarker, 0> Markers =
        Resolver.take([&] { return D.runtime("adjoin_rt_abort"); });
    Lowering L(M, D, O, Out);
    L.run(Markers);
    D.finish();
    L.finish();
  }
  removeVocabulary(M);
  Registered.warnOfUnused();
  // What LLVM's passes declared for copies.
  for (Function &F : make_early_inc_range(M))
    if (F.isDeclaration() && F.use_empty() && !Before.contains(&F))
      F.eraseFromParent();
  return true;
}

void adjoin::refuseMarkers(Module &M, const Options &O, StringRef Notes) {
  std::optional<Report> Out;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (markerCalledBy(I)) {
        if (!Out)
          Out.emplace(M, O, Notes);
        Out->error(adjoin::placeOf(cast<CallBase>(I)),
                   "a derivative cannot be made in a ThinLTO link: compile "
                   "with -flto or -flto=full (rustc: -Clto=fat)");
      }
}
