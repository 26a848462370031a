/* The table of entries of a generated program, which check.c works through. */
#ifndef CHECK_H
#define CHECK_H

/* Inputs and outputs are flat vectors; the first output is the function's result, the others are the inputs at exit, and
 * behind them stands one number that sums up the globals, which is not differentiated. */
struct entry {
  const char *name;
  int inputs;
  int width;     /* tangents at once in forward mode */
  int has_float; /* computes partly in float */
  int sizes[3];  /* values of n */
  const char *active_inputs, *active_outputs; /* a digit for each: 0 not differentiated; 2 its value is not computed */
  void (*run)(const double *in, double *out, int n);
  void (*forward)(const double *in, const double *tangent, double *out, double *out_tangent, int n);
  void (*reverse)(const double *in, const double *seed, double *out, double *gradient, int n);
};

extern const struct entry program_entries[];
extern const int program_entry_count;
extern void (*const reference_runs[])(const long double *in, long double *out, int n);

#endif
