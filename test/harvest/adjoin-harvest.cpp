// adjoin-harvest FILE.bc: asks for the forward derivative of each function of a
// module, each in a process of its own, and prints what became of it. Where all
// parameters are scalars and there is a float, the derivative is run and
// compared with differences.
#include "harness/Check.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace adjoin::test;

static cl::opt<std::string> File(cl::Positional, cl::Required,
                                 cl::desc("FILE.bc"));
static cl::opt<unsigned> Jobs("jobs", cl::init(2),
                              cl::desc("Processes at a time"));
static cl::opt<unsigned> Every("every", cl::init(1),
                               cl::desc("Take each N-th function only"));
static cl::opt<unsigned> Seconds("seconds", cl::init(10),
                                 cl::desc("Time that a function may take"));
static cl::list<std::string> Only("only", cl::CommaSeparated,
                                  cl::desc("These functions only"));

/// The child's pipe to the parent: lines "state TAB text".
static int Report = -1;

static void report(StringRef State, StringRef Text = "") {
  std::string Line = (State + "\t" + Text.split('\n').first + "\n").str();
  if (write(Report, Line.data(), Line.size()) < 0)
    _exit(3);
}

static bool holdsFloat(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return any_of(S->elements(), holdsFloat);
  if (auto *A = dyn_cast<ArrayType>(T))
    return holdsFloat(A->getElementType());
  return T->isFPOrFPVectorTy();
}

static bool isFloatSignature(const Function &F) {
  return holdsFloat(F.getReturnType()) ||
         any_of(F.getFunctionType()->params(), holdsFloat);
}

static bool isWanted(const Function &F) {
  if (F.isDeclaration() || F.isVarArg() || F.hasAvailableExternallyLinkage() ||
      F.hasFnAttribute(Attribute::Naked))
    return false;
  auto Passable = [](Type *T) {
    return T->isFirstClassType() && !T->isTokenTy() && !T->isMetadataTy() &&
           !T->isX86_AMXTy() && T->isSized();
  };
  return all_of(F.getFunctionType()->params(), Passable) &&
         (F.getReturnType()->isVoidTy() || Passable(F.getReturnType()));
}

/// A caller of the marker: each parameter of F, floats and pointers followed by
/// a tangent or shadow.
static void writeCaller(Function &F) {
  Module &M = *F.getParent();
  LLVMContext &Ctx = M.getContext();
  Type *Int = Type::getInt32Ty(Ctx);
  auto Tag = [&](StringRef Name) { return M.getOrInsertGlobal(Name, Int); };
  bool Sret = F.arg_size() && F.hasParamAttribute(0, Attribute::StructRet);
  // A struct in memory that holds no float is no result of the marker.
  bool SretResult = Sret && holdsFloat(F.getParamStructRetType(0));
  Type *Result =
      holdsFloat(F.getReturnType()) ? F.getReturnType() : Type::getVoidTy(Ctx);
  SmallVector<Type *, 16> Types;
  for (Type *T : F.getFunctionType()->params()) {
    Types.push_back(T);
    if (T->isPtrOrPtrVectorTy() || holdsFloat(T))
      Types.push_back(T);
  }
  Function *Caller =
      Function::Create(FunctionType::get(Result, Types, false),
                       GlobalValue::ExternalLinkage, "harvest.caller", M);
  IRBuilder<> B(BasicBlock::Create(Ctx, "entry", Caller));
  SmallVector<Value *, 32> Args;
  SmallVector<std::pair<unsigned, unsigned>, 8> ByVal;
  auto Next = Caller->arg_begin();
  if (Sret) {
    if (SretResult)
      Args.push_back(&*Next);
    std::advance(Next, 2);
  }
  Args.push_back(&F);
  for (unsigned I = Sret; I != F.arg_size(); ++I) {
    Type *T = F.getArg(I)->getType();
    bool Active = T->isPtrOrPtrVectorTy() || holdsFloat(T);
    Args.push_back(Tag(Active ? "adjoin_dup" : "adjoin_const"));
    for (unsigned Copy = 0; Copy != (Active ? 2u : 1u); ++Copy) {
      if (F.hasParamAttribute(I, Attribute::ByVal))
        ByVal.push_back({Args.size(), I});
      Args.push_back(&*Next++);
    }
  }
  SmallVector<Type *, 1> Fixed;
  if (SretResult)
    Fixed.push_back(PointerType::getUnqual(Ctx));
  Function *Marker = Function::Create(FunctionType::get(Result, Fixed, true),
                                      GlobalValue::ExternalLinkage,
                                      "__adjoin_fwddiff_harvest", M);
  CallInst *Call = B.CreateCall(Marker, Args);
  for (auto [Arg, Param] : ByVal)
    Call->addParamAttr(Arg,
                       F.getAttributes().getParamAttr(Param, Attribute::ByVal));
  if (SretResult)
    Call->addParamAttr(
        0, Attribute::getWithStructRetType(Ctx, F.getParamStructRetType(0)));
  if (Result->isVoidTy())
    B.CreateRetVoid();
  else
    B.CreateRet(Call);
}

