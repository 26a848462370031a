// From IR to machine code: variants, generated callers, the plugin's pass, JIT.
#include "Program.h"
#include "Allocations.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <map>

using namespace llvm;
using namespace adjoin::test;

ArrayRef<Variant> adjoin::test::variants() {
  static const Variant All[] = {
      {"as given", false, false, false, "adjoin"},
      {"stripped of TBAA and debug info", true, false, true, "adjoin"},
      {"optimised once more", false, true, false, "lto<O2>"},
  };
  return All;
}

namespace {

/// Collects what the pass says instead of printing it.
struct Collector : DiagnosticHandler {
  std::vector<std::string> &Errors;
  explicit Collector(std::vector<std::string> &Errors) : Errors(Errors) {}
  bool handleDiagnostics(const DiagnosticInfo &DI) override {
    if (DI.getSeverity() != DS_Error)
      return true;
    std::string Text;
    raw_string_ostream OS(Text);
    DiagnosticPrinterRawOStream Printer(OS);
    DI.print(Printer);
    Errors.push_back(Text);
    return true;
  }
};

/// Writes the two functions that the harness calls: one for the primal, one
/// for the derivative, each taking its arguments from packed memory.
class Callers {
public:
  Callers(Module &M, const Case &C, const Variant &V, Direction D, Layout &L)
      : M(M), DL(M.getDataLayout()), C(C), V(V), D(D), L(L) {}
  /// A sentence when the case does not fit the function; empty if all is well.
  std::string write();

private:
  std::string layOutArguments(Function &F);
  void layOutResult(Function &F);
  Value *load(IRBuilder<> &B, Argument *From, Function &F, unsigned Param,
              uint64_t Offset);
  Value *tag(IRBuilder<> &B, StringRef Name);
  void writePrimal(Function &F);
  void writeDerived(Function &F);
  Function *makeEntry(StringRef Name);

