/* Works through the entries of a generated program: each in a process of its own. Compares the primal with the one in
 * long double, forward mode with differences in random directions, the gradient of reverse mode with differences, and
 * derivatives' primal results with the primal's.
 *
 *   program [--list] [--seed S] [NAME…]
 *
 * Prints one line for each failure and one for each entry: PASS, FAIL, SKIP (the differences are not reliable here) or
 * CRASH, the name, and what was checked; then a summary. */
#include "check.h"
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX = 96, LEVELS = 3 };

FILE *sink;
static uint64_t state;

static double uniform(void) { /* in [-1, 1] */
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(int64_t)(state >> 11) / (double)(UINT64_C(1) << 52) - 1.0;
}

static uint64_t hash(const char *name) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (; *name; ++name)
    h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
  return h;
}

static int same_bits_or_close(double a, double b, double tolerance) {
  return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * (1 + fabs(b));
}

/* The Jacobian by central differences, extrapolated over three steps, with an estimate of its error. */
static long double jacobian[MAX][MAX], doubt[MAX][MAX];

static void difference(const struct entry *e, int index, int n, const double *in) {
  long double x[MAX], up[MAX], down[MAX], table[LEVELS][MAX];
  int outs = e->inputs + 1;
  for (int j = 0; j < e->inputs; ++j) {
    for (int i = 0; i < outs; ++i)
      jacobian[i][j] = doubt[i][j] = 0;
    if (e->active_inputs[j] == '0')
      continue;
    long double h = 0x1p-13L;
    for (int level = 0; level < LEVELS; ++level, h /= 2) {
      for (int k = 0; k < e->inputs; ++k)
        x[k] = in[k];
      x[j] = (long double)in[j] + h;
      reference_runs[index](x, up, n);
      x[j] = (long double)in[j] - h;
      reference_runs[index](x, down, n);
      for (int i = 0; i < outs; ++i)
        table[level][i] = (up[i] - down[i]) / (2 * h);
    }
    for (int i = 0; i < outs; ++i) {
      if (e->active_outputs[i] == '0')
        continue;
      long double a = (4 * table[1][i] - table[0][i]) / 3, b = (4 * table[2][i] - table[1][i]) / 3;
      jacobian[i][j] = (16 * b - a) / 15;
      doubt[i][j] = fabsl(jacobian[i][j] - b) + fabsl(b - a) / 8;
    }
  }
}

/* Results of one entry. */
static int checks, failures, skips;

static void complain(const struct entry *e, const char *mode, int n, int place, double got, double want, double within) {
  if (++failures <= 6)
    printf("  %s %s n=%d at %d: got %.12g, want %.12g within %.3g\n", e->name, mode, n, place, got, want, within);
}

static void compare_primal(const struct entry *e, const char *mode, int n, const double *got, const double *want) {
  double tolerance = e->has_float ? 1e-4 : 1e-10;
  for (int i = 0; i < e->inputs + 2; ++i) {
    int asked = i == e->inputs + 1 || (e->active_outputs[i] != '2' && !(i == 0 && isnan(got[0])));
    if (asked && !same_bits_or_close(got[i], want[i], tolerance))
      complain(e, mode, n, i, got[i], want[i], tolerance);
  }
}

/* One linear combination of entries of the Jacobian against a derivative. Returns 0 when it cannot be judged. */
static int judge(const struct entry *e, const char *mode, int n, int place, double got, long double want,
                 long double magnitude, long double uncertain) {
  if (uncertain > 1e-8L * (1 + magnitude))
    return 0;
  long double within = 30 * uncertain + (e->has_float ? 1e-4L * magnitude + 3e-5L : 1e-9L * magnitude + 1e-12L);
  ++checks;
  if (!(fabsl(got - want) <= within))
    complain(e, mode, n, place, got, (double)want, (double)within);
  return 1;
}

static void check_forward(const struct entry *e, int n, const double *in, const double *primal) {
  double tangent[3 * MAX], out[MAX + 1], out_tangent[3 * MAX];
  memset(tangent, 0, sizeof tangent);
  for (int k = 0; k < e->width; ++k)
    for (int j = 0; j < e->inputs; ++j)
      tangent[k * e->inputs + j] = e->active_inputs[j] != '0' ? (float)uniform() : 0;
  size_t before = mallinfo2().uordblks;
  e->forward(in, tangent, out, out_tangent, n);
  size_t after = mallinfo2().uordblks;
  if (after > before)
    complain(e, "forward leaks", n, 0, (double)after, (double)before, 0);
  compare_primal(e, "forward primal", n, out, primal);
  for (int k = 0; k < e->width; ++k)
    for (int i = 0; i < e->inputs + 1; ++i) {
      if (e->active_outputs[i] == '0')
        continue;
      long double want = 0, magnitude = 0, uncertain = 0;
      for (int j = 0; j < e->inputs; ++j) {
        long double v = tangent[k * e->inputs + j];
        want += jacobian[i][j] * v;
        magnitude += fabsl(jacobian[i][j] * v);
        uncertain += doubt[i][j] * fabsl(v);
      }
      if (!judge(e, "forward", n, k * (e->inputs + 1) + i, out_tangent[k * (e->inputs + 1) + i], want, magnitude, uncertain))
        ++skips;
    }
}

