/* The context of one derivative call, as runtime functions and emitted code see it.
 *
 * A request's body makes one on its stack (adjoin_rt_init), passes its address as the last argument of every derived
 * function, and frees what it owns on every path (adjoin_rt_finish). Compiled to bitcode, linked into the module on
 * demand with internal linkage, inlined. */
#ifndef ADJOIN_AD_RUNTIME_CONTEXT_H
#define ADJOIN_AD_RUNTIME_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

struct adjoin_context {
  /* The tape: a LIFO arena of blocks (arena.c). */
  struct adjoin_block *block;
  /* Shadows of memory that has none, by the primal address (sparse.c): a hash table of pages, and what they lie in. */
  struct adjoin_page *pages;
  size_t page_capacity;
  size_t page_count;
  struct adjoin_run *runs;
  /* Where shadows are written that nobody reads: 64 bytes, made when needed. */
  void *scratch;
  /* Lanes of the derivative: a sparse page holds that many shadows. */
  size_t width;
};

void adjoin_rt_init(struct adjoin_context *c, size_t width);
void adjoin_rt_finish(struct adjoin_context *c);
/* Frees the sparse shadows (called by adjoin_rt_finish). */
void adjoin_rt_sparse_finish(struct adjoin_context *c);

/* Pushes n bytes (16-byte aligned, uninitialised) on the arena, aborts with a sentence when memory is exhausted. */
void *adjoin_rt_push(struct adjoin_context *c, size_t n);
/* Pops the n bytes that were pushed last; the result stays readable until the next push. */
void *adjoin_rt_pop(struct adjoin_context *c, size_t n);

/* Shadow addresses below are as p is modulo 64, and good until the next call with another p: use them at once. */

/* The address at which lane `lane` of the shadow of the n bytes at p may be read: q when it is a shadow (not null, not
 * p), else the call's sparse shadow, else n zero bytes. Nothing may be written there. */
const void *adjoin_rt_shadow_read(struct adjoin_context *c, const void *p, const void *q, size_t n, size_t lane);
/* The same for writing; makes the sparse page. */
void *adjoin_rt_shadow_write(struct adjoin_context *c, void *p, void *q, size_t n, size_t lane);

/* As adjoin_rt_shadow_read for pointers: where nothing was stored, the shadow of a constant pointer is the pointer
 * itself, so the primal address p is returned for constant memory. */
const void *adjoin_rt_shadow_read_pointer(struct adjoin_context *c, const void *p, const void *q, size_t n,
                                          size_t lane);
/* Where data without a derivative is written: q when it is a shadow; else the sparse shadow where there
 * is one, else a scratch place. Makes no page where n <= 64 and nothing of the place has one. */
void *adjoin_rt_shadow_clear(struct adjoin_context *c, void *p, void *q, size_t n, size_t lane);
/* The shadow's part of memmove(p, p2, n): from the shadow of p2 to that of p, either of which may be constant. What has
 * no shadow at the source is zero at the destination, or with mirror != 0 (bytes that are no floats) the primal bytes. Comes after the
 * primal's own memmove. */
void adjoin_rt_shadow_copy(struct adjoin_context *c, void *p, void *q, const void *p2, const void *q2, size_t n,
                           size_t lane, int mirror);
/* The shadow's part of memset(p, byte, n). The byte is not zero only where no floats are. */
void adjoin_rt_shadow_fill(struct adjoin_context *c, void *p, void *q, int8_t byte, size_t n, size_t lane);

/* Writes "adjoin: <message>" and a line break to stderr and calls abort. */
_Noreturn void adjoin_rt_abort(const char *message);

#endif