  Module &M;
  const DataLayout &DL;
  const Case &C;
  const Variant &V;
  Direction D;
  Layout &L;
  Type *ReturnType = nullptr; ///< with sret: what lies behind it
  bool Sret = false;
  bool ActiveReturn = false;
  Type *DerivedType = nullptr; ///< what the marker returns
};

std::string Callers::write() {
  Function *F = M.getFunction(C.Function);
  if (!F || F->isDeclaration())
    return "there is no function '" + C.Function + "'";
  Sret = F->arg_size() != 0 && F->hasParamAttribute(0, Attribute::StructRet);
  ReturnType = Sret ? F->getParamStructRetType(0) : F->getReturnType();
  if (std::string Error = layOutArguments(*F); !Error.empty())
    return Error;
  layOutResult(*F);
  writePrimal(*F);
  writeDerived(*F);
  return "";
}

std::string Callers::layOutArguments(Function &F) {
  unsigned First = Sret ? 1 : 0;
  if (F.arg_size() - First != C.Arguments.size())
    return "'" + C.Function + "' has " + std::to_string(F.arg_size() - First) +
           " parameters, the case gives " + std::to_string(C.Arguments.size());
  uint64_t At = 0;
  auto Slot = [&](uint64_t Size) {
    uint64_t Here = At;
    At += alignTo(std::max<uint64_t>(Size, 1), 64);
    return Here;
  };
  for (auto [I, A] : enumerate(C.Arguments)) {
    Type *T = F.getArg(I + First)->getType();
    uint64_t Size = DL.getTypeAllocSize(T);
    L.Primal.push_back(Slot(Size));
    L.Shadow.emplace_back();
    for (unsigned Lane = 0; Lane != C.Width; ++Lane)
      L.Shadow.back().push_back(Slot(Size));
    std::vector<std::pair<uint64_t, CellKind>> Leaves;
    std::string Name = "argument " + std::to_string(I);
    if (!flatten(T, DL, 0, Leaves))
      return Name + " has a type that the harness cannot pass";
    if (A.IsPointer !=
        (Leaves.size() == 1 && Leaves[0].second == CellKind::Ptr))
      return Name + (A.IsPointer ? " is not a pointer" : " is a pointer");
    unsigned Floats = 0, Ints = 0;
    for (auto [Offset, Kind] : Leaves) {
      Leaf Where = {Leaf::InArgument, static_cast<int>(I), Offset, Kind, Name};
      if (Leaves.size() > 1)
        Where.Name += "[" + std::to_string(L.ArgumentLeaves.size()) + "]";
      Floats += Cell{Kind}.isFloat();
      Ints += Cell{Kind}.isInt();
      L.ArgumentLeaves.push_back(Where);
    }
    if (Floats != A.Floats.size() || Ints != A.Ints.size())
      return Name + " has " + std::to_string(Floats) + " floats and " +
             std::to_string(Ints) + " integers, the case gives " +
             std::to_string(A.Floats.size()) + " and " +
             std::to_string(A.Ints.size());
  }
  L.Size = std::max<uint64_t>(At, 64);
  return "";
}

void Callers::layOutResult(Function &F) {
  LLVMContext &Ctx = M.getContext();
  SmallVector<Type *, 8> Members;
  if (!ReturnType->isVoidTy()) {
    Members.push_back(ReturnType);
    std::vector<std::pair<uint64_t, CellKind>> Leaves;
    if (flatten(ReturnType, DL, 0, Leaves))
      for (auto [I, Entry] : enumerate(Leaves)) {
        std::string Name = "result";
        if (Leaves.size() > 1)
          Name += "[" + std::to_string(I) + "]";
        ActiveReturn |= Cell{Entry.second}.isFloat();
        L.ResultLeaves.push_back(
            {Leaf::InResult, 0, Entry.first, Entry.second, Name});
      }
  }
  if (D == Direction::Forward) {
    if (ActiveReturn)
      Members.push_back(C.Width == 1 ? ReturnType
                                     : ArrayType::get(ReturnType, C.Width));
  } else {
    for (auto [I, A] : enumerate(C.Arguments))
      if (A.Active && !A.IsPointer) {
        Type *T = F.getArg(I + Sret)->getType();
        Members.push_back(C.Width == 1 ? T : ArrayType::get(T, C.Width));
        L.Outs.push_back(static_cast<int>(I));
      }
  }
  if (Members.empty()) {
    DerivedType = Type::getVoidTy(Ctx);
    L.ResultSize = 64;
    return;
  }
  // A C struct in memory; alone: the value itself.
  StructType *S = StructType::get(Ctx, Members);
  const StructLayout *SL = DL.getStructLayout(S);
  unsigned FirstShadow = ReturnType->isVoidTy() ? 0 : 1;
  for (unsigned I = FirstShadow; I < Members.size(); ++I)
    for (unsigned Lane = 0; Lane != C.Width; ++Lane) {
      Type *T = C.Width == 1 ? Members[I] : Members[I]->getArrayElementType();
      L.ResultShadow.push_back(SL->getElementOffset(I) +
                               Lane * DL.getTypeAllocSize(T));
    }
  L.ResultSize = alignTo(DL.getTypeAllocSize(S), 64);
  DerivedType = Members.size() == 1 ? Members[0] : static_cast<Type *>(S);
}

Function *Callers::makeEntry(StringRef Name) {
  LLVMContext &Ctx = M.getContext();
  Type *P = PointerType::getUnqual(Ctx);
  auto *F =
      Function::Create(FunctionType::get(Type::getVoidTy(Ctx), {P, P}, false),
                       GlobalValue::ExternalLinkage, Name, M);
  F->addFnAttr(Attribute::UWTable);
  BasicBlock::Create(Ctx, "entry", F);
  return F;
}

Value *Callers::load(IRBuilder<> &B, Argument *From, Function &F,
                     unsigned Param, uint64_t Offset) {
  Value *P = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From, Offset);
  return B.CreateAlignedLoad(F.getArg(Param)->getType(), P, Align(16));
}

