/* The transpose of a copy of floats: the adjoints of the destination move to those of the source, and are cleared. */
#include "context.h"

/* The sum of two bfloat16, which have no arithmetic of their own without a compiler's library: that of the floats whose
 * upper halves they are, rounded to nearest, ties to even. */
struct bf16 {
  uint16_t bits;
};

static struct bf16 addBF16(struct bf16 a, struct bf16 b) {
  union {
    uint32_t bits;
    float value;
  } x = {(uint32_t)a.bits << 16}, y = {(uint32_t)b.bits << 16};
  x.value += y.value;
  if (x.value != x.value)
    return (struct bf16){(uint16_t)(x.bits >> 16 | 0x40)};
  return (struct bf16){(uint16_t)((x.bits + 0x7fff + (x.bits >> 16 & 1)) >> 16)};
}

#define ADD(a, b) ((a) + (b))

/* d and s are shadows, or null where constant; the floats are the n bytes at the given offset from both. A copy that
 * went upwards through memory that may overlap is undone downwards. */
#define PULL(suffix, type, add)                                                                                        \
  typedef type unaligned_##suffix __attribute__((aligned(1), may_alias));                                              \
  void adjoin_rt_pull_##suffix(char *d, char *s, size_t offset, size_t n) {                                            \
    if (!d)                                                                                                            \
      return;                                                                                                          \
    unaligned_##suffix *to = (unaligned_##suffix *)(d + offset);                                                       \
    size_t count = n / sizeof(type);                                                                                   \
    if (!s) {                                                                                                          \
      for (size_t i = 0; i < count; ++i)                                                                               \
        to[i] = (type){0};                                                                                             \
      return;                                                                                                          \
    }                                                                                                                  \
    unaligned_##suffix *from = (unaligned_##suffix *)(s + offset);                                                     \
    for (size_t i = 0; i < count; ++i) {                                                                               \
      type t = to[i];                                                                                                  \
      to[i] = (type){0};                                                                                               \
      from[i] = add(from[i], t);                                                                                       \
    }                                                                                                                  \
  }                                                                                                                    \
  void adjoin_rt_pull_down_##suffix(char *d, char *s, size_t offset, size_t n) {                                       \
    if (!d)                                                                                                            \
      return;                                                                                                          \
    unaligned_##suffix *to = (unaligned_##suffix *)(d + offset);                                                       \
    unaligned_##suffix *from = (unaligned_##suffix *)(s + offset);                                                     \
    for (size_t i = n / sizeof(type); i-- > 0;) {                                                                      \
      type t = to[i];                                                                                                  \
      to[i] = (type){0};                                                                                               \
      if (s)                                                                                                           \
        from[i] = add(from[i], t);                                                                                     \
    }                                                                                                                  \
  }

PULL(f16, _Float16, ADD)
PULL(bf16, struct bf16, addBF16)
PULL(f32, float, ADD)
PULL(f64, double, ADD)
PULL(f80, long double, ADD)
PULL(f128, __float128, ADD)
