/* Sparse shadows: the shadow bytes of memory that has no shadow object, found by the primal address.
 *
 * Primal memory is divided into pages. The pages that somebody wrote live in runs: a run holds, for each lane, the
 * shadow bytes of pages that follow each other, contiguously, so that an access may cross from one to the next. A
 * naturally aligned access never crosses; the first one that does joins the runs on both sides. */
#include "context.h"

extern void *calloc(size_t, size_t);
extern void free(void *);

enum { PageBits = 9, PageSize = 1 << PageBits, FirstTable = 64, Align = 64, Small = 64 };

struct adjoin_page {
  uintptr_t number; /* address / PageSize */
  struct adjoin_run *run; /* null: the slot is empty */
};

struct adjoin_run {
  struct adjoin_run *next; /* all runs of the context, those that were joined in others too */
  uintptr_t first, last;   /* the pages that the table knows, by number */
  uintptr_t room;          /* the first page that there is memory for... */
  size_t capacity;         /* ...and how many */
  size_t stride;           /* bytes from lane to lane */
  char *data;              /* lane l of page k: data + l * stride + (k - room) * PageSize */
};

static const char Zeros[Small] __attribute__((aligned(Align)));

static inline int isShadow(const void *p, const void *q) { return q != 0 && q != p; }

static size_t lanes(const struct adjoin_context *c) { return c->width ? c->width : 1; }

static _Noreturn void exhausted(void) { adjoin_rt_abort("memory for shadows is exhausted"); }

/* The slot of a page in the table, or the empty one where it would be. */
static struct adjoin_page *slot(const struct adjoin_context *c, uintptr_t number) {
  size_t mask = c->page_capacity - 1;
  size_t s = (size_t)((number * (uintptr_t)0x9E3779B97F4A7C15u) >> 20) & mask;
  while (c->pages[s].run && c->pages[s].number != number)
    s = (s + 1) & mask;
  return &c->pages[s];
}

/* The run that a page is in, or null. */
static struct adjoin_run *runOf(const struct adjoin_context *c, uintptr_t number) {
  return c->pages ? slot(c, number)->run : 0;
}

static char *addressIn(const struct adjoin_run *r, uintptr_t p, size_t lane) {
  return r->data + lane * r->stride + (p - (r->room << PageBits));
}

/* Enters a new page in the table, which stays at most half full. */
static void enter(struct adjoin_context *c, uintptr_t number, struct adjoin_run *r) {
  if (2 * (c->page_count + 1) > c->page_capacity) {
    struct adjoin_page *old = c->pages;
    size_t capacity = c->page_capacity;
    c->page_capacity = capacity ? 2 * capacity : FirstTable;
    c->pages = calloc(c->page_capacity, sizeof *c->pages);
    if (!c->pages)
      exhausted();
    for (size_t s = 0; s != capacity; ++s)
      if (old[s].run)
        *slot(c, old[s].number) = old[s];
    free(old);
  }
  struct adjoin_page *s = slot(c, number);
  s->number = number;
  s->run = r;
  ++c->page_count;
}

static struct adjoin_run *newRun(struct adjoin_context *c, uintptr_t room, size_t capacity) {
  if (capacity > (PTRDIFF_MAX >> PageBits) / lanes(c) - 1)
    exhausted();
  size_t stride = capacity << PageBits;
  struct adjoin_run *r = calloc(1, sizeof *r + Align + lanes(c) * stride);
  if (!r)
    exhausted();
  r->next = c->runs;
  c->runs = r;
  r->room = room;
  r->capacity = capacity;
  r->stride = stride;
  r->data = (char *)(((uintptr_t)(r + 1) + (Align - 1)) & ~(uintptr_t)(Align - 1));
  return r;
}