Value *Callers::tag(IRBuilder<> &B, StringRef Name) {
  GlobalVariable *G = M.getGlobalVariable(Name);
  if (!G)
    G = new GlobalVariable(M, B.getInt32Ty(), false,
                           GlobalValue::ExternalLinkage, nullptr, Name);
  if (!V.TagValues)
    return G;
  return B.CreateLoad(B.getInt32Ty(), G);
}

/// The attributes that say how an argument is passed.
static void addAbiAttributes(CallBase &Call, unsigned Arg, Function &F,
                             unsigned Param) {
  for (Attribute::AttrKind K :
       {Attribute::ByVal, Attribute::ZExt, Attribute::SExt, Attribute::InReg})
    if (F.hasParamAttribute(Param, K))
      Call.addParamAttr(Arg, F.getAttributes().getParamAttr(Param, K));
}

void Callers::writePrimal(Function &F) {
  Function *Entry = makeEntry("harness.primal");
  IRBuilder<> B(&Entry->front());
  SmallVector<Value *, 8> Args;
  if (Sret)
    Args.push_back(Entry->getArg(1));
  for (unsigned I = 0; I != C.Arguments.size(); ++I)
    Args.push_back(load(B, Entry->getArg(0), F, I + Sret, L.Primal[I]));
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setCallingConv(F.getCallingConv());
  for (unsigned I = 0; I != C.Arguments.size(); ++I)
    addAbiAttributes(*Call, I + Sret, F, I + Sret);
  if (Sret)
    Call->addParamAttr(0,
                       F.getAttributes().getParamAttr(0, Attribute::StructRet));
  else if (!ReturnType->isVoidTy())
    B.CreateAlignedStore(Call, Entry->getArg(1), Align(16));
  B.CreateRetVoid();
}

void Callers::writeDerived(Function &F) {
  LLVMContext &Ctx = M.getContext();
  Function *Entry = makeEntry("harness.derived");
  IRBuilder<> B(&Entry->front());
  SmallVector<Value *, 16> Args;
  // Argument number in Args, parameter of F.
  SmallVector<std::pair<unsigned, unsigned>, 16> Abi;
  bool SretMarker = Sret && !DerivedType->isVoidTy();
  if (SretMarker)
    Args.push_back(Entry->getArg(1));
  Args.push_back(&F);
  if (C.Width != 1) {
    Args.push_back(tag(B, "adjoin_width"));
    Args.push_back(B.getInt32(C.Width));
  }
  if (!ReturnType->isVoidTy())
    Args.push_back(tag(B, "adjoin_primal_return"));
  for (auto [I, A] : enumerate(C.Arguments)) {
    bool Out = D == Direction::Reverse && !A.IsPointer;
    Args.push_back(tag(B, !A.Active ? "adjoin_const"
                          : Out     ? "adjoin_out"
                                    : "adjoin_dup"));
    unsigned Param = I + Sret;
    Abi.push_back({Args.size(), Param});
    Args.push_back(load(B, Entry->getArg(0), F, Param, L.Primal[I]));
    if (!A.Active || Out)
      continue;
    for (uint64_t Offset : L.Shadow[I]) {
      Abi.push_back({Args.size(), Param});
      Args.push_back(load(B, Entry->getArg(0), F, Param, Offset));
    }
  }
  Type *Result = SretMarker ? Type::getVoidTy(Ctx) : DerivedType;
  // A struct in memory is a fixed parameter.
  SmallVector<Type *, 1> Fixed;
  if (SretMarker)
    Fixed.push_back(PointerType::getUnqual(Ctx));
  Function *Marker = Function::Create(
      FunctionType::get(Result, Fixed, true), GlobalValue::ExternalLinkage,
      D == Direction::Forward ? "__adjoin_fwddiff_harness"
                              : "__adjoin_autodiff_harness",
      M);
  CallInst *Call = B.CreateCall(Marker, Args);
  for (auto [Arg, Param] : Abi)
    addAbiAttributes(*Call, Arg, F, Param);
  if (SretMarker)
    Call->addParamAttr(0, Attribute::getWithStructRetType(Ctx, DerivedType));
  else if (!DerivedType->isVoidTy())
    B.CreateAlignedStore(Call, Entry->getArg(1), Align(16));
  B.CreateRetVoid();
}

