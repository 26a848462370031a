/* Kernels in C: one construct each. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double c_polynomial(double x, double y) {
  static const double k[] = {1.0, -0.5, 0.25, 2.0};
  double r = 0;
  for (int i = 0; i < 4; ++i)
    r = r * x + k[i] * y;
  return r;
}

struct pair {
  double a, b;
};
__attribute__((noinline)) static struct pair swap(struct pair p, double s) {
  struct pair q = {p.b * s, p.a + s};
  return q;
}
double c_struct_small(double x, double y) {
  struct pair p = {x, y};
  p = swap(p, x * y);
  p = swap(p, 2.0);
  return p.a * p.b;
}

struct large {
  double v[5];
  int n;
};
__attribute__((noinline)) static struct large scale(struct large l, double s) {
  for (int i = 0; i < l.n; ++i)
    l.v[i] *= s;
  l.n--;
  return l;
}
double c_struct_large(double x, double y) {
  struct large l = {{x, y, x * y, 1, 2}, 5};
  struct large m = scale(l, y);
  l = scale(m, x);
  return l.v[0] + l.v[1] * m.v[2] + l.v[4] * m.v[3];
}

struct three {
  float a, b, c;
};
__attribute__((noinline)) static struct three turn(struct three t) {
  struct three u = {t.b, t.c * t.a, t.a};
  return u;
}
double c_struct_floats(double x, double y) {
  struct three t = {(float)x, (float)y, 2.0f};
  t = turn(turn(t));
  return (double)t.a * t.b + t.c;
}

struct mixed {
  int k;
  float f;
  double d;
  const char *name;
};
__attribute__((noinline)) static struct mixed mix(struct mixed m) {
  m.d *= m.k;
  m.k += 1;
  m.f = 0.5f * (float)m.k;
  m.name = "mixed";
  return m;
}
double c_struct_mixed(double x, double y) {
  struct mixed m = {2, 1.0f, x, "none"};
  m = mix(m);
  struct mixed n = m;
  n = mix(n);
  return n.d * y + (double)n.f * x + (double)strlen(n.name);
}

union number {
  double d;
  int64_t i;
};
struct tagged {
  int tag;
  union number u;
};
__attribute__((noinline)) static double value(const struct tagged *t) {
  return t->tag == 0 ? t->u.d : (double)t->u.i;
}
double c_union(double x, double y) {
  struct tagged t[3];
  t[0].tag = 0;
  t[0].u.d = x;
  t[1].tag = 1;
  t[1].u.i = 3;
  t[2].tag = 0;
  t[2].u.d = y * x;
  double r = 1;
  for (int i = 0; i < 3; ++i)
    r *= value(&t[i]);
  return r;
}

static double square(double x) { return x * x; }
static double cube(double x) { return x * x * x; }
static double inverse(double x) { return 1 / x; }
static double (*const table[])(double) = {square, cube, inverse};
double c_function_table(double x, double y) {
  double r = y;
  for (int i = 0; i < 6; ++i)
    r += table[i % 3](x + i);
  return r;
}

__attribute__((noinline)) static double
integrate(double (*f)(double, void *), void *data, double a, double b, int n) {
  double h = (b - a) / n, s = 0;
  for (int i = 0; i < n; ++i)
    s += f(a + (i + 0.5) * h, data) * h;
  return s;
}
static double integrand(double t, void *data) {
  const double *p = data;
  return exp(-p[0] * t) * sin(p[1] * t);
}
double c_callback(double x, double y) {
  double p[2] = {x, y};
  return integrate(integrand, p, 0.0, y, 20);
}

struct node {
  struct node *next;
  int index;
  double v;
};
double c_list(double x, double y) {
  struct node *head = NULL;
  for (int i = 0; i < 5; ++i) {
    struct node *n = malloc(sizeof *n);
    n->next = head;
    n->index = i;
    n->v = x + i * y;
    head = n;
  }
  double r = 1;
  while (head) {
    struct node *n = head;
    r *= n->v * (n->index + 1);
    head = n->next;
    free(n);
  }
  return r * 1e-3;
}

double c_vla(double x, double y) {
  double r = 0;
  for (int n = 1; n < 5; ++n) {
    double a[n];
    for (int i = 0; i < n; ++i)
      a[i] = x * i + y;
    r += a[n - 1] * a[0];
  }
  return r;
}

double c_computed_goto(double x, double y) {
  static const void *const labels[] = {&&add, &&mul, &&stop};
  static const char program[] = {0, 1, 1, 0, 2};
  int pc = 0;
  double r = x;
  goto *labels[(int)program[pc]];
add:
  r += y;
  goto *labels[(int)program[++pc]];
mul:
  r *= x;
  goto *labels[(int)program[++pc]];
stop:
  return r;
}

double c_switch(double x, double y) {
  double r = 0;
  for (int i = 0; i < 8; ++i)
    switch (i & 5) {
    case 0:
      r += x;
      break;
    case 1:
      r *= y;
      /* fall through */
    case 4:
      r -= x * y;
      break;
    default:
      r += 0.5;
    }
  return r;
}