/* Makes the pages from first to last lie in one run, and returns it. */
static __attribute__((noinline, cold)) struct adjoin_run *join(struct adjoin_context *c, uintptr_t first,
                                                               uintptr_t last) {
  struct adjoin_run *before = runOf(c, first), *after = runOf(c, last);
  struct adjoin_run *r = before ? before : after;
  /* A run at one side that has room for the rest just grows. */
  int grows = r && first - r->room < r->capacity && last - r->room < r->capacity;
  for (uintptr_t k = first; grows && k - first <= last - first; ++k) {
    struct adjoin_run *other = runOf(c, k);
    grows = !other || other == r;
  }
  if (grows) {
    if (first < r->first)
      r->first = first;
    if (last > r->last)
      r->last = last;
    for (uintptr_t k = first; k - first <= last - first; ++k)
      if (!runOf(c, k))
        enter(c, k, r);
    return r;
  }
  /* Else everything moves to a new one, with room to grow on at the side where the old one grew. What pointed into the
   * old runs stays readable until the end. */
  uintptr_t from = before ? before->first : first;
  uintptr_t to = after ? after->last : last;
  size_t count = (size_t)(to - from) + 1;
  size_t spare = r ? count : 0;
  struct adjoin_run *joined = newRun(c, before ? from : from - spare, count + spare);
  joined->first = from;
  joined->last = to;
  for (uintptr_t k = from; k - from <= to - from; ++k) {
    struct adjoin_run *old = runOf(c, k);
    if (!old) {
      enter(c, k, joined);
      continue;
    }
    for (size_t l = 0; l != lanes(c); ++l)
      __builtin_memcpy(addressIn(joined, k << PageBits, l), addressIn(old, k << PageBits, l), PageSize);
    slot(c, k)->run = joined;
  }
  return joined;
}

/* The sparse shadow of the n bytes at p. It is made when make is set, and where a part of it is there; else null. */
static char *place(struct adjoin_context *c, uintptr_t p, size_t n, size_t lane, int make) {
  uintptr_t first = p >> PageBits;
  uintptr_t last = (p + (n ? n - 1 : 0)) >> PageBits;
  struct adjoin_run *r = runOf(c, first);
  if (first == last) {
    if (!r) {
      if (!make)
        return 0;
      r = newRun(c, first, 1);
      r->first = r->last = first;
      enter(c, first, r);
    }
    return addressIn(r, p, lane);
  }
  if (r && last <= r->last)
    return addressIn(r, p, lane);
  for (uintptr_t k = first; !make && k - first <= last - first; ++k)
    make = runOf(c, k) != 0;
  return make ? addressIn(join(c, first, last), p, lane) : 0;
}

static __attribute__((noinline)) const void *readSlow(struct adjoin_context *c, const void *p, size_t n, size_t lane,
                                                      const void *absent) {
  const void *at = place(c, (uintptr_t)p, n, lane, absent == Zeros && n > Small);
  return at ? at : absent;
}

const void *adjoin_rt_shadow_read(struct adjoin_context *c, const void *p, const void *q, size_t n, size_t lane) {
  return isShadow(p, q) ? q : readSlow(c, p, n, lane, Zeros);
}

const void *adjoin_rt_shadow_read_pointer(struct adjoin_context *c, const void *p, const void *q, size_t n,
                                          size_t lane) {
  return isShadow(p, q) ? q : readSlow(c, p, n, lane, p);
}

static __attribute__((noinline)) void *writeSlow(struct adjoin_context *c, void *p, size_t n, size_t lane) {
  return place(c, (uintptr_t)p, n, lane, 1);
}

void *adjoin_rt_shadow_write(struct adjoin_context *c, void *p, void *q, size_t n, size_t lane) {
  return isShadow(p, q) ? q : writeSlow(c, p, n, lane);
}

static __attribute__((noinline)) void *clearSlow(struct adjoin_context *c, void *p, size_t n, size_t lane) {
  char *at = place(c, (uintptr_t)p, n, lane, n > Small);
  if (at)
    return at;
  if (!c->scratch) {
    c->scratch = calloc(1, Small + Align);
    if (!c->scratch)
      exhausted();
  }
  return (void *)(((uintptr_t)c->scratch + (Align - 1)) & ~(uintptr_t)(Align - 1));
}

void *adjoin_rt_shadow_clear(struct adjoin_context *c, void *p, void *q, size_t n, size_t lane) {
  return isShadow(p, q) ? q : clearSlow(c, p, n, lane);
}

