/* Adjoin for C and C++: markers, tags and registrations, as declarations that the linker plugin understands.
 *
 * A marker is called where a derivative is wanted, and never defined. Its first argument is the function, then come the
 * function's arguments, each group of them after a tag:
 *
 *     double f(double x, const double *p);
 *     double dx = __adjoin_autodiff((void *)f, adjoin_out, x, adjoin_dup, p, dp);
 *
 * Other return types: declare the marker again under a name of your own that contains it,
 *
 *     struct gradient { double dx, dy; };
 *     struct gradient __adjoin_autodiff_gradient(void *, ...);
 *
 * (in C++ the header adjoin/adjoin.hpp does all this). What is not here is refused by the link with a sentence.
 *
 * Part of Adjoin, under the Apache License v2.0 with LLVM Exceptions. */
#ifndef ADJOIN_H
#define ADJOIN_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Reverse mode: runs f, then propagates adjoints from its result and the shadows of its outputs to its inputs. Returns the
 * adjoints of the arguments tagged adjoin_out. */
double __adjoin_autodiff(void *f, ...);
float __adjoin_autodiff_float(void *f, ...);
void __adjoin_autodiff_void(void *f, ...);

/* Forward mode: returns the tangent of f's result. */
double __adjoin_fwddiff(void *f, ...);
float __adjoin_fwddiff_float(void *f, ...);
void __adjoin_fwddiff_void(void *f, ...);

/* Reverse mode in two calls: the first runs f and returns the tape, the second takes the same arguments again, then the
 * seed (if f's result is active) and the tape, which it frees. */
void *__adjoin_augmentfwd(void *f, ...);
double __adjoin_reverse(void *f, ...);
float __adjoin_reverse_float(void *f, ...);
void __adjoin_reverse_void(void *f, ...);

/* Tags for the arguments that follow, up to the next tag. */
extern int adjoin_const;     /* not differentiated */
extern int adjoin_dup;       /* followed by its shadow: tangent, or memory of adjoints */
extern int adjoin_dupnoneed; /* as dup; the primal value of this output is not needed */
extern int adjoin_dupv;      /* dupv, stride: one base shadow, lane k at k * stride bytes */
extern int adjoin_out;       /* reverse: a scalar (or struct of floats); its adjoint is returned */

/* Tags for the call. */
extern int adjoin_width;            /* width, W: W tangents or adjoints at once */
extern int adjoin_primal_return;    /* the result starts with the primal's */
extern int adjoin_const_return;     /* f's result carries no derivative */
extern int adjoin_active_return;    /* it does */
extern int adjoin_dup_return;       /* the shadow of f's result is wanted */
extern int adjoin_noret;            /* neither value nor derivative is wanted */
extern int adjoin_tape;             /* tape, p: the tape handle (split mode) */
extern int adjoin_allocated;        /* allocated, n: the caller's tape storage has n bytes */
extern int adjoin_runtime_activity; /* a dup whose shadow is its own primal is constant */

#ifdef __cplusplus
}
#endif

/* Registrations: put them at file scope, after the function's declaration and before its definition, so that no compiler
 * inlines the function before the link. The rules themselves may be in any object file and language.
 *
 *     double norm(const double *x, int n);
 *     void *norm_augmented(const double *x, double *dx, int n);
 *     void norm_gradient(const double *x, double *dx, int n, double seed, void *tape);
 *     ADJOIN_GRADIENT(norm, norm_augmented, norm_gradient)
 *
 * For an overloaded or qualified C++ function, which cannot be declared again by its name alone, take the form that ends
 * in _OF, with a cast that selects the overload, and put ADJOIN_NOINLINE on the function's declaration. */

#define ADJOIN_NOINLINE __attribute__((noinline))

/* Calls of f carry no derivative. */
#define ADJOIN_INACTIVE(f) ADJOIN_DETAIL_NOINLINE(f) ADJOIN_INACTIVE_OF(f)
#define ADJOIN_INACTIVE_OF(f) ADJOIN_DETAIL_TABLE("__adjoin_inactivefn_", ADJOIN_DETAIL_ADDRESS(f))

/* Custom reverse rule. Each pointer parameter of f is followed by its shadow. augmented does what f does and returns the
 * tape ({tape, value} when f returns a float); gradient takes the same parameters, then the seed when f returns a float,
 * then the tape, adds to the shadows of the inputs and returns the adjoints of the scalars. */
#define ADJOIN_GRADIENT(f, augmented, gradient) ADJOIN_DETAIL_NOINLINE(f) ADJOIN_GRADIENT_OF(f, augmented, gradient)
#define ADJOIN_GRADIENT_OF(f, augmented, gradient)                                                                           \
  ADJOIN_DETAIL_TABLE("__adjoin_register_gradient_", ADJOIN_DETAIL_ADDRESS(f), ADJOIN_DETAIL_ADDRESS(augmented),            \
                      ADJOIN_DETAIL_ADDRESS(gradient))

/* Custom forward rule. Each float and pointer parameter of f is followed by its tangent or shadow; forward returns
 * {value, tangent} when f returns a float, {value, shadow} when a pointer. */
