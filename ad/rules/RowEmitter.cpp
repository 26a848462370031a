// Formulas of the row language as IR.
#include "ad/rules/RowEmitter.h"
#include "ad/rules/Digamma.h"
#include "ad/rules/ParsedRow.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace adjoin;

bool adjoin::isNumber(const Value *V, double X) {
  const auto *C = dyn_cast<Constant>(V);
  if (C && C->getType()->isVectorTy())
    C = C->getSplatValue();
  const auto *FP = dyn_cast_if_present<ConstantFP>(C);
  return FP && FP->isExactlyValue(X);
}

std::optional<bool> adjoin::constantTruth(const Value *V) {
  const auto *C = dyn_cast<Constant>(V);
  if (C && C->isNullValue())
    return false;
  if (C && C->isAllOnesValue())
    return true;
  return std::nullopt;
}

Value *adjoin::multiply(IRBuilder<> &B, Value *L, Value *R) {
  if (isNumber(L, 1))
    return R;
  if (isNumber(R, 1))
    return L;
  if (isNumber(L, -1))
    return B.CreateFNeg(R);
  if (isNumber(R, -1))
    return B.CreateFNeg(L);
  return B.CreateFMul(L, R);
}

Value *RowEmitter::real(const RowFormula &F, const RowNode &N) {
  auto Child = [&](unsigned I) { return real(F, F.child(N, I)); };
  switch (N.K) {
  case RowNode::Number:
    return ConstantFP::get(T, N.Text);
  case RowNode::Param: {
    Value *V = Operands[N.Index];
    if (!isIntegerParam(Params[N.Index]))
      return V;
    auto *Vector = dyn_cast<VectorType>(T);
    if (Vector && !V->getType()->isVectorTy()) // powi: one exponent for all
      V = B.CreateVectorSplat(Vector->getElementCount(), V);
    return B.CreateSIToFP(V, T);
  }
  case RowNode::Out:
    return Outs[N.Index];
  case RowNode::Neg:
    return B.CreateFNeg(Child(0));
  case RowNode::Add: {
    Value *L = Child(0), *R = Child(1);
    return B.CreateFAdd(L, R);
  }
  case RowNode::Sub: {
    Value *L = Child(0), *R = Child(1);
    return B.CreateFSub(L, R);
  }
  case RowNode::Mul: {
    Value *L = Child(0), *R = Child(1);
    return multiply(B, L, R);
  }
  case RowNode::Div: {
    Value *L = Child(0), *R = Child(1);
    return isNumber(R, 1) ? L : B.CreateFDiv(L, R);
  }
  case RowNode::Choose: {
    Value *Condition = truth(F, F.child(N, 0));
    if (std::optional<bool> Known = constantTruth(Condition))
      return Child(*Known ? 1 : 2);
    Value *L = Child(1), *R = Child(2);
    return B.CreateSelect(Condition, L, R);
  }
  case RowNode::Call:
    return call(F, N);
  case RowNode::Eq:
  case RowNode::Ne:
  case RowNode::Lt:
  case RowNode::Le:
  case RowNode::Gt:
  case RowNode::Ge:
  case RowNode::Not:
  case RowNode::And:
  case RowNode::Or:
    break;
  }
  llvm_unreachable("a condition is no number");
}

Value *RowEmitter::truth(const RowFormula &F, const RowNode &N) {
  auto Compare = [&](CmpInst::Predicate P) {
    Value *L = real(F, F.child(N, 0)), *R = real(F, F.child(N, 1));
    return B.CreateFCmp(P, L, R);
  };
  switch (N.K) {
  case RowNode::Eq:
    return Compare(CmpInst::FCMP_OEQ);
  case RowNode::Ne:
    return Compare(CmpInst::FCMP_UNE);
  case RowNode::Lt:
    return Compare(CmpInst::FCMP_OLT);
  case RowNode::Le:
    return Compare(CmpInst::FCMP_OLE);
  case RowNode::Gt:
    return Compare(CmpInst::FCMP_OGT);
  case RowNode::Ge:
    return Compare(CmpInst::FCMP_OGE);
  case RowNode::Not:
    return B.CreateNot(truth(F, F.child(N, 0)));
  case RowNode::And: {
    Value *L = truth(F, F.child(N, 0)), *R = truth(F, F.child(N, 1));
    return B.CreateAnd(L, R);
  }
  case RowNode::Or: {
    Value *L = truth(F, F.child(N, 0)), *R = truth(F, F.child(N, 1));
    return B.CreateOr(L, R);
  }
  default:
    llvm_unreachable("a number is no condition");
  }
}

