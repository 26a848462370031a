double spring(double stretch, double stiffness);
/* Energy of springs of length 1 between points x[0] … x[n-1]. */
double energy(const double *x, int n, double stiffness);
/* Moves each inner point towards its neighbours, in place. */
void relax(double *x, int n, double rate);
