// Derivatives that take several directions or two orders: jacobian(), hvp().
#ifndef ADJOIN_DETAIL_HIGHER_HPP
#define ADJOIN_DETAIL_HIGHER_HPP

#include "call.hpp"
#include "matrix.hpp"
#include <vector>

namespace adjoin {

/// The Jacobian of F(const T *x, T *y) with m outputs at x, a contiguous
/// container: J(i, j) = dy_i / dx_j. Vector forward mode, Width columns at a
/// time.
template <unsigned Width = 4, typename F, typename X>
ADJOIN_DETAIL_INLINE auto jacobian(F &&f, const X &x, std::size_t m) {
  static_assert(detail::is_contiguous<const X>,
                "adjoin::jacobian: x must have data() and size()");
  using T = std::remove_const_t<detail::element_of<const X>>;
  static_assert(std::is_invocable_v<std::decay_t<F> &, const T *, T *>,
                "adjoin::jacobian: the function must take (const T *x, T *y)");
  const std::size_t n = x.size();
  matrix<T> j(m, n);
  std::vector<T> y(m), dx(Width * n), dy(Width * m);
  for (std::size_t first = 0; first < n; first += Width) {
    const std::size_t lanes = n - first < Width ? n - first : Width;
    for (std::size_t k = 0; k < lanes; ++k)
      dx[k * n + first + k] = T(1);
    y.assign(m, T());
    dy.assign(Width * m, T());
    detail::mark<detail::fwddiff_lanes<Width>, void>(
        f, detail::laned_item<const T>{x.data(), dx.data(), n * sizeof(T)},
        detail::laned_item<T>{y.data(), dy.data(), m * sizeof(T)});
    for (std::size_t k = 0; k < lanes; ++k) {
      dx[k * n + first + k] = T();
      for (std::size_t i = 0; i < m; ++i)
        j(i, first + k) = dy[k * m + i];
    }
  }
  return j;
}

/// The Hessian of f at x times v: forward over reverse. f takes one object (a
/// span, vector, array or Eigen vector) and returns a floating-point number; x
/// and v are of one type, and so is the result.
template <typename F, typename X>
ADJOIN_DETAIL_INLINE auto hvp(F &&f, const X &x, const X &v) {
  static_assert(
      std::is_floating_point_v<detail::result_of<F, const X>>,
      "adjoin::hvp: the function must return a floating-point number");
  static_assert(!detail::is_span<X>, "adjoin::hvp: a span does not own its "
                                     "elements; pass a container");
  X g = detail::zero_like(x), hv = detail::zero_like(x);
  // What is differentiated again: x and g to the gradient in g. A function
  // pointer is passed as a number that is constant, an object by its address.
  using D = std::decay_t<F>;
  if constexpr (detail::is_stateless<D>) {
    auto gradient = [](const X &at, X &into) __attribute__((always_inline)) {
      alignas(D) unsigned char place[sizeof(D)] = {};
      auto argument = adjoin::dup(at, into);
      detail::reverse<false>(*reinterpret_cast<D *>(place), argument);
    };
    adjoin::forward(gradient, adjoin::dup(x, v), adjoin::dup(g, hv));
  } else {
    using Parameter = std::conditional_t<std::is_class_v<D>, D &, D>;
    auto gradient = [](Parameter function, const X &at, X &into)
                        __attribute__((always_inline)) {
                          auto argument = adjoin::dup(at, into);
                          detail::reverse<false>(function, argument);
                        };
    D function = f;
    adjoin::forward(gradient, adjoin::constant(function), adjoin::dup(x, v),
                    adjoin::dup(g, hv));
  }
  return hv;
}

} // namespace adjoin

#endif