Value *RowEmitter::integer(const RowFormula &F, const RowNode &N) {
  // The type is that of the integer in the formula, i32 where there is none.
  auto Both = [&](Value *&L, Value *&R) {
    L = integer(F, F.child(N, 0));
    R = integer(F, F.child(N, 1));
    if (isa<Constant>(L))
      L = ConstantInt::get(R->getType(), cast<Constant>(L)->getUniqueInteger());
    if (isa<Constant>(R))
      R = ConstantInt::get(L->getType(),
                           cast<Constant>(R)->getUniqueInteger().sextOrTrunc(
                               L->getType()->getScalarSizeInBits()));
  };
  Value *L, *R;
  switch (N.K) {
  case RowNode::Number: {
    uint64_t Number = 0;
    bool Failed = N.Text.getAsInteger(10, Number);
    assert(!Failed && "not an integer");
    (void)Failed;
    return B.getInt32(Number);
  }
  case RowNode::Param:
    return Operands[N.Index];
  case RowNode::Out:
    return Outs[N.Index];
  case RowNode::Neg:
    return B.CreateNeg(integer(F, F.child(N, 0)));
  case RowNode::Add:
    Both(L, R);
    return B.CreateAdd(L, R);
  case RowNode::Sub:
    Both(L, R);
    return B.CreateSub(L, R);
  default:
    llvm_unreachable("not an integer formula");
  }
}

Value *RowEmitter::callIntrinsic(Intrinsic::ID ID, ArrayRef<Type *> Types,
                                 ArrayRef<Value *> Arguments) {
  if (!B.getIsFPConstrained())
    return B.CreateIntrinsic(ID, Types, Arguments);
  Module *M = B.GetInsertBlock()->getModule();
  StringRef Base = Intrinsic::getBaseName(ID);
  Base.consume_front("llvm.");
  Intrinsic::ID Constrained = Intrinsic::lookupIntrinsicID(
      ("llvm.experimental.constrained." + Base).str());
  if (Constrained != Intrinsic::not_intrinsic)
    return B.CreateConstrainedFPCall(
        Intrinsic::getOrInsertDeclaration(M, Constrained, Types), Arguments);
  CallInst *Call = B.CreateIntrinsic(ID, Types, Arguments);
  Call->addFnAttr(Attribute::StrictFP);
  return Call;
}

/// The name of the libm function \p Base for numbers of type \p T.
static std::string libmName(StringRef Base, const Type *T, const Triple &TT) {
  switch (T->getTypeID()) {
  case Type::FloatTyID:
    return (Base + "f").str();
  case Type::DoubleTyID:
    return Base.str();
  case Type::FP128TyID:
    return (Base + (TT.isX86() ? "f128" : "l")).str();
  default:
    return (Base + "l").str();
  }
}

/// Declares the libm function; the user's own local function of that name makes
/// way for it.
static FunctionCallee declareLibm(Module &M, StringRef Name,
                                  FunctionType *Type) {
  if (GlobalValue *Taken = M.getNamedValue(Name)) {
    auto *F = dyn_cast<Function>(Taken);
    if (F && !F->hasLocalLinkage())
      return {Type, F};
    Taken->setName(Name + ".local");
  }
  return M.getOrInsertFunction(Name, Type);
}

