// The transpose of a copy of floats, natively.
#include <cstdint>
#include <gtest/gtest.h>

extern "C" {
void adjoin_rt_pull_f64(char *d, char *s, size_t offset, size_t n);
void adjoin_rt_pull_down_f64(char *d, char *s, size_t offset, size_t n);
void adjoin_rt_pull_bf16(char *d, char *s, size_t offset, size_t n);
void adjoin_rt_pull_f32(char *d, char *s, size_t offset, size_t n);
}

static char *bytes(void *P) { return static_cast<char *>(P); }

TEST(Pull, MovesAndClears) {
  double D[4] = {1, 2, 3, 4}, S[4] = {10, 20, 30, 40};
  adjoin_rt_pull_f64(bytes(D), bytes(S), 8, 16);
  EXPECT_EQ(D[0], 1);
  EXPECT_EQ(D[1], 0);
  EXPECT_EQ(D[2], 0);
  EXPECT_EQ(D[3], 4);
  EXPECT_EQ(S[0], 10);
  EXPECT_EQ(S[1], 22);
  EXPECT_EQ(S[2], 33);
  EXPECT_EQ(S[3], 40);
}

TEST(Pull, ConstantSides) {
  float D[2] = {1, 2}, S[2] = {3, 4};
  adjoin_rt_pull_f32(nullptr, bytes(S), 0, 8);
  EXPECT_EQ(S[1], 4);
  adjoin_rt_pull_f32(bytes(D), nullptr, 0, 8);
  EXPECT_EQ(D[0], 0);
  EXPECT_EQ(D[1], 0);
}

TEST(Pull, OverlapUpwards) {
  // Undoes memmove(x, x + 1, 2): x0 = x1, x1 = x2.
  double X[3] = {1, 2, 4};
  adjoin_rt_pull_down_f64(bytes(X), bytes(X + 1), 0, 16);
  EXPECT_EQ(X[0], 0);
  EXPECT_EQ(X[1], 1);
  EXPECT_EQ(X[2], 6);
}

TEST(Pull, OverlapDownwards) {
  // Undoes memmove(x + 1, x, 2): x1 = x0, x2 = x1.
  double X[3] = {1, 2, 4};
  adjoin_rt_pull_f64(bytes(X + 1), bytes(X), 0, 16);
  EXPECT_EQ(X[0], 3);
  EXPECT_EQ(X[1], 4);
  EXPECT_EQ(X[2], 0);
}

TEST(Pull, Bfloat16) {
  uint16_t D[2] = {0x3f80, 0x4000}, S[2] = {0x3f80, 0x3f80}; // 1, 2; 1, 1
  adjoin_rt_pull_bf16(bytes(D), bytes(S), 0, 4);
  EXPECT_EQ(D[0], 0);
  EXPECT_EQ(S[0], 0x4000);
  EXPECT_EQ(S[1], 0x4040);
}
