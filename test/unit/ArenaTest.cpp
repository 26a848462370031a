// The tape arena, natively: order, growth, reuse, huge blocks.
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

extern "C" {
#include "ad/runtime/context.h"
// The arena alone: a program without the sparse shadows has nothing to free.
__attribute__((weak)) void adjoin_rt_sparse_finish(adjoin_context *) {}
}

namespace {

struct Arena : testing::Test {
  adjoin_context C;
  Arena() { adjoin_rt_init(&C, 1); }
  ~Arena() override { adjoin_rt_finish(&C); }
};

TEST_F(Arena, PopsWhatWasPushedLast) {
  std::vector<std::pair<char *, size_t>> Pushed;
  for (size_t I = 1; I != 20000; ++I) {
    size_t N = I * 37 % 501;
    char *P = static_cast<char *>(adjoin_rt_push(&C, N));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(P) % 16, 0u);
    memset(P, static_cast<int>(I), N);
    Pushed.push_back({P, N});
  }
  for (size_t I = 20000; --I != 0;) {
    auto [P, N] = Pushed[I - 1];
    ASSERT_EQ(adjoin_rt_pop(&C, N), P);
    for (size_t K = 0; K != N; ++K)
      ASSERT_EQ(P[K], static_cast<char>(I));
  }
}

TEST_F(Arena, ReadableAfterPopIntoTheBlockBefore) {
  auto *A = static_cast<double *>(adjoin_rt_push(&C, 4096));
  auto *B = static_cast<double *>(adjoin_rt_push(&C, 8192)); // another block
  A[0] = 1;
  B[1023] = 2;
  EXPECT_EQ(adjoin_rt_pop(&C, 8192), B);
  EXPECT_EQ(adjoin_rt_pop(&C, 4096), A);
  EXPECT_EQ(A[0], 1);
  EXPECT_EQ(B[1023], 2);
}

TEST_F(Arena, BlocksAreUsedAgain) {
  for (int Round = 0; Round != 1000; ++Round) {
    for (int I = 0; I != 100; ++I)
      memset(adjoin_rt_push(&C, 10000), I, 10000);
    for (int I = 100; I-- != 0;)
      ASSERT_EQ(static_cast<char *>(adjoin_rt_pop(&C, 10000))[9999], I);
  }
}

TEST_F(Arena, BigBlocks) {
  auto *Small = static_cast<char *>(adjoin_rt_push(&C, 16));
  auto *Big = static_cast<char *>(adjoin_rt_push(&C, 100 << 20));
  *Small = 1;
  Big[0] = Big[(100 << 20) - 1] = 2;
  // The block is aligned to a huge page; its header comes first.
  EXPECT_LT(reinterpret_cast<uintptr_t>(Big) % (1 << 21), 128u);
  EXPECT_EQ(adjoin_rt_pop(&C, 100 << 20), Big);
  EXPECT_EQ(adjoin_rt_pop(&C, 16), Small);
}

TEST(ArenaDeathTest, Exhausted) {
  adjoin_context C;
  adjoin_rt_init(&C, 1);
  EXPECT_DEATH(adjoin_rt_push(&C, SIZE_MAX), "adjoin: memory for the tape");
  EXPECT_DEATH(adjoin_rt_push(&C, SIZE_MAX / 4), "adjoin: memory for the tape");
}

} // namespace
