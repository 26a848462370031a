// The runtime's sparse shadows, natively, against a map from bytes to bytes.
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

extern "C" {
#include "ad/runtime/context.h"
}

namespace {

struct Sparse : testing::TestWithParam<size_t> {
  adjoin_context C;
  Sparse() { adjoin_rt_init(&C, GetParam()); }
  ~Sparse() override { adjoin_rt_finish(&C); }
};

TEST_P(Sparse, AShadowIsUsedAsItIs) {
  double X = 1, DX = 2;
  EXPECT_EQ(adjoin_rt_shadow_read(&C, &X, &DX, 8, 0), &DX);
  EXPECT_EQ(adjoin_rt_shadow_write(&C, &X, &DX, 8, 0), &DX);
  EXPECT_EQ(adjoin_rt_shadow_clear(&C, &X, &DX, 8, 0), &DX);
  EXPECT_EQ(adjoin_rt_shadow_read_pointer(&C, &X, &DX, 8, 0), &DX);
  EXPECT_EQ(C.page_count, 0U);
}

TEST_P(Sparse, ConstantMemoryReadsAsZeroAndPointersAsThemselves) {
  double X = 1;
  for (void *Q : {static_cast<void *>(nullptr), static_cast<void *>(&X)}) {
    double Zero = 1;
    memcpy(&Zero, adjoin_rt_shadow_read(&C, &X, Q, 8, 0), 8);
    EXPECT_EQ(Zero, 0.0);
    EXPECT_EQ(adjoin_rt_shadow_read_pointer(&C, &X, Q, 8, 0), &X);
    void *Scratch = adjoin_rt_shadow_clear(&C, &X, Q, 64, 0);
    ASSERT_NE(Scratch, &X);
    memset(Scratch, 1, 64);
    adjoin_rt_shadow_fill(&C, &X, Q, 0, 8, 0);
  }
  EXPECT_EQ(C.page_count, 0U);
}

TEST_P(Sparse, LongReadsOfConstantMemoryAreZero) {
  std::vector<char> Memory(5000, 1);
  const void *At = adjoin_rt_shadow_read(&C, Memory.data(), nullptr, 5000, 0);
  EXPECT_EQ(std::vector<char>(5000, 0),
            std::vector<char>(static_cast<const char *>(At),
                              static_cast<const char *>(At) + 5000));
}

/// Random accesses of every size at every alignment, crossing pages or not.
TEST_P(Sparse, RandomAccesses) {
  std::mt19937 Random(7);
  size_t Width = GetParam();
  std::vector<char> Primal(20000);
  std::map<std::pair<size_t, size_t>, char> Shadow; // offset and lane
  auto Byte = [&](size_t At, size_t Lane) {
    auto Found = Shadow.find({At, Lane});
    return Found == Shadow.end() ? '\0' : Found->second;
  };
  for (unsigned Step = 0; Step != 60000; ++Step) {
    size_t N = Random() % 16 == 0 ? Random() % 3000 : 1 + Random() % 64;
    // At first here and there, then everywhere.
    size_t At = Random() % (Primal.size() - N);
    if (Step < 30000)
      At = At / 4000 * 4000;
    size_t Lane = Random() % Width;
    char *P = Primal.data() + At;
    switch (Random() % 4) {
    case 0: {
      char *To = static_cast<char *>(adjoin_rt_shadow_write(&C, P, P, N, Lane));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(To) % 64,
                reinterpret_cast<uintptr_t>(P) % 64);
      for (size_t I = 0; I != N; ++I)
        Shadow[{At + I, Lane}] = To[I] = static_cast<char>(Random());
      break;
    }
    case 1: {
      char *To = static_cast<char *>(adjoin_rt_shadow_clear(&C, P, P, N, Lane));
      for (size_t I = 0; I != N; ++I) {
        To[I] = 0;
        Shadow.erase({At + I, Lane});
      }
      break;
    }
    case 2:
      adjoin_rt_shadow_fill(&C, P, nullptr, 3, N, Lane);
      for (size_t I = 0; I != N; ++I)
        Shadow.erase({At + I, Lane});
      break;
    case 3: {
      size_t From = Random() % (Primal.size() - N);
      adjoin_rt_shadow_copy(&C, P, P, Primal.data() + From, nullptr, N, Lane,
                            0);
      std::vector<char> Was(N);
      for (size_t I = 0; I != N; ++I)
        Was[I] = Byte(From + I, Lane);
      for (size_t I = 0; I != N; ++I)
        Shadow[{At + I, Lane}] = Was[I];
      break;
    }
    }
    size_t M = 1 + Random() % 64;
    At = Random() % (Primal.size() - M);
    const char *Now = static_cast<const char *>(
        adjoin_rt_shadow_read(&C, Primal.data() + At, nullptr, M, Lane));
    for (size_t I = 0; I != M; ++I)
      ASSERT_EQ(Now[I], Byte(At + I, Lane)) << Step;
  }
}

