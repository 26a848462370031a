/* The tape: a LIFO arena of growing blocks, one per derivative call. */
#include "context.h"

extern void *malloc(size_t);
extern void *aligned_alloc(size_t, size_t);
extern void free(void *);
extern int madvise(void *, size_t, int);

/* Blocks form a chain. Those before the context's block are full enough, those after it are empty and wait to be used
 * again: pop never gives a block back, so what it returns stays readable. */
struct adjoin_block {
  struct adjoin_block *prev;
  struct adjoin_block *next;
  char *top; /* first free byte */
  char *end;
  char data[] __attribute__((aligned(16)));
};

enum {
  Align = 16,
  FirstBlock = 1 << 13,
  LastBlock = 1 << 26, /* blocks double up to this size */
  HugePage = 1 << 21,
  MadvHugepage = 14
};

/* What a context without a tape points to: always full, never written. */
static struct adjoin_block Empty;

static size_t roundUp(size_t n) {
  size_t r = (n + (Align - 1)) & ~(size_t)(Align - 1);
  return r != 0 ? r : Align;
}

void adjoin_rt_init(struct adjoin_context *c, size_t width) {
  c->block = &Empty;
  c->pages = 0;
  c->page_capacity = 0;
  c->page_count = 0;
  c->runs = 0;
  c->scratch = 0;
  c->width = width;
}

__attribute__((noinline, cold)) static struct adjoin_block *newBlock(size_t capacity) {
  size_t size = sizeof(struct adjoin_block) + capacity;
  struct adjoin_block *b;
  if (size >= HugePage) {
    size = (size + HugePage - 1) & ~(size_t)(HugePage - 1);
    b = size != 0 ? aligned_alloc(HugePage, size) : 0;
    if (b)
      madvise(b, size, MadvHugepage);
  } else {
    b = malloc(size);
  }
  if (!b)
    adjoin_rt_abort("memory for the tape is exhausted");
  b->top = b->data;
  b->end = (char *)b + size;
  return b;
}

/* Makes the next block that can hold n bytes the context's block, and pushes them there. */
__attribute__((noinline, cold)) static void *pushSlow(struct adjoin_context *c, size_t n) {
  struct adjoin_block *b = c->block;
  struct adjoin_block *next = b->next;
  if (n > PTRDIFF_MAX - 2 * (size_t)HugePage)
    adjoin_rt_abort("memory for the tape is exhausted");
  if (!next || (size_t)(next->end - next->top) < n) {
    size_t size = b == &Empty ? FirstBlock : 2 * (size_t)(b->end - (char *)b);
    if (size > LastBlock)
      size = LastBlock;
    size -= sizeof(struct adjoin_block);
    next = newBlock(n > size ? n : size);
    next->prev = b == &Empty ? 0 : b;
    next->next = b->next;
    if (b->next)
      b->next->prev = next;
    if (b != &Empty)
      b->next = next;
  }
  c->block = next;
  next->top += n;
  return next->top - n;
}

void *adjoin_rt_push(struct adjoin_context *c, size_t n) {
  size_t r = roundUp(n);
  struct adjoin_block *b = c->block;
  char *top = b->top;
  if (__builtin_expect(r < n || (size_t)(b->end - top) < r, 0))
    return pushSlow(c, r < n ? n : r);
  b->top = top + r;
  return top;
}

/* The block before the context's, which is empty, that holds something. */
__attribute__((noinline, cold)) static struct adjoin_block *popSlow(struct adjoin_context *c) {
  struct adjoin_block *b = c->block;
  while (b->top == b->data)
    b = b->prev;
  return c->block = b;
}

void *adjoin_rt_pop(struct adjoin_context *c, size_t n) {
  struct adjoin_block *b = c->block;
  if (__builtin_expect(b->top == b->data, 0))
    b = popSlow(c);
  return b->top -= roundUp(n);
}

__attribute__((noinline, cold)) static void freeBlocks(struct adjoin_block *b) {
  while (b->next)
    b = b->next;
  while (b) {
    struct adjoin_block *prev = b->prev;
    free(b);
    b = prev;
  }
}

void adjoin_rt_finish(struct adjoin_context *c) {
  if (c->block != &Empty)
    freeBlocks(c->block);
  c->block = &Empty;
  if (c->pages || c->scratch)
    adjoin_rt_sparse_finish(c);
}
