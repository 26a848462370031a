// Transposed calls that return several results (sincos, frexp, modf, remquo).
#include "ad/reverse/Adjoint.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace adjoin;

void AdjointEmitter::transposeMulti(const CallBase &I, const MultiRule &Rule) {
  Value *Adjoint = take(&I);
  auto *Struct = dyn_cast<StructType>(I.getType());
  Type *T = I.getArgOperand(0)->getType();
  for (auto [K, Result] : enumerate(Rule.Results)) {
    if (!Result.Float || MultiRule::pointerOperand(Result) >= 0)
      continue;
    // What the plan does not have, no partial reads.
    SmallVector<Value *, 4> Operands;
    for (Value *Op : I.args())
      Operands.push_back(isa<Constant>(Op) ? Op
                                           : PoisonValue::get(Op->getType()));
    SmallVector<Value *, 2> Outs(Rule.Results.size(), nullptr);
    PartialNeeds Needs;
    {
      LinearMap Map(Rule, K, I, Operands, Outs, W, S.R.StrongZero);
      for (unsigned Op = 0; Op != I.arg_size(); ++Op)
        if (S.hasAdjoint(I.getArgOperand(Op))) {
          PartialNeeds N = Map.needs(Op);
          Needs.Operands |= N.Operands;
          Needs.Outs |= N.Outs;
        }
    }
    for (unsigned Op = 0; Op != I.arg_size(); ++Op)
      if ((Needs.Operands & (1U << Op)) != 0)
        Operands[Op] = primal(I.getArgOperand(Op));
    for (unsigned Out = 0; Out != Outs.size(); ++Out)
      if ((Needs.Outs & (1U << Out)) != 0)
        Outs[Out] =
            Struct ? B.CreateExtractValue(primal(&I),
                                          MultiRule::field(Rule.Results[Out]))
                   : primal(&I);
    Type *Form = formType(&I);
    Value *Part = Adjoint;
    if (Struct) {
      unsigned Field = MultiRule::field(Result);
      Form = cast<StructType>(Form)->getElementType(Field);
      Part = B.CreateExtractValue(Adjoint, Field);
    }
    Part = convert(Part, Form, T);
    LinearMap Map(Rule, K, I, Operands, Outs, W, S.R.StrongZero);
    for (unsigned Op = 0; Op != I.arg_size(); ++Op) {
      const Value *To = I.getArgOperand(Op);
      if (S.hasAdjoint(To) && !Map.isZero(Op))
        give(To, convert(Map.pull(B, Op, Part), T, formType(To)));
    }
  }
}