double c_recursion(double x, double y) {
  if (y > 4)
    return x;
  return c_recursion(x * 1.1, y + 1) * y + x;
}

double c_stdio(double x, double y) {
  char text[64];
  double r = x * y;
  int n = snprintf(text, sizeof text, "%s %d", "value", 17);
  FILE *f = fopen("/dev/null", "w");
  if (f) {
    fprintf(f, "%g %s\n", r, text);
    fputs(text, f);
    fclose(f);
  }
  return r * n + (double)strlen(text) * x;
}

static double work[16];
__attribute__((noinline)) static void fill(double x, int n) {
  for (int i = 0; i < n; ++i)
    work[i] = x * (i + 1);
}
double c_workspace(double x, double y) {
  fill(x * y, 16);
  double r = 0;
  for (int i = 0; i < 16; ++i)
    r += work[i] * work[15 - i];
  return r * y;
}

static double *current;
__attribute__((noinline)) static void advance(double s) {
  for (int i = 0; i < 3; ++i)
    current[i] *= s;
}
double c_static_pointer(double x, double y) {
  double v[3] = {x, y, 1};
  current = v;
  advance(x);
  advance(y);
  current = NULL;
  return v[0] + v[1] * v[2];
}

double c_realloc(double x, double y) {
  size_t n = 0, capacity = 0;
  double *v = NULL;
  for (int i = 0; i < 10; ++i) {
    if (n == capacity) {
      capacity = capacity ? 2 * capacity : 1;
      v = realloc(v, capacity * sizeof *v);
    }
    v[n] = n ? v[n - 1] * x + y : y;
    n++;
  }
  double r = v[9] + v[3];
  free(v);
  return r;
}

double c_sign_bits(double x, double y) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  b ^= UINT64_C(1) << 63;
  double m;
  memcpy(&m, &b, sizeof m);
  b &= ~(UINT64_C(1) << 63);
  double a;
  memcpy(&a, &b, sizeof a);
  return m * a + y;
}

double c_float(double x, double y) {
  float a = (float)x, b = (float)y;
  float r = sinf(a) * b + sqrtf(a * b);
  return r;
}

double c_long_double(double x, double y) {
  long double a = x, b = y;
  long double r = expl(-a * b) + logl(a) * b;
  return (double)r;
}

double c_newton(double x, double y) {
  double r = x;
  for (int i = 0; i < 60; ++i) {
    double d = (r * r * r - x * y) / (3 * r * r);
    r -= d;
    if (fabs(d) < 1e-14)
      break;
  }
  return r;
}

double c_table_search(double x, double y) {
  static const double grid[] = {0, 0.5, 1, 2, 4, 8};
  int lo = 0, hi = 5;
  while (hi - lo > 1) {
    int m = (lo + hi) / 2;
    if (grid[m] <= x)
      lo = m;
    else
      hi = m;
  }
  double t = (x - grid[lo]) / (grid[hi] - grid[lo]);
  return (1 - t) * y + t * y * y;
}

double c_libm(double x, double y) {
  return pow(x, y) + atan2(x, y) + hypot(x, y) + exp(sin(x)) * cos(y) +
         log1p(x) * tanh(y) + cbrt(x) + erf(y) + fmod(5 * x, y) + fmax(x, y) +
         fabs(x - 3) + sqrt(y) + asin(x / 4) + expm1(y) + ldexp(x, 3);
}

double c_several_results(double x, double y) {
  int e;
  double whole;
  double m = frexp(x * 5, &e);
  double f = modf(y * 3.3, &whole);
  double s = sin(x), c = cos(x);
  return m * e + f * whole + s * c * y;
}