/// The pass managers over one module, with the plugin's callbacks.
class Passes {
public:
  explicit Passes(TargetMachine *TM) : PB(TM) {
    llvmGetPassPluginInfo().RegisterPassBuilderCallbacks(PB);
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  }
  Error run(Module &M, StringRef Pipeline) {
    ModulePassManager MPM;
    if (Error E = PB.parsePassPipeline(MPM, Pipeline))
      return E;
    MPM.run(M, MAM);
    return Error::success();
  }

private:
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
};

} // namespace

/// Each function's and global's text, without the numbers that the printer
/// gives to attribute groups and metadata.
static std::map<std::string, std::string> texts(const Module &M) {
  std::map<std::string, std::string> Texts;
  auto Add = [&](const GlobalObject &G) {
    std::string Text, Plain;
    raw_string_ostream OS(Text);
    G.print(OS);
    for (size_t I = 0; I != Text.size(); ++I) {
      Plain += Text[I];
      if (Text[I] == '#' || Text[I] == '!')
        while (I + 1 != Text.size() && isDigit(Text[I + 1]))
          ++I;
    }
    Texts[G.getName().str()] = Plain;
  };
  for (const Function &F : M)
    if (!F.isDeclaration())
      Add(F);
  for (const GlobalVariable &G : M.globals())
    if (G.hasInitializer() && !G.getName().starts_with("llvm."))
      Add(G);
  return Texts;
}

/// A function whose body is a request is replaced; all others stay.
static bool mentionsMarker(const std::string &Text) {
  return Regex("__(adjoin|enzyme)_|(adjoin|enzyme)_(dup|const|out|width)")
      .match(Text);
}

static void findLeftovers(const Module &M,
                          std::vector<std::string> &Complaints) {
  auto Check = [&](const GlobalValue &G) {
    StringRef Name = G.getName();
    if (Name.contains("__adjoin_") || Name.contains("__enzyme_") ||
        (G.isDeclaration() &&
         (Name.starts_with("adjoin_") || Name.starts_with("enzyme_"))))
      Complaints.push_back("'" + Name.str() + "' is left in the module");
    if (Name.contains(".adjoin") && !G.hasLocalLinkage())
      Complaints.push_back("'" + Name.str() + "' is not internal");
  };
  for (const Function &F : M)
    Check(F);
  for (const GlobalVariable &G : M.globals())
    Check(G);
}

static bool verifies(const Module &M, StringRef When,
                     std::vector<std::string> &Complaints) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (!verifyModule(M, &OS))
    return true;
  Complaints.push_back(("the module does not verify " + When + ": ").str() +
                       Text);
  return false;
}

static void stripAll(Module &M) {
  StripDebugInfo(M);
  for (Function &F : M)
    for (BasicBlock &BB : F)
      for (Instruction &I : BB) {
        I.setMetadata(LLVMContext::MD_tbaa, nullptr);
        I.setMetadata(LLVMContext::MD_tbaa_struct, nullptr);
      }
}

/// Keeps what the harness calls and what that reaches.
static void prune(Module &M, TargetMachine &TM) {
  for (const char *List :
       {"llvm.used", "llvm.compiler.used", "llvm.global_dtors"})
    if (GlobalVariable *G = M.getGlobalVariable(List))
      G->eraseFromParent();
  internalizeModule(M, [](const GlobalValue &G) {
    return G.getName().starts_with("harness.");
  });
  cantFail(Passes(&TM).run(M, "globaldce"));
}

