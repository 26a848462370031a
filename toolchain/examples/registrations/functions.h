double integral(double x);
double my_log1p(double x);
void report(double x);
double norm(const double *x, int n);
