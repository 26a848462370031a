/* The transpose of a copy of floats: the adjoints of the destination move to those of the source, and are cleared. */
#include "context.h"

/* d and s are shadows, or null where constant; the floats are the n bytes at the given offset from both. A copy that
 * went upwards through memory that may overlap is undone downwards. */
#define PULL(suffix, type)                                                                                             \
  typedef type unaligned_##suffix __attribute__((aligned(1), may_alias));                                             \
  void adjoin_rt_pull_##suffix(char *d, char *s, size_t offset, size_t n) {                                            \
    if (!d)                                                                                                            \
      return;                                                                                                          \
    unaligned_##suffix *to = (unaligned_##suffix *)(d + offset);                                                       \
    size_t count = n / sizeof(type);                                                                                   \
    if (!s) {                                                                                                          \
      for (size_t i = 0; i < count; ++i)                                                                               \
        to[i] = (type)0.0f;                                                                                            \
      return;                                                                                                          \
    }                                                                                                                  \
    unaligned_##suffix *from = (unaligned_##suffix *)(s + offset);                                                     \
    for (size_t i = 0; i < count; ++i) {                                                                               \
      type t = to[i];                                                                                                  \
      to[i] = (type)0.0f;                                                                                              \
      from[i] += t;                                                                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  void adjoin_rt_pull_down_##suffix(char *d, char *s, size_t offset, size_t n) {                                       \
    if (!d)                                                                                                            \
      return;                                                                                                          \
    unaligned_##suffix *to = (unaligned_##suffix *)(d + offset);                                                       \
    unaligned_##suffix *from = (unaligned_##suffix *)(s + offset);                                                     \
    for (size_t i = n / sizeof(type); i-- > 0;) {                                                                      \
      type t = to[i];                                                                                                  \
      to[i] = (type)0.0f;                                                                                              \
      if (s)                                                                                                           \
        from[i] += t;                                                                                                  \
    }                                                                                                                  \
  }

PULL(f16, _Float16)
PULL(bf16, __bf16)
PULL(f32, float)
PULL(f64, double)
PULL(f80, long double)
PULL(f128, __float128)