namespace {
struct Reporter : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &DI) override {
    if (DI.getSeverity() != DS_Error)
      return true;
    std::string Text;
    raw_string_ostream OS(Text);
    DiagnosticPrinterRawOStream Printer(OS);
    DI.print(Printer);
    report("refused", Text);
    Errors = true;
    return true;
  }
  bool Errors = false;
};
} // namespace

/// Runs and compares a function of scalars.
static void compare(const Function &F) {
  Case C = Case::fromFile(File, F.getName());
  double Value = 0.6;
  for (Type *T : F.getFunctionType()->params()) {
    Parameter P;
    std::vector<std::pair<uint64_t, CellKind>> Leaves;
    flatten(T, F.getDataLayout(), 0, Leaves);
    for (auto &[Offset, Kind] : Leaves) {
      if (Cell{Kind}.isFloat())
        P.Floats.push_back(Value);
      else
        P.Ints.push_back(3);
      Value += 0.3;
    }
    P.Active = !P.Floats.empty();
    C.Arguments.push_back(P);
  }
  C.Prune = true;
  C.leaks();
  C.PrimalReturned = [] { report("primal"); };
  report("running");
  Findings Found = checkForward(C, variants().front());
  if (Found.Text.empty())
    report("agrees", std::to_string(Found.Entries));
  else if (StringRef(Found.Text).contains("do not converge"))
    report("vague", Found.Text);
  else
    report("wrong", Found.Text);
}

static bool isScalarFunction(const Function &F) {
  if (!isFloatSignature(F) || F.arg_empty())
    return false;
  bool Float = false;
  for (Type *T : F.getFunctionType()->params()) {
    std::vector<std::pair<uint64_t, CellKind>> Leaves;
    if (!flatten(T, F.getDataLayout(), 0, Leaves))
      return false;
    for (auto &[Offset, Kind] : Leaves) {
      if (Kind == CellKind::Ptr)
        return false;
      Float |= Cell{Kind}.isFloat();
    }
  }
  return Float && holdsFloat(F.getReturnType());
}

/// What the child process does.
[[noreturn]] static void child(Function &F) {
  rlimit Cpu = {Seconds, Seconds + 1};
  setrlimit(RLIMIT_CPU, &Cpu);
  rlimit Core = {0, 0};
  setrlimit(RLIMIT_CORE, &Core);
  alarm(6 * Seconds); // where it sleeps
  int Null = open("/dev/null", O_RDWR);
  dup2(Null, 0);
  dup2(Null, 1);
  dup2(Null, 2);
  Module &M = *F.getParent();
  auto Handler = std::make_unique<Reporter>();
  Reporter &R = *Handler;
  M.getContext().setDiagnosticHandler(std::move(Handler));
  writeCaller(F);
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  llvmGetPassPluginInfo().RegisterPassBuilderCallbacks(PB);
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  ModulePassManager MPM;
  cantFail(PB.parsePassPipeline(MPM, "adjoin"));
  MPM.run(M, MAM);
  std::string Text;
  raw_string_ostream OS(Text);
  if (verifyModule(M, &OS)) {
    report("unverified", Text);
    _exit(0);
  }
  if (R.Errors)
    _exit(0);
  if (M.getFunction("__adjoin_fwddiff_harvest"))
    report("unverified", "the marker is left");
  report("accepted");
  if (isScalarFunction(F))
    compare(F);
  _exit(0);
}