double c_goto_out(double x, double y) {
  double r = x;
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j) {
      r = r * 0.9 + y;
      if (i * j == 6)
        goto out;
      if (j > i)
        break;
    }
  r = -1;
out:
  return r * x;
}

double c_do_while(double x, double y) {
  int i = 0;
  double r = y;
  do {
    r += x * r;
    if (i == 2)
      continue;
    r -= 0.1 * x;
  } while (++i < 5);
  return r;
}

double c_sum_of_squares(double *p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += p[i] * p[i];
  return s;
}

double c_stencil(double *p, int n) {
  double *q = malloc(n * sizeof *q);
  for (int t = 0; t < 3; ++t) {
    q[0] = p[0];
    q[n - 1] = p[n - 1];
    for (int i = 1; i + 1 < n; ++i)
      q[i] = p[i] + 0.25 * (p[i - 1] - 2 * p[i] + p[i + 1]) * p[i];
    memcpy(p, q, n * sizeof *q);
  }
  free(q);
  return p[n / 2];
}

double c_prefix(double *p, int n) {
  for (int i = 1; i < n; ++i)
    p[i] += p[i - 1] * 0.5;
  return p[n - 1];
}

double c_matrix(double *p, int n) {
  int m = 2;
  while (m * m < n)
    ++m;
  double a[4][4], b[4][4] = {{0}};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      a[i][j] = i * m + j < n ? p[i * m + j] : 1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < m; ++k)
        b[i][j] += a[i][k] * a[k][j];
  return b[0][0] * b[m - 1][m - 1] - b[0][m - 1] * b[m - 1][0];
}

double c_copies(double *p, int n) {
  char raw[64 * sizeof(double)];
  memcpy(raw, p, n * sizeof *p);
  memmove(p + 1, p, (n - 1) * sizeof *p);
  double r = 0;
  for (int i = 0; i < n; ++i) {
    double v;
    memcpy(&v, raw + i * sizeof v, sizeof v);
    r += v * p[i];
  }
  return r;
}

double c_bubble_sort(double *p, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j + 1 < n - i; ++j)
      if (p[j] > p[j + 1]) {
        double t = p[j];
        p[j] = p[j + 1];
        p[j + 1] = t;
      }
  double r = 0;
  for (int i = 0; i < n; ++i)
    r = r * 0.5 + p[i] * p[i];
  return r;
}

static void field(const double *restrict x, double *restrict dx, int n) {
  for (int i = 0; i < n; ++i)
    dx[i] = sin(x[(i + 1) % n]) - 0.1 * x[i] * x[i];
}
double c_runge_kutta(double *p, int n) {
  double k1[16], k2[16], t[16];
  for (int step = 0; step < 4; ++step) {
    field(p, k1, n);
    for (int i = 0; i < n; ++i)
      t[i] = p[i] + 0.05 * k1[i];
    field(t, k2, n);
    for (int i = 0; i < n; ++i)
      p[i] += 0.1 * k2[i];
  }
  return p[0] * p[n - 1];
}

double c_fill(double *p, int n) {
  double r = p[0] * p[1];
  memset(p, 0, (n / 2) * sizeof *p);
  return r + p[0] + p[n - 1];
}

/* Between the languages. */
double rs_next_cxx(double x, double y);
double cxx_next_rs(double x, double y);
double rs_leaf(double x, double y);
double cxx_leaf(double x, double y);
double c_leaf(double x, double y) { return sin(x) * y; }
double c_calls_rust_calls_cxx(double x, double y) {
  return rs_next_cxx(x * y, y) * x;
}
double c_calls_cxx_calls_rust(double x, double y) {
  return cxx_next_rs(x * y, y) + x;
}
double c_next_rs(double x, double y) { return rs_leaf(x, y) * y; }
double c_next_cxx(double x, double y) { return cxx_leaf(x, y) + y; }

double rs_ring(double x, double y, int n);
double c_ring(double x, double y, int n) {
  return n <= 0 ? x : rs_ring(x * y, y, n - 1) + x;
}
double mixed_ring(double x, double y) { return c_ring(x, y, 7); }

void rs_scale(double *p, size_t n, double s);
double cxx_sum(const double *p, size_t n);
double mixed_buffers(double *p, int n) {
  rs_scale(p, n, p[0]);
  double s = cxx_sum(p, n);
  rs_scale(p, n, s);
  return cxx_sum(p, n) * s;
}