static void check_reverse(const struct entry *e, int n, const double *in, const double *primal) {
  double seed[MAX], out[MAX + 1], gradient[MAX];
  for (int i = 0; i < e->inputs + 1; ++i)
    seed[i] = e->active_outputs[i] == '0' ? 0 : i == 0 ? 1 : (float)uniform();
  size_t before = mallinfo2().uordblks;
  e->reverse(in, seed, out, gradient, n);
  size_t after = mallinfo2().uordblks;
  if (after > before)
    complain(e, "reverse leaks", n, 0, (double)after, (double)before, 0);
  compare_primal(e, "reverse primal", n, out, primal);
  for (int j = 0; j < e->inputs; ++j) {
    if (e->active_inputs[j] == '0')
      continue;
    long double want = 0, magnitude = 0, uncertain = 0;
    for (int i = 0; i < e->inputs + 1; ++i) {
      want += jacobian[i][j] * seed[i];
      magnitude += fabsl(jacobian[i][j] * seed[i]);
      uncertain += doubt[i][j] * fabsl((long double)seed[i]);
    }
    if (!judge(e, "reverse", n, j, gradient[j], want, magnitude, uncertain))
      ++skips;
  }
}

/* Where there is nothing to check: what the differences are worth. */
static void check_differences(const struct entry *e) {
  if (e->forward || e->reverse)
    return;
  long double largest = 0;
  for (int i = 0; i < e->inputs + 1; ++i)
    for (int j = 0; j < e->inputs; ++j)
      if (e->active_outputs[i] != '0' && e->active_inputs[j] != '0') {
        largest = fmaxl(largest, fabsl(jacobian[i][j]));
        ++checks;
        skips += doubt[i][j] > 1e-8L * (1 + fabsl(jacobian[i][j]));
      }
  if (largest > 100)
    printf("  %s is badly conditioned: a partial of %Lg\n", e->name, largest);
}

static void check_entry(const struct entry *e, int index, uint64_t seed) {
  for (int s = 0; s < 3; ++s) {
    int n = e->sizes[s];
    if (s > 0 && n == e->sizes[s - 1])
      continue;
    double in[MAX], primal[MAX + 1];
    long double x[MAX], exact[MAX + 1];
    state = seed * 977 + hash(e->name) + (uint64_t)s;
    uniform();
    for (int j = 0; j < e->inputs; ++j) {
      in[j] = (float)(1.5 * uniform());
      x[j] = in[j];
    }
    e->run(in, primal, n);
    e->run(in, primal, n);
    reference_runs[index](x, exact, n);
    double tolerance = e->has_float ? 1e-3 : 1e-9;
    for (int i = 0; i < e->inputs + 2; ++i)
      if (!same_bits_or_close(primal[i], (double)exact[i], tolerance)) {
        printf("  %s primal n=%d at %d: %.12g, in long double %.12g\n", e->name, n, i, primal[i], (double)exact[i]);
        ++skips;
        return;
      }
    difference(e, index, n, in);
    check_differences(e);
    if (e->forward)
      check_forward(e, n, in, primal);
    if (e->reverse)
      check_reverse(e, n, in, primal);
  }
}

int main(int argc, char **argv) {
  uint64_t seed = 1;
  int named = 0, passed = 0, failed = 0, skipped = 0, crashed = 0, total = 0;
  if (!getenv("GLIBC_TUNABLES")) { /* blocks in a thread's cache would count as not freed */
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    execv("/proc/self/exe", argv);
  }
  sink = fopen("/dev/null", "w");
  if (!sink)
    return 2;
  for (int k = 1; k < argc; ++k) {
    if (!strcmp(argv[k], "--list")) {
      for (int i = 0; i < program_entry_count; ++i)
        printf("%s\n", program_entries[i].name);
      return 0;
    }
    if (!strcmp(argv[k], "--seed") && k + 1 < argc)
      seed = strtoull(argv[++k], NULL, 10);
    else
      ++named;
  }
  for (int i = 0; i < program_entry_count; ++i) {
    const struct entry *e = &program_entries[i];
    int wanted = !named;
    for (int k = 1; k < argc; ++k)
      wanted |= !strcmp(argv[k], e->name);
    if (!wanted)
      continue;
    ++total;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
      return 2;
    if (child == 0) {
      alarm(60);
      fputs("warm\n", sink); /* its buffer is not a leak */
      check_entry(e, i, seed);
      printf("%s %s: %d checks, %d skipped\n", failures ? "FAIL" : skips * 5 > checks ? "SKIP" : "PASS", e->name, checks, skips);
      fflush(stdout);
      _exit(failures ? 1 : skips * 5 > checks ? 3 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) {
      printf("CRASH %s: signal %d\n", e->name, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
      ++crashed;
    } else if (WEXITSTATUS(status) == 0) {
      ++passed;
    } else if (WEXITSTATUS(status) == 3) {
      ++skipped;
    } else {
      ++failed;
    }
  }
  printf("SUMMARY %d entries: %d passed, %d failed, %d crashed, %d skipped\n", total, passed, failed, crashed, skipped);
  return failed || crashed ? 1 : 0;
}
