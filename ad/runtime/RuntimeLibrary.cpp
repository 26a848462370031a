// The runtime's C functions, copied from their bitcode into the module.
#include "ad/runtime/RuntimeLibrary.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace adjoin;

/// Drops all that says how the runtime was compiled: a function inlines only
/// where it disables no more library functions and needs no more target
/// features than its caller.
static AttributeList plain(LLVMContext &Ctx, AttributeList Attributes) {
  AttrBuilder Function(Ctx);
  for (Attribute A : Attributes.getFnAttrs())
    if (!A.isStringAttribute() && A.getKindAsEnum() != Attribute::NoBuiltin)
      Function.addAttribute(A);
  return Attributes.removeFnAttributes(Ctx).addFnAttributes(Ctx, Function);
}

/// What \p Name means in the program: an existing symbol, whatever its type,
/// else a new declaration like \p Like.
static GlobalValue *bind(Module &M, const Function &Like, bool &IsNew) {
  GlobalValue *Known = M.getNamedValue(Like.getName());
  if (Known && Known->hasLocalLinkage()) {
    // A static function of one source file is not what the linker would find.
    Known->setName(Like.getName() + ".local");
    Known = nullptr;
  }
  IsNew = !Known;
  if (Known)
    return Known;
  Function *New =
      Function::Create(Like.getFunctionType(), GlobalValue::ExternalLinkage,
                       Like.getAddressSpace(), Like.getName(), &M);
  New->setAttributes(plain(M.getContext(), Like.getAttributes()));
  return New;
}

void RuntimeLibrary::load() {
  LLVMContext &Ctx = M.getContext();
  // The bitcode is our own: that it can be read is tested when Adjoin is built.
  std::unique_ptr<Module> Library = cantFail(
      parseBitcodeFile(MemoryBufferRef(runtimeBitcode(), "runtime"), Ctx));

  ValueToValueMapTy Map;
  for (GlobalVariable &G : Library->globals()) {
    assert(G.hasInitializer() && "the runtime uses no variables of others");
    auto *Copy = new GlobalVariable(M, G.getValueType(), G.isConstant(),
                                    GlobalValue::InternalLinkage, nullptr,
                                    "adjoin_rt." + G.getName());
    Copy->copyAttributesFrom(&G);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Others.push_back(Copy);
    Map[&G] = Copy;
  }
  for (Function &F : *Library) {
    if (F.isDeclaration()) {
      bool IsNew = false;
      GlobalValue *Symbol = bind(M, F, IsNew);
      Map[&F] = Symbol;
      if (IsNew)
        Others.push_back(Symbol);
      continue;
    }
    auto *Copy =
        Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage,
                         F.getAddressSpace(), F.getName(), &M);
    Functions.push_back(Copy);
    ByName[F.getName()] = Copy;
    Map[&F] = Copy;
    for (auto [From, To] : zip(F.args(), Copy->args()))
      Map[&From] = &To;
  }
  for (GlobalVariable &G : Library->globals())
    cast<GlobalVariable>(Map[&G])->setInitializer(
        MapValue(G.getInitializer(), Map));
  for (Function &F : *Library) {
    if (F.isDeclaration())
      continue;
    auto *Copy = cast<Function>(Map[&F]);
    SmallVector<ReturnInst *, 4> Returns;
    CloneFunctionInto(Copy, &F, Map, CloneFunctionChangeType::ClonedModule,
                      Returns);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Copy->setDSOLocal(true);
    Copy->setAttributes(plain(Ctx, Copy->getAttributes()));
    for (Instruction &I : instructions(*Copy)) {
      if (auto *Call = dyn_cast<CallBase>(&I))
        Call->setAttributes(plain(Ctx, Call->getAttributes()));
      // The program's type tree is not the runtime's.
      I.setMetadata(LLVMContext::MD_tbaa, nullptr);
      I.setMetadata(LLVMContext::MD_tbaa_struct, nullptr);
    }
  }
}

Function *RuntimeLibrary::get(StringRef Name) {
  if (Functions.empty())
    load();
  Function *F = ByName.lookup(Name);
  assert(F && "not a function of the runtime");
  return F;
}

void RuntimeLibrary::eraseUnused() {
  // They call each other: erase until nothing changes.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Function *&F : Functions)
      if (F && all_of(F->uses(), [&](const Use &U) {
            auto *I = dyn_cast<Instruction>(U.getUser());
            return I && I->getFunction() == F;
          })) {
        ByName.erase(F->getName());
        F->deleteBody();
        F->eraseFromParent();
        F = nullptr;
        Changed = true;
      }
    llvm::erase(Functions, nullptr);
  }
  for (Value *Other : Others)
    if (Other && Other->use_empty())
      cast<GlobalValue>(Other)->eraseFromParent();
  llvm::erase_if(Others, [](Value *Other) { return !Other; });
}