static void initialiseTargets() {
  static bool Done = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)Done;
}

Program::~Program() = default;

Program::Program(const Case &C, const Variant &V, Direction D) {
  compile(C, V, D);
}

void Program::compile(const Case &C, const Variant &V, Direction D) {
  auto Fail = [&](const Twine &Text) { Complaints.push_back(Text.str()); };
  initialiseTargets();
  auto Ctx = std::make_unique<LLVMContext>();
  SMDiagnostic Parse;
  std::unique_ptr<Module> M = C.File.empty()
                                  ? parseAssemblyString(C.IR, Parse, *Ctx)
                                  : parseIRFile(C.File, Parse, *Ctx);
  if (!M) {
    std::string Text;
    raw_string_ostream OS(Text);
    Parse.print("harness", OS);
    return Fail(Text);
  }
  auto Builder = orc::JITTargetMachineBuilder::detectHost();
  if (!Builder)
    return Fail(toString(Builder.takeError()));
  auto TM = Builder->createTargetMachine();
  if (!TM)
    return Fail(toString(TM.takeError()));
  if (M->getTargetTriple().empty())
    M->setTargetTriple((*TM)->getTargetTriple());
  M->setDataLayout((*TM)->createDataLayout());
  if (!verifies(*M, "as given", Complaints))
    return;

  Ctx->setDiagnosticHandler(std::make_unique<Collector>(Diagnostics));
  if (V.Strip)
    stripAll(*M);
  if (V.Optimise) {
    if (Error E = Passes(TM->get()).run(*M, "default<O3>"))
      return Fail(toString(std::move(E)));
  }
  if (std::string Text = Callers(*M, C, V, D, L).write(); !Text.empty())
    return Fail(Text);
  if (!verifies(*M, "with its callers", Complaints))
    return;

  auto Before = texts(*M);
  if (Error E = Passes(TM->get()).run(*M, V.Pipeline))
    return Fail(toString(std::move(E)));
  if (!verifies(*M, "after the pass", Complaints))
    return;
  if (StringRef(V.Pipeline) == "adjoin") {
    auto After = texts(*M);
    for (auto &[Name, Text] : Before)
      if (!mentionsMarker(Text) && After[Name] != Text)
        Fail("'" + Name + "' was changed: " + Text + "---\n" + After[Name]);
  }
  if (!Diagnostics.empty())
    return;
  findLeftovers(*M, Complaints);
  if (!Complaints.empty())
    return;

  if (C.Prune)
    prune(*M, **TM);

  auto MaybeJIT = orc::LLJITBuilder()
                      .setJITTargetMachineBuilder(std::move(*Builder))
                      .create();
  if (!MaybeJIT)
    return Fail(toString(MaybeJIT.takeError()));
  JIT = std::move(*MaybeJIT);
  orc::SymbolMap Allocators;
  for (auto [Name, Address] : allocatorSymbols()) {
    GlobalValue *Own = M->getNamedValue(Name);
    if (!Own || Own->isDeclaration())
      Allocators[JIT->mangleAndIntern(Name)] = {
          orc::ExecutorAddr::fromPtr(Address), JITSymbolFlags::Exported};
  }
  orc::JITDylib &JD = JIT->getMainJITDylib();
  if (Error E = JD.define(orc::absoluteSymbols(std::move(Allocators))))
    return Fail(toString(std::move(E)));
  if (Error E =
          JIT->addIRModule(orc::ThreadSafeModule(std::move(M), std::move(Ctx))))
    return Fail(toString(std::move(E)));
  if (Error E = JIT->initialize(JD))
    return Fail(toString(std::move(E)));
  auto P = JIT->lookup("harness.primal");
  if (!P)
    return Fail(toString(P.takeError()));
  auto Q = JIT->lookup("harness.derived");
  if (!Q)
    return Fail(toString(Q.takeError()));
  Primal = P->toPtr<Entry>();
  Derived = Q->toPtr<Entry>();
}
