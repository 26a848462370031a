// Kernels in C++: one construct each.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#define KERNEL extern "C" double

KERNEL cxx_vector(double x, double y) {
  std::vector<double> v;
  for (int i = 0; i < 9; ++i)
    v.push_back(x * i + y);
  std::vector<double> w = v;
  w.insert(w.begin() + 2, x);
  w.erase(w.begin());
  double r = 0;
  for (size_t i = 0; i != w.size(); ++i)
    r += w[i] * v[i % v.size()];
  return r;
}

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual double scaled(double s) const { return area() * s; }
};
struct Circle final : Shape {
  double R;
  explicit Circle(double R) : R(R) {}
  double area() const override { return 3 * R * R; }
};
struct Box : Shape {
  double A, B;
  Box(double A, double B) : A(A), B(B) {}
  double area() const override { return A * B; }
  double scaled(double s) const override { return area() * s * s; }
};
} // namespace
KERNEL cxx_virtual(double x, double y) {
  std::vector<std::unique_ptr<Shape>> Shapes;
  for (int i = 0; i < 4; ++i)
    if (i % 2)
      Shapes.push_back(std::make_unique<Circle>(x + i));
    else
      Shapes.push_back(std::make_unique<Box>(x, y + i));
  double r = 0;
  for (auto &S : Shapes)
    r += S->scaled(y);
  return r;
}

KERNEL cxx_std_function(double x, double y) {
  std::function<double(double)> f = [x](double t) { return t * x; };
  std::function<double(double)> g = [f, y](double t) { return f(t) + y; };
  return g(x) * f(y);
}

KERNEL cxx_lambda(double x, double y) {
  auto power = [&](auto &self, int n) -> double {
    return n == 0 ? 1.0 : self(self, n - 1) * x;
  };
  return power(power, 4) * y;
}

template <int N> static double nested(double x) {
  if constexpr (N == 0)
    return x;
  else
    return std::sin(nested<N - 1>(x)) + x;
}
KERNEL cxx_template(double x, double y) { return nested<5>(x * y); }

__attribute__((noinline)) static double checked(double x) {
  if (x < 0)
    throw std::domain_error("negative");
  return std::sqrt(x);
}
KERNEL cxx_exception(double x, double y) {
  double r = checked(x) * y;
  try {
    r += checked(-x);
  } catch (const std::exception &e) {
    r *= x;
  }
  return r;
}

namespace {
struct Guard {
  double *P;
  ~Guard() { *P *= 2; }
};
} // namespace
KERNEL cxx_cleanup(double x, double y) {
  double r = x;
  {
    Guard G{&r};
    std::vector<double> v(3, checked(y));
    r += v[1] * x;
  }
  return r;
}

KERNEL cxx_string(double x, double y) {
  std::string s = "n" + std::to_string(12);
  for (int i = 0; i < 20; ++i)
    s += 'x';
  return x * y * static_cast<double>(s.size());
}

KERNEL cxx_optional(double x, double y) {
  std::optional<double> a = x, b;
  if (y > 0)
    b = a.value() * y;
  return b.value_or(1.0) + a.value_or(2.0);
}

KERNEL cxx_variant(double x, double y) {
  std::variant<int, double, float> v[3] = {3, x, 2.0f};
  double r = y;
  for (auto &e : v)
    std::visit([&](auto t) { r *= static_cast<double>(t); }, e);
  return r;
}

KERNEL cxx_tuple(double x, double y) {
  auto t = std::make_tuple(x, 3, y);
  auto [a, k, b] = t;
  std::get<0>(t) = b;
  return a * k + std::get<0>(t) * a;
}

KERNEL cxx_unique_ptr(double x, double y) {
  auto p = std::make_unique<double>(x);
  auto q = std::make_unique<double[]>(3);
  q[1] = *p * y;
  auto m = std::move(p);
  return q[1] * *m + q[0];
}

KERNEL cxx_shared_ptr(double x, double y) {
  auto p = std::make_shared<std::array<double, 2>>();
  (*p)[0] = x;
  auto q = p;
  (*q)[1] = y;
  std::weak_ptr<std::array<double, 2>> w = q;
  return (*w.lock())[0] * (*p)[1] * (double)p.use_count();
}

namespace {
struct Model {
  double A, B;
  double sum(double t) const { return A * t + B; }
  double product(double t) const { return A * B * t; }
};
} // namespace
KERNEL cxx_member_pointer(double x, double y) {
  Model M{x, y};
  double (Model::*F[])(double) const = {&Model::sum, &Model::product};
  double Model::*D = &Model::B;
  double r = 0;
  for (auto f : F)
    r += (M.*f)(M.*D);
  return r;
}

namespace {
struct Dual3 {
  double v[3];
  friend Dual3 operator*(const Dual3 &a, const Dual3 &b) {
    return {{a.v[0] * b.v[0], a.v[1] * b.v[2], a.v[2] * b.v[1]}};
  }
  friend Dual3 operator+(Dual3 a, const Dual3 &b) {
    for (int i = 0; i < 3; ++i)
      a.v[i] += b.v[i];
    return a;
  }
};
} // namespace
KERNEL cxx_operators(double x, double y) {
  Dual3 a{{x, y, 1}}, b{{y, x, x * y}};
  Dual3 c = a * b + a * a + b;
  return c.v[0] * c.v[1] - c.v[2];
}

