// Fills the kind graph from IR: what each instruction says about bytes.
#ifndef ADJOIN_AD_ANALYSIS_KINDBUILDER_H
#define ADJOIN_AD_ANALYSIS_KINDBUILDER_H

#include "ad/analysis/KindGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

namespace adjoin {

class KindBuilder : public llvm::InstVisitor<KindBuilder> {
public:
  using CellId = KindGraph::CellId;
  using Handle = KindGraph::Handle;
  static constexpr uint32_t None = KindGraph::None;
  /// What a call of a function that does more than that shares with others.
  static constexpr size_t MaxSummary = 2000;

  explicit KindBuilder(const llvm::Module &M);

  /// Adds bodies: copies with their originals.
  void add(llvm::ArrayRef<llvm::Function *> Copies,
           llvm::function_ref<const llvm::Function *(const llvm::Function &)>
               OrigOf);

  /// The cell of a value that was met, None for others.
  CellId known(const llvm::Value *V) const;
  /// Where a pointer points, without making anything.
  Handle place(const llvm::Value *Ptr) const;
  const KindGraph &graph() const { return G; }
  const llvm::DataLayout &layout() const { return DL; }

private:
  friend class llvm::InstVisitor<KindBuilder>;

  /// What all bodies of one function of the program share: the original and
  /// its working copy.
  struct Entity {
    const llvm::Function *Original = nullptr;
    llvm::SmallVector<CellId, 4> Params;
    CellId Return = None;
    CellId VarArgs = None; ///< points to an array with all variadic arguments
    Handle Address;        ///< the region that stands for the function itself
    uint32_t Signature = None; ///< what indirect calls of it share
    llvm::SmallVector<const llvm::Function *, 1> NewBodies;
    bool HasCopy = false;
    bool Reached = false;
    bool InProgress = false; ///< a walk of the call graph is at it
    bool Complete = false;   ///< analysed, so that calls may copy what it does
  };
  /// A multiple of Gcd plus differences of pointers.
  struct Stride {
    uint64_t Gcd = 0;
    llvm::SmallVector<std::pair<CellId, CellId>, 1> Differences;
  };
  struct DeferredFold {
    Handle H;
    Stride S;
  };

  // Values (KindValues.cpp).
  CellId cell(const llvm::Value *V);
  CellId makeCellFor(const llvm::Type *T);
  CellId constantCell(const llvm::Constant *C);
  Handle globalPlace(const llvm::GlobalVariable &GV);
  void initialise(const llvm::GlobalVariable &GV);
  uint32_t makeSignature(const llvm::FunctionType *T);
  Handle functionPlace(const llvm::Function &F);
  Handle pointee(const llvm::Value *Ptr);
  bool hasBytes(const llvm::Type *T) const;
  uint64_t sizeOf(const llvm::Type *T) const;
  void seed(const llvm::Value *V, KindSet K);
  void seedInt(const llvm::Value *V);
  void seedByType(const llvm::Value *V);
  void move(const llvm::Value *To, const llvm::Value *From);
  void moveBytes(const llvm::Value *To, uint64_t ToByte,
                 const llvm::Value *From, uint64_t FromByte, uint64_t N);
  void moveInLanes(const llvm::Value *To, uint64_t ToByte,
                   const llvm::Value *From, uint64_t FromByte, uint64_t N);
  uint64_t aggregateOffset(llvm::Type *T,
                           llvm::ArrayRef<unsigned> Indices) const;

  // Functions and calls (KindCalls.cpp).
  uint32_t entity(const llvm::Function &F);
  void analyse(const llvm::Function &Body, uint32_t E);
  void analyseAll(llvm::ArrayRef<uint32_t> Roots);
  void finishComponent(llvm::ArrayRef<uint32_t> Component);
  bool analyseCalled();
  uint32_t anyFunction(const llvm::FunctionType *T);
  bool resolveIndirect();
  CellId varArgs(uint32_t E);
  CellId exception();
  llvm::SmallVector<CellId, 8> summary(uint32_t E);
  void bindMember(uint32_t Sig, uint32_t E);
  void bind(const llvm::CallBase &CB, llvm::ArrayRef<CellId> Params,
            CellId Return);
  void callIndirect(const llvm::CallBase &CB);
  bool callLibrary(const llvm::CallBase &CB, const llvm::Function &F);
  void callIntrinsic(const llvm::CallBase &CB, llvm::Intrinsic::ID Id);
  bool funnelShift(const llvm::CallBase &CB, bool Left);
  void copyMemory(const llvm::Value *To, const llvm::Value *From,
                  const llvm::Value *Length);
  void moveLanes(const llvm::Value *To, const llvm::Value *From);
  void accessLanes(const llvm::Value *V, const llvm::Value *Ptr,
                   bool Scattered);