namespace {
/// One function under way.
struct Running {
  pid_t Pid;
  int Pipe;
  const Function *F;
  std::string Said;
};
} // namespace

static void finish(Running &R) {
  int Status = 0;
  waitpid(R.Pid, &Status, 0);
  close(R.Pipe);
  SmallVector<StringRef, 8> Lines;
  StringRef(R.Said).split(Lines, '\n', -1, false);
  std::string Verdict = "silent", Text;
  std::string Comparison, ComparisonText;
  bool PrimalReturned = false;
  for (StringRef Line : Lines) {
    auto [State, Rest] = Line.split('\t');
    if (State == "running" || State == "agrees" || State == "vague" ||
        State == "wrong") {
      Comparison = State.str();
      ComparisonText = Rest.str();
    } else if (State == "primal") {
      PrimalReturned = true;
    } else if (Verdict == "silent" || State == "unverified") {
      Verdict = State.str();
      Text = Rest.str();
    }
  }
  if (WIFSIGNALED(Status)) {
    int Signal = WTERMSIG(Status);
    bool Time = Signal == SIGXCPU || Signal == SIGALRM || Signal == SIGKILL;
    if (Comparison.empty()) {
      Verdict = Time ? "timeout" : "crash";
      Text = strsignal(Signal);
    } else {
      // While it ran: the primal may not be made for these numbers.
      Comparison = PrimalReturned ? "wrong" : "unrunnable";
      ComparisonText = strsignal(Signal);
    }
  }
  outs() << Verdict << '\t' << (isFloatSignature(*R.F) ? "float" : "other")
         << '\t' << R.F->getName() << '\t' << Text << '\t' << Comparison << '\t'
         << ComparisonText << '\n';
  outs().flush();
}

int main(int Argc, char **Argv) {
  cl::ParseCommandLineOptions(Argc, Argv,
                              "Forward derivatives of whatever there is\n");
  LLVMContext Ctx;
  SMDiagnostic Parse;
  std::unique_ptr<Module> M = parseIRFile(File, Parse, Ctx);
  if (!M) {
    Parse.print(Argv[0], errs());
    return 2;
  }
  std::vector<Function *> Wanted;
  unsigned Number = 0;
  for (Function &F : *M)
    if (isWanted(F) && (Only.empty() || is_contained(Only, F.getName().str())))
      if (Number++ % Every == 0)
        Wanted.push_back(&F);
  std::vector<Running> Children;
  size_t Next = 0;
  while (Next != Wanted.size() || !Children.empty()) {
    while (Children.size() < Jobs && Next != Wanted.size()) {
      Function *F = Wanted[Next++];
      int Ends[2];
      if (pipe(Ends))
        return 2;
      pid_t Pid = fork();
      if (Pid == 0) {
        close(Ends[0]);
        Report = Ends[1];
        child(*F);
      }
      close(Ends[1]);
      Children.push_back({Pid, Ends[0], F, ""});
    }
    std::vector<pollfd> Polls;
    for (const Running &R : Children)
      Polls.push_back({R.Pipe, POLLIN, 0});
    poll(Polls.data(), Polls.size(), -1);
    for (size_t I = Polls.size(); I-- != 0;) {
      if (!Polls[I].revents)
        continue;
      char Buffer[4096];
      ssize_t Got = read(Children[I].Pipe, Buffer, sizeof(Buffer));
      if (Got > 0) {
        Children[I].Said.append(Buffer, Got);
        continue;
      }
      finish(Children[I]);
      Children.erase(Children.begin() + I);
    }
  }
  return 0;
}