TEST_P(Sparse, WalksThatCrossEveryPage) {
  size_t Lane = GetParam() - 1;
  for (bool Down : {false, true}) {
    adjoin_context D;
    adjoin_rt_init(&D, GetParam());
    std::vector<char> Primal(1 << 20);
    size_t Count = (Primal.size() - 1) / 24;
    auto Place = [&](size_t I) {
      return Primal.data() + 1 + 24 * (Down ? Count - 1 - I : I);
    };
    for (size_t I = 0; I != Count; ++I)
      memset(adjoin_rt_shadow_write(&D, Place(I), nullptr, 24, Lane),
             static_cast<int>(I), 24);
    for (size_t I = 0; I != Count; ++I) {
      auto *At = static_cast<const char *>(
          adjoin_rt_shadow_read(&D, Place(I), nullptr, 24, Lane));
      for (size_t K = 0; K != 24; ++K)
        ASSERT_EQ(At[K], static_cast<char>(I));
    }
    adjoin_rt_finish(&D);
  }
}

TEST_P(Sparse, CopiesBetweenShadowsAndConstantMemory) {
  // To a shadow from constant memory: floats are zero, other bytes mirrored.
  std::vector<void *> A(500, &C), B(500, &C), DB(500, this);
  adjoin_rt_shadow_copy(&C, B.data(), DB.data(), A.data(), nullptr, 4000, 0, 1);
  EXPECT_EQ(DB, B);
  adjoin_rt_shadow_copy(&C, B.data(), DB.data(), A.data(), nullptr, 4000, 0, 0);
  EXPECT_EQ(DB, std::vector<void *>(500, nullptr));

  // One pointer has a shadow, in sparse memory: it travels.
  void *Other = this;
  memcpy(adjoin_rt_shadow_write(&C, &A[77], nullptr, 8, 0), &Other, 8);
  adjoin_rt_shadow_copy(&C, B.data(), DB.data(), A.data(), nullptr, 4000, 0, 1);
  for (size_t I = 0; I != 500; ++I)
    EXPECT_EQ(DB[I], I == 77 ? Other : B[I]);

  // And back, to constant memory: only what is not zero makes pages.
  size_t Pages = C.page_count;
  std::vector<void *> E(500), Zero(500, nullptr);
  adjoin_rt_shadow_copy(&C, E.data(), nullptr, B.data(), Zero.data(), 4000, 0,
                        1);
  EXPECT_EQ(C.page_count, Pages);
  adjoin_rt_shadow_copy(&C, E.data(), nullptr, B.data(), DB.data(), 4000, 0, 1);
  EXPECT_EQ(memcmp(adjoin_rt_shadow_read(&C, &E[77], nullptr, 8, 0), &Other, 8),
            0);
}

INSTANTIATE_TEST_SUITE_P(Widths, Sparse, testing::Values(1, 4));

TEST(AbortTest, SaysWhy) {
  EXPECT_DEATH(adjoin_rt_abort("the tape is another function's"),
               "^adjoin: the tape is another function's\n$");
}

} // namespace