  // Instructions (KindInstructions.cpp).
  void visitInstruction(llvm::Instruction &I) {}
  void visitLoadInst(llvm::LoadInst &I);
  void visitStoreInst(llvm::StoreInst &I);
  void visitAllocaInst(llvm::AllocaInst &I);
  void visitGetElementPtrInst(llvm::GetElementPtrInst &I);
  void visitAtomicRMWInst(llvm::AtomicRMWInst &I);
  void visitAtomicCmpXchgInst(llvm::AtomicCmpXchgInst &I);
  void visitPHINode(llvm::PHINode &I);
  void visitSelectInst(llvm::SelectInst &I);
  void visitFreezeInst(llvm::FreezeInst &I);
  void visitCastInst(llvm::CastInst &I);
  void visitUnaryOperator(llvm::UnaryOperator &I);
  void visitBinaryOperator(llvm::BinaryOperator &I);
  void visitICmpInst(llvm::ICmpInst &I);
  void visitFCmpInst(llvm::FCmpInst &I);
  void visitExtractValueInst(llvm::ExtractValueInst &I);
  void visitInsertValueInst(llvm::InsertValueInst &I);
  void visitExtractElementInst(llvm::ExtractElementInst &I);
  void visitInsertElementInst(llvm::InsertElementInst &I);
  void visitShuffleVectorInst(llvm::ShuffleVectorInst &I);
  void visitCallBase(llvm::CallBase &I);
  void visitReturnInst(llvm::ReturnInst &I);
  void visitSwitchInst(llvm::SwitchInst &I);
  void visitIndirectBrInst(llvm::IndirectBrInst &I);
  void visitLandingPadInst(llvm::LandingPadInst &I);
  void visitResumeInst(llvm::ResumeInst &I);
  void visitVAArgInst(llvm::VAArgInst &I);

  void offsetPointer(const llvm::Value *Result, const llvm::GEPOperator &GEP);
  void integerOperation(llvm::BinaryOperator &I);
  bool byteShift(llvm::BinaryOperator &I);
  bool maskBytes(llvm::BinaryOperator &I);
  bool combineBytes(llvm::BinaryOperator &I);
  bool flipSigns(llvm::BinaryOperator &I);
  bool readsBits(llvm::BinaryOperator &I);
  bool addressArithmetic(llvm::BinaryOperator &I);
  void multipleOf(const llvm::Value *V, Stride &S, unsigned Depth,
                  llvm::SmallPtrSetImpl<const llvm::Value *> &Phis);
  void foldBy(Handle H, const llvm::Value *Index, uint64_t Scale);
  bool foldDeferred(size_t From);
  bool compareDeferred(size_t From);

  const llvm::Module &M;
  const llvm::DataLayout &DL;
  llvm::TargetLibraryInfoImpl LibraryImpl;
  llvm::TargetLibraryInfo Library;
  KindGraph G;
  llvm::DenseMap<const llvm::Value *, CellId> Cells;
  llvm::DenseMap<const llvm::GlobalVariable *, Handle> Globals;
  std::vector<const llvm::GlobalVariable *> NewGlobals;
  std::vector<Entity> Entities;
  llvm::DenseMap<const llvm::Function *, uint32_t> EntityOf;
  std::vector<DeferredFold> Folds;
  std::vector<std::pair<CellId, CellId>> Compares;
  /// Operations on integers of the visited body that end as bits of a float.
  llvm::DenseSet<const llvm::Value *> FloatBound;
  bool CallsMatter = true; ///< the block that is visited may return
  unsigned Nesting = 0;    ///< of analyseAll
  size_t Instructions = 0; ///< analysed so far
  size_t Copied = 0;       ///< cells copied for calls so far
  llvm::DenseMap<const llvm::FunctionType *, uint32_t> AnyOfType;
  CellId Exception = None; ///< what landing pads and resumes have in common
  uint32_t Current = None; ///< the entity whose body is visited
};

} // namespace adjoin

#endif
