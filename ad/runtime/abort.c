/* What can only be seen at run time ends in one line on stderr and an abort. */
#include "context.h"

extern long write(int, const void *, size_t);
extern _Noreturn void abort(void);

static void put(const char *s) {
  size_t n = 0;
  while (s[n])
    ++n;
  while (n > 0) {
    long written = write(2, s, n);
    if (written <= 0)
      return;
    s += written;
    n -= (size_t)written;
  }
}

__attribute__((noinline, cold)) void adjoin_rt_abort(const char *message) {
  put("adjoin: ");
  put(message);
  put("\n");
  abort();
}