static int allZero(const char *s, size_t n) {
  for (size_t i = 0; i != n; ++i)
    if (s[i])
      return 0;
  return 1;
}

/* Copies the shadow of a piece that lies in one page on either side. */
static void copyPiece(struct adjoin_context *c, char *p, char *q, const char *p2, const char *q2, size_t n, size_t lane,
                      int mirror) {
  const char *from = q2 ? q2 : place(c, (uintptr_t)p2, n, lane, 0);
  if (q) {
    if (from)
      __builtin_memmove(q, from, n);
    else
      __builtin_memset(q, 0, n);
    /* A word of a sparse shadow that was never written is that of a constant, whose shadow is itself. */
    if (mirror && !q2)
      for (size_t i = 0; i != n;) {
        size_t word = sizeof(void *) - (((uintptr_t)p + i) & (sizeof(void *) - 1));
        if (word > n - i)
          word = n - i;
        if (allZero(q + i, word))
          __builtin_memcpy(q + i, p + i, word);
        i += word;
      }
    return;
  }
  if (from && !allZero(from, n)) {
    /* Making the page moves nothing: the piece does not cross. */
    __builtin_memmove(place(c, (uintptr_t)p, n, lane, 1), from, n);
    return;
  }
  char *to = place(c, (uintptr_t)p, n, lane, 0);
  if (to)
    __builtin_memset(to, 0, n);
}

void adjoin_rt_shadow_copy(struct adjoin_context *c, void *p, void *q, const void *p2, const void *q2, size_t n,
                           size_t lane, int mirror) {
  char *dst = p, *dstShadow = isShadow(p, q) ? q : 0;
  const char *src = p2, *srcShadow = isShadow(p2, q2) ? q2 : 0;
  if (dstShadow && srcShadow) {
    __builtin_memmove(dstShadow, srcShadow, n);
    return;
  }
  /* Pieces end at the page ends of both sides, and go downwards where the destination lies behind the source. */
  int down = (uintptr_t)dst - (uintptr_t)src < n;
  size_t done = 0;
  while (done != n) {
    size_t room = n - done, at;
    if (down) {
      size_t a = (((uintptr_t)dst + room - 1) & (PageSize - 1)) + 1;
      size_t b = (((uintptr_t)src + room - 1) & (PageSize - 1)) + 1;
      size_t end = room;
      room = room < a ? room : a;
      room = room < b ? room : b;
      at = end - room;
    } else {
      size_t a = PageSize - (((uintptr_t)dst + done) & (PageSize - 1));
      size_t b = PageSize - (((uintptr_t)src + done) & (PageSize - 1));
      room = room < a ? room : a;
      room = room < b ? room : b;
      at = done;
    }
    copyPiece(c, dst + at, dstShadow ? dstShadow + at : 0, src + at, srcShadow ? srcShadow + at : 0, room, lane,
              mirror);
    done += room;
  }
}

void adjoin_rt_shadow_fill(struct adjoin_context *c, void *p, void *q, int8_t byte, size_t n, size_t lane) {
  if (isShadow(p, q)) {
    __builtin_memset(q, byte, n);
    return;
  }
  /* Nothing but floats and pointers is read from a sparse shadow, and zero says that they are constant. */
  for (size_t done = 0; done != n;) {
    size_t room = PageSize - (((uintptr_t)p + done) & (PageSize - 1));
    if (room > n - done)
      room = n - done;
    char *at = place(c, (uintptr_t)p + done, room, lane, 0);
    if (at)
      __builtin_memset(at, 0, room);
    done += room;
  }
}

void adjoin_rt_sparse_finish(struct adjoin_context *c) {
  for (struct adjoin_run *r = c->runs; r;) {
    struct adjoin_run *next = r->next;
    free(r);
    r = next;
  }
  free(c->pages);
  free(c->scratch);
  c->pages = 0;
  c->runs = 0;
  c->scratch = 0;
  c->page_capacity = 0;
  c->page_count = 0;
}
