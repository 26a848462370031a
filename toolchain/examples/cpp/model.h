// What is differentiated, defined in another object.
#pragma once
#include <cstddef>

double product(double x, double y);
float blend(float x, double y);
double dot(const double *x, const double *y, std::size_t n);
void square(const double &x, double &y);

struct Polynomial {
  double c[3];
  double value(double x) const;
};

double overloaded(double x);
float overloaded(float x);