KERNEL cxx_array(double x, double y) {
  std::array<std::array<double, 3>, 2> a{};
  a[1].fill(x);
  a[0] = a[1];
  a[0][2] = y;
  std::swap(a[0], a[1]);
  return a[1][2] * a[0][0] + a[1][0];
}

KERNEL cxx_static_local(double x, double y) {
  static const std::vector<double> weights = {0.5, 1.5, 2.5};
  double r = 0;
  for (double w : weights)
    r = r * x + w * y;
  return r;
}

KERNEL cxx_deque(double x, double y) {
  std::deque<double> d;
  for (int i = 0; i < 6; ++i) {
    d.push_back(x * i);
    d.push_front(y + i);
  }
  double r = 0;
  while (!d.empty()) {
    r = r * 0.5 + d.front();
    d.pop_front();
  }
  return r;
}

namespace {
struct Named {
  virtual ~Named() = default;
  virtual double weight() const { return 2; }
  int Id = 7;
};
struct Sized {
  virtual ~Sized() = default;
  virtual double size() const = 0;
  double S = 1;
};
struct Both : Named, Sized {
  double W;
  Both(double W, double Z) : W(W) { S = Z; }
  double weight() const override { return W; }
  double size() const override { return S * W; }
};
__attribute__((noinline)) double measure(const Named &n, const Sized &s) {
  return n.weight() * s.size() * s.S + n.Id;
}
} // namespace
KERNEL cxx_multiple_inheritance(double x, double y) {
  Both b(x, y);
  return measure(b, b);
}

KERNEL cxx_sort(double *p, int n) {
  std::sort(p, p + n, [](double a, double b) { return a > b; });
  double r = 0;
  for (int i = 0; i < n; ++i)
    r = r * 0.5 + p[i] * p[i];
  return r;
}

KERNEL cxx_inner_product(double *p, int n) {
  std::vector<double> v(p, p + n);
  std::reverse(v.begin(), v.end());
  std::rotate(p, p + 1, p + n);
  return std::inner_product(v.begin(), v.end(), p, 1.0) +
         std::accumulate(p, p + n, 0.0) + *std::max_element(p, p + n);
}

namespace {
class Matrix {
public:
  Matrix(size_t N, size_t M) : M(M), V(N * M) {}
  double &operator()(size_t I, size_t J) { return V[I * M + J]; }
  double operator()(size_t I, size_t J) const { return V[I * M + J]; }
  friend Matrix operator*(const Matrix &A, const Matrix &B) {
    Matrix C(A.V.size() / A.M, B.M);
    for (size_t I = 0; I != A.V.size() / A.M; ++I)
      for (size_t J = 0; J != B.M; ++J)
        for (size_t K = 0; K != A.M; ++K)
          C(I, J) += A(I, K) * B(K, J);
    return C;
  }

private:
  size_t M;
  std::vector<double> V;
};
} // namespace
KERNEL cxx_matrix_class(double *p, int n) {
  Matrix A(2, n / 2), B(n / 2, 2);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < n / 2; ++j) {
      A(i, j) = p[i * (n / 2) + j];
      B(j, i) = p[j] * p[i] + p[(2 * i + 3 * j) % n];
    }
  Matrix C = A * B;
  return C(0, 0) * C(1, 1) - C(0, 1) * C(1, 0);
}

KERNEL cxx_transform(double *p, int n) {
  std::transform(p, p + n, p, [](double t) { return t * std::exp(-t); });
  std::partial_sum(p, p + n, p);
  auto it = std::find_if(p, p + n, [](double t) { return t > 1.0; });
  return it == p + n ? p[n - 1] : *it * p[0];
}

KERNEL cxx_vector_of_vectors(double *p, int n) {
  std::vector<std::vector<double>> v;
  for (int i = 0; i < n; ++i)
    v.emplace_back(i + 1, p[i]);
  v[0] = v[n - 1];
  double r = 0;
  for (const auto &w : v)
    for (double t : w)
      r += t * t * p[0];
  return r;
}

extern "C" {
double rs_next_c(double x, double y);
double c_next_rs(double x, double y);
double rs_leaf(double x, double y);
double c_leaf(double x, double y);
double cxx_leaf(double x, double y) { return std::cos(x) + y * y; }
double cxx_calls_c_calls_rust(double x, double y) {
  return c_next_rs(x + y, y) * x;
}
double cxx_calls_rust_calls_c(double x, double y) {
  return rs_next_c(x + y, y) - x;
}
double cxx_next_rs(double x, double y) { return rs_leaf(y, x) * y; }
double cxx_next_c(double x, double y) { return c_leaf(y, x) * y; }
double c_ring(double x, double y, int n);
double cxx_ring(double x, double y, int n) {
  return n <= 0 ? y : c_ring(x - y, y, n - 1) * 0.5 + std::sin(x);
}
double cxx_sum(const double *p, size_t n) {
  return std::accumulate(p, p + n, 0.0);
}
}
