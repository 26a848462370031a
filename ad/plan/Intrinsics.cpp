// Intrinsics that are structure.
#include "ad/plan/Intrinsics.h"
#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace adjoin;

static bool isFixed(const Type *T) {
  if (auto *Struct = dyn_cast<StructType>(T))
    return all_of(Struct->elements(), isFixed);
  return !isa<ScalableVectorType>(T);
}

Structure adjoin::structureOf(const IntrinsicInst &I) {
  if (!isFixed(I.getType()) ||
      any_of(I.args(), [](const Value *V) { return !isFixed(V->getType()); }))
    return Structure::None;
  switch (I.getIntrinsicID()) {
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptrmask:
  case Intrinsic::ssa_copy:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::ptr_annotation:
  case Intrinsic::annotation:
    return Structure::Through;
  case Intrinsic::vector_reduce_fadd:
    return Structure::Sum;
  case Intrinsic::vector_reduce_fmul:
    return Structure::Product;
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
    return Structure::Extreme;
  case Intrinsic::vector_reverse:
  case Intrinsic::vector_extract:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_interleave2:
  case Intrinsic::vector_deinterleave2:
    return Structure::Permute;
  case Intrinsic::vector_splice_left:
  case Intrinsic::vector_splice_right:
    return isa<ConstantInt>(I.getArgOperand(2)) ? Structure::Permute
                                                : Structure::None;
  case Intrinsic::masked_load:
    return Structure::Load;
  case Intrinsic::masked_store:
    return Structure::Store;
  case Intrinsic::masked_gather:
  case Intrinsic::masked_expandload:
    return Structure::Gather;
  case Intrinsic::masked_scatter:
  case Intrinsic::masked_compressstore:
    return Structure::Scatter;
  default:
    return Structure::None;
  }
}

static int elements(const Type *T) {
  return static_cast<int>(cast<FixedVectorType>(T)->getNumElements());
}

static int constantOperand(const IntrinsicInst &I, unsigned Operand) {
  return static_cast<int>(
      cast<ConstantInt>(I.getArgOperand(Operand))->getZExtValue());
}

SmallVector<int, 16> adjoin::permutation(const IntrinsicInst &I) {
  SmallVector<int, 16> Result;
  int N = elements(I.getArgOperand(0)->getType());
  switch (I.getIntrinsicID()) {
  case Intrinsic::vector_reverse:
    for (int K = N; K-- != 0;)
      Result.push_back(K);
    break;
  case Intrinsic::vector_extract:
    for (int K = 0; K != elements(I.getType()); ++K)
      Result.push_back(constantOperand(I, 1) + K);
    break;
  case Intrinsic::vector_insert: {
    int At = constantOperand(I, 2);
    int Part = elements(I.getArgOperand(1)->getType());
    for (int K = 0; K != N; ++K)
      Result.push_back(K >= At && K < At + Part ? N + K - At : K);
    break;
  }
  case Intrinsic::vector_interleave2:
    for (int K = 0; K != N; ++K) {
      Result.push_back(K);
      Result.push_back(N + K);
    }
    break;
  case Intrinsic::vector_deinterleave2:
    for (int K = 0; K != N; ++K)
      Result.push_back(K < N / 2 ? 2 * K : 2 * (K - N / 2) + 1);
    break;
  case Intrinsic::vector_splice_left:
    for (int K = 0; K != N; ++K)
      Result.push_back(constantOperand(I, 2) + K);
    break;
  case Intrinsic::vector_splice_right:
    for (int K = 0; K != N; ++K)
      Result.push_back(N - constantOperand(I, 2) + K);
    break;
  default:
    llvm_unreachable("not a permutation");
  }
  return Result;
}

static bool isLoad(const IntrinsicInst &I) {
  Structure S = structureOf(I);
  return S == Structure::Load || S == Structure::Gather;
}

const Value *adjoin::maskedPointer(const IntrinsicInst &I) {
  return I.getArgOperand(isLoad(I) ? 0 : 1);
}

const Value *adjoin::maskOf(const IntrinsicInst &I) {
  return I.getArgOperand(isLoad(I) ? 1 : 2);
}

const Value *adjoin::maskedData(const IntrinsicInst &I) {
  if (!isLoad(I))
    return I.getArgOperand(0);
  return I.arg_size() > 2 ? I.getArgOperand(2) : nullptr;
}
