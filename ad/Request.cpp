// Signatures of derived functions.
#include "ad/Request.h"
#include "llvm/IR/DerivedTypes.h"

using namespace llvm;
using namespace adjoin;

bool Request::operator==(const Request &O) const {
  return Primal == O.Primal && M == O.M && Width == O.Width && Args == O.Args &&
         ReturnActive == O.ReturnActive && StrongZero == O.StrongZero &&
         Sparse == O.Sparse && Adjacent == O.Adjacent;
}

Type *adjoin::shadowType(Type *T, unsigned Width) {
  if (Width == 1 || T->isVoidTy())
    return T;
  if (T->isFPOrFPVectorTy()) {
    if (auto *V = dyn_cast<FixedVectorType>(T))
      return FixedVectorType::get(V->getElementType(),
                                  V->getNumElements() * Width);
    return FixedVectorType::get(T, Width);
  }
  if (auto *S = dyn_cast<StructType>(T)) {
    SmallVector<Type *, 8> Members;
    for (Type *M : S->elements())
      Members.push_back(shadowType(M, Width));
    return StructType::get(T->getContext(), Members, S->isPacked());
  }
  if (auto *A = dyn_cast<ArrayType>(T))
    return ArrayType::get(shadowType(A->getElementType(), Width),
                          A->getNumElements());
  return ArrayType::get(T, Width);
}

static bool isFloatData(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return S->getNumElements() != 0 && all_of(S->elements(), isFloatData);
  if (auto *A = dyn_cast<ArrayType>(T))
    return A->getNumElements() != 0 && isFloatData(A->getElementType());
  return T->isFPOrFPVectorTy();
}

static bool isPointerData(Type *T) {
  if (auto *S = dyn_cast<StructType>(T))
    return all_of(S->elements(), isPointerData);
  if (auto *A = dyn_cast<ArrayType>(T))
    return isPointerData(A->getElementType());
  return T->isPtrOrPtrVectorTy();
}

bool adjoin::hasShadowParameter(const Request &R, unsigned Arg) {
  return R.Args[Arg] != ShadowState::Const &&
         (R.M == Mode::Forward ||
          !isFloatData(R.Primal->getFunctionType()->getParamType(Arg)));
}

bool adjoin::hasAdjointResult(const Request &R, unsigned Arg) {
  return R.Args[Arg] != ShadowState::Const &&
         !isPointerData(R.Primal->getFunctionType()->getParamType(Arg));
}

bool adjoin::hasSeed(const Request &R) {
  Type *T = R.Primal->getReturnType();
  return R.ReturnActive && !T->isVoidTy() && !isPointerData(T);
}

bool adjoin::returnsShadow(const Request &R) {
  Type *T = R.Primal->getReturnType();
  return R.ReturnActive && !T->isVoidTy() && !isFloatData(T);
}

static Type *withShadow(Type *T, unsigned Width) {
  return StructType::get(T->getContext(), {T, shadowType(T, Width)});
}

static void appendParams(const Request &R, SmallVectorImpl<Type *> &Params) {
  for (auto [Index, T] : enumerate(R.Primal->getFunctionType()->params())) {
    Params.push_back(T);
    if (hasShadowParameter(R, Index))
      Params.push_back(shadowType(T, R.Width));
  }
}

FunctionType *adjoin::forwardType(const Request &R) {
  SmallVector<Type *, 16> Params;
  appendParams(R, Params);
  Params.push_back(PointerType::getUnqual(R.Primal->getContext()));
  Type *Ret = R.Primal->getReturnType();
  if (R.ReturnActive && !Ret->isVoidTy())
    Ret = withShadow(Ret, R.Width);
  return FunctionType::get(Ret, Params, false);
}

FunctionType *adjoin::augmentedType(const Request &R) {
  SmallVector<Type *, 16> Params;
  appendParams(R, Params);
  Params.push_back(PointerType::getUnqual(R.Primal->getContext()));
  Type *Ret = R.Primal->getReturnType();
  if (returnsShadow(R))
    Ret = withShadow(Ret, R.Width);
  return FunctionType::get(Ret, Params, false);
}

FunctionType *adjoin::reverseType(const Request &R) {
  LLVMContext &C = R.Primal->getContext();
  SmallVector<Type *, 16> Params;
  appendParams(R, Params);
  Type *Ret = R.Primal->getReturnType();
  if (hasSeed(R))
    Params.push_back(shadowType(Ret, R.Width));
  Params.push_back(PointerType::getUnqual(C));
  SmallVector<Type *, 8> Adjoints;
  for (auto [Index, T] : enumerate(R.Primal->getFunctionType()->params()))
    if (hasAdjointResult(R, Index))
      Adjoints.push_back(shadowType(T, R.Width));
  Type *Result = Adjoints.empty()
                     ? Type::getVoidTy(C)
                     : static_cast<Type *>(StructType::get(C, Adjoints));
  return FunctionType::get(Result, Params, false);
}