Value *RowEmitter::callLibm(StringRef Name, ArrayRef<Value *> Arguments) {
  // Element by element, and no library has functions of 16-bit floats.
  if (auto *Vector = dyn_cast<FixedVectorType>(T)) {
    Type *Element = Vector->getElementType();
    Value *Result = PoisonValue::get(T);
    for (unsigned K = 0; K != Vector->getNumElements(); ++K) {
      SmallVector<Value *, 3> One;
      for (Value *A : Arguments)
        One.push_back(A->getType()->isVectorTy()
                          ? B.CreateExtractElement(A, uint64_t(K))
                          : A);
      Value *R = RowEmitter(B, Element, "", {}, {}).callLibm(Name, One);
      Result = B.CreateInsertElement(Result, R, uint64_t(K));
    }
    return Result;
  }
  if (T->isHalfTy() || T->isBFloatTy()) {
    Type *Float = B.getFloatTy();
    SmallVector<Value *, 3> Wide;
    for (Value *A : Arguments)
      Wide.push_back(A->getType() == T ? B.CreateFPExt(A, Float) : A);
    return B.CreateFPTrunc(
        RowEmitter(B, Float, "", {}, {}).callLibm(Name, Wide), T);
  }
  Module &M = *B.GetInsertBlock()->getModule();
  if (Name == "digamma")
    return B.CreateCall(digammaFunction(M, T), Arguments);
  SmallVector<Type *, 3> Types;
  for (Value *A : Arguments)
    Types.push_back(A->getType());
  FunctionCallee Callee =
      declareLibm(M, libmName(Name, T, M.getTargetTriple()),
                  FunctionType::get(T, Types, /*isVarArg=*/false));
  CallInst *Call = B.CreateCall(Callee, Arguments);
  Call->setDoesNotAccessMemory();
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::WillReturn);
  if (B.getIsFPConstrained())
    Call->addFnAttr(Attribute::StrictFP);
  return Call;
}

/// A constant exponent that is a small multiple of one half needs no call.
Value *RowEmitter::power(Value *Base, Value *Exponent) {
  for (int Twice = -8; Twice <= 8; ++Twice) {
    if (!isNumber(Exponent, Twice * 0.5))
      continue;
    int Magnitude = std::abs(Twice);
    Value *Result = nullptr;
    if (Magnitude % 2 == 1)
      Result = callIntrinsic(Intrinsic::sqrt, {T}, {Base});
    for (int K = 0; K != Magnitude / 2; ++K)
      Result = Result ? B.CreateFMul(Result, Base) : Base;
    Value *One = ConstantFP::get(T, 1);
    if (!Result)
      return One;
    return Twice < 0 ? B.CreateFDiv(One, Result) : Result;
  }
  return callIntrinsic(Intrinsic::pow, {T}, {Base, Exponent});
}

Value *RowEmitter::call(const RowFormula &F, const RowNode &N) {
  // The functions of the language are rows of the table, and digamma.
  const ScalarRule *Callee = scalarRuleNamed(N.Text);
  SmallVector<Value *, 3> Arguments;
  SmallVector<Type *, 2> Types{T};
  for (unsigned I = 0; I != N.Children.size(); ++I) {
    bool Integer = Callee && isIntegerParam(Callee->Params[I]);
    Arguments.push_back(Integer ? integer(F, F.child(N, I))
                                : real(F, F.child(N, I)));
    if (Integer)
      Types.push_back(Arguments.back()->getType());
  }
  if (N.Text == "pow")
    return power(Arguments[0], Arguments[1]);
  Intrinsic::ID ID = Intrinsic::lookupIntrinsicID(("llvm." + N.Text).str());
  if (ID == Intrinsic::not_intrinsic)
    return callLibm(N.Text, Arguments);
  auto *Vector = dyn_cast<VectorType>(T);
  if (ID == Intrinsic::ldexp && Vector && !Types[1]->isVectorTy()) {
    Arguments[1] = B.CreateVectorSplat(Vector->getElementCount(), Arguments[1]);
    Types[1] = Arguments[1]->getType();
  }
  return callIntrinsic(ID, Types, Arguments);
}