#define ADJOIN_DERIVATIVE(f, forward) ADJOIN_DETAIL_NOINLINE(f) ADJOIN_DERIVATIVE_OF(f, forward)
#define ADJOIN_DERIVATIVE_OF(f, forward)                                                                                     \
  ADJOIN_DETAIL_TABLE("__adjoin_register_derivative_", ADJOIN_DETAIL_ADDRESS(f), ADJOIN_DETAIL_ADDRESS(forward))

/* f has the derivative of a function that Adjoin knows by name: ADJOIN_LIKE(my_log1p, "log1p"). */
#define ADJOIN_LIKE(f, name) ADJOIN_DETAIL_NOINLINE(f) ADJOIN_LIKE_OF(f, name)
#define ADJOIN_LIKE_OF(f, name)                                                                                              \
  ADJOIN_DETAIL_TABLE("__adjoin_function_like_", ADJOIN_DETAIL_ADDRESS(f), ADJOIN_DETAIL_ADDRESS("" name))

/* An allocator pair: parameter size_arg (from 0) of allocate is the size in bytes; arguments says what release takes, comma
 * separated: "-1" the allocated pointer, "2" the third argument that allocate got. */
#define ADJOIN_ALLOCATION(allocate, size_arg, arguments, release)                                                            \
  ADJOIN_DETAIL_NOINLINE(allocate)                                                                                           \
  ADJOIN_DETAIL_NOINLINE(release) ADJOIN_ALLOCATION_OF(allocate, size_arg, arguments, release)
#define ADJOIN_ALLOCATION_OF(allocate, size_arg, arguments, release)                                                         \
  ADJOIN_DETAIL_TABLE("__adjoin_allocation_like_", ADJOIN_DETAIL_ADDRESS(allocate),                                         \
                      ADJOIN_DETAIL_ADDRESS((__SIZE_TYPE__)(size_arg)), ADJOIN_DETAIL_ADDRESS("" arguments),                \
                      ADJOIN_DETAIL_ADDRESS(release))

/* The global variable g carries no derivative. */
#define ADJOIN_INACTIVE_GLOBAL(g) ADJOIN_DETAIL_TABLE("__adjoin_inactive_global_", ADJOIN_DETAIL_ADDRESS(&(g)))

/* f frees nothing. */
#define ADJOIN_NOFREE(f) ADJOIN_DETAIL_NOINLINE(f) ADJOIN_NOFREE_OF(f)
#define ADJOIN_NOFREE_OF(f) ADJOIN_DETAIL_TABLE("__adjoin_nofree_", ADJOIN_DETAIL_ADDRESS(f))

/* How: a table that the compiler keeps (used), local to the object so that two objects never collide. Its symbol is the
 * registration's name with FILE:LINE behind an @, for diagnostics. Beside it stands an anchor, a byte that a static archive
 * lists, by which ld.adjoin finds the members that hold registrations. */
#define ADJOIN_DETAIL_NOINLINE(f) extern __typeof__(f) f __attribute__((noinline));
#define ADJOIN_DETAIL_ADDRESS(p) ((void *)(p))
#define ADJOIN_DETAIL_STRING2(x) #x
#define ADJOIN_DETAIL_STRING(x) ADJOIN_DETAIL_STRING2(x)
#define ADJOIN_DETAIL_JOIN2(a, b) a##b
#define ADJOIN_DETAIL_JOIN(a, b) ADJOIN_DETAIL_JOIN2(a, b)
#if defined(__clang__)
#define ADJOIN_DETAIL_SYMBOL(name, id)                                                                                       \
  __asm__(name ADJOIN_DETAIL_STRING(id) "@" __FILE__ ":" ADJOIN_DETAIL_STRING(__LINE__))
#define ADJOIN_DETAIL_QUIET                                                                                                  \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpedantic\"")                                        \
      _Pragma("clang diagnostic ignored \"-Wunknown-warning-option\"")                                                       \
          _Pragma("clang diagnostic ignored \"-Wc2y-extensions\"")
#define ADJOIN_DETAIL_LOUD _Pragma("clang diagnostic pop")
#else
#define ADJOIN_DETAIL_SYMBOL(name, id)
#define ADJOIN_DETAIL_QUIET
#define ADJOIN_DETAIL_LOUD
#endif
#define ADJOIN_DETAIL_TABLE(name, ...)                                                                                       \
  ADJOIN_DETAIL_QUIET ADJOIN_DETAIL_TABLE2(__COUNTER__, name, __VA_ARGS__) ADJOIN_DETAIL_LOUD
#define ADJOIN_DETAIL_TABLE2(id, name, ...)                                                                                  \
  static void *ADJOIN_DETAIL_JOIN(adjoin_registration_, id)[] ADJOIN_DETAIL_SYMBOL(name, id)                                 \
      __attribute__((used)) = {__VA_ARGS__};                                                                                 \
  extern char ADJOIN_DETAIL_JOIN(adjoin_anchor_, id) ADJOIN_DETAIL_SYMBOL("adjoin_anchor_", id);                             \
  __attribute__((weak, visibility("hidden"))) char ADJOIN_DETAIL_JOIN(adjoin_anchor_, id) = 0;

#endif
