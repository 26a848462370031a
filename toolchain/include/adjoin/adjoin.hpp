// Adjoin for C++17: derivatives as function calls, header only.
//
//   auto [dx, dy] = adjoin::gradient(f, 1.0, 2.0);
//   auto [v, gx, gy] = adjoin::value_and_gradient(f, 1.0, 2.0);
//   double v = adjoin::reverse(g, adjoin::dup(x, dx), adjoin::constant(n));
//   double t = adjoin::forward(f, adjoin::dup(1.0, 1.0), adjoin::dup(2.0,
//   0.0)); auto J = adjoin::jacobian(F, x, m); auto hv = adjoin::hvp(g, x, v);
//
// Functions, lambdas, function objects and member functions are taken. What is
// asked for is differentiated while the program is linked, by the plugin; the
// calls in this header only say what is wanted, in the plugin's own words: a
// marker call on a function that takes scalars and pointers only (the shim).
//
// Part of Adjoin, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADJOIN_ADJOIN_HPP
#define ADJOIN_ADJOIN_HPP

#include "../adjoin.h"
#include "detail/call.hpp"
#include "detail/matrix.hpp"

namespace adjoin {

/// An argument with its shadow. Forward mode: the tangent, of the argument's
/// own type. Reverse mode: the memory of its adjoints, which are added to.
/// Objects given by name are referred to, temporaries (a span, a pointer, a
/// number) are held.
template <typename Primal, typename Shadow>
ADJOIN_DETAIL_INLINE auto dup(Primal &&primal, Shadow &&shadow) {
  using P = std::remove_cv_t<std::remove_reference_t<Primal>>;
  using S = std::remove_cv_t<std::remove_reference_t<Shadow>>;
  static_assert(
      !std::is_integral_v<P> && !std::is_enum_v<P>,
      "adjoin::dup: an integer has no derivative; pass it as it is, or "
      "as constant(n)");
  static_assert(!std::is_floating_point_v<P> || std::is_arithmetic_v<S>,
                "adjoin::dup: the shadow of a number is a number");
  static_assert(!std::is_pointer_v<P> || std::is_pointer_v<S> ||
                    std::is_null_pointer_v<S>,
                "adjoin::dup: the shadow of a pointer is a pointer");
  static_assert(detail::shadow_fits<P, S>,
                "adjoin::dup: the shadow must be of the argument's type");
  return detail::duplicated<detail::held<Primal>, detail::held<Shadow>>{
      static_cast<Primal &&>(primal), static_cast<Shadow &&>(shadow)};
}

template <typename Primal> auto dup(Primal &&) {
  static_assert(detail::never<Primal>,
                "adjoin::dup: the shadow is missing: dup(argument, shadow)");
}

/// An argument that is not differentiated.
template <typename Primal> ADJOIN_DETAIL_INLINE auto constant(Primal &&primal) {
  return detail::constant_argument<detail::held<Primal>>{
      static_cast<Primal &&>(primal)};
}

/// A stateless function object that calls Function, for places where a
/// function pointer would hide which function it is:
/// gradient(function<&Model::energy>, …).
template <auto Function> struct function_t {
  template <typename... Args>
  constexpr decltype(auto) operator()(Args &&...args) const {
    return detail::call_function(Function, static_cast<Args &&>(args)...);
  }
};
template <auto Function> inline constexpr function_t<Function> function{};

/// Reverse mode: the adjoints of f's arguments for a result of seed 1. Numbers
/// are differentiated, integers are not; an object (vector, array, Eigen
/// matrix, struct) that is passed plainly is differentiated with a shadow made
/// here, which is returned; dup() and constant() say otherwise. Returns one
/// adjoint, or several to be taken apart: auto [dx, dy] = gradient(f, x, y).
/// Fails to compile when f does not return a floating-point number.
template <typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto gradient(F &&f, Args &&...args) {
  static_assert(
      std::is_floating_point_v<detail::result_of<F, Args...>>,
      "adjoin::gradient: the function must return a floating-point number");
  return detail::gradient<false>(f, detail::own(args)...);
}

/// As gradient, with f's value in front of the adjoints.
template <typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto value_and_gradient(F &&f, Args &&...args) {
  static_assert(std::is_floating_point_v<detail::result_of<F, Args...>>,
                "adjoin::value_and_gradient: the function must return a "
                "floating-point number");
  return detail::gradient<true>(f, detail::own(args)...);
}

/// Reverse mode on memory: runs f, then adds the adjoints to the shadows of
/// its dup() arguments. Returns f's value (nothing when f is void; then the
/// shadows of what f writes hold the seeds), and behind it the adjoints of
/// arguments that are plain numbers.
template <typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto reverse(F &&f, Args &&...args) {
  using Result = detail::result_of<F, Args...>;
  static_assert(std::is_floating_point_v<Result> || std::is_void_v<Result>,
                "adjoin::reverse: the function must return a floating-point "
                "number or nothing");
  static_assert((detail::reverse_argument<Args> && ...),
                "adjoin::reverse: a pointer or object needs dup(argument, "
                "shadow) or constant(argument)");
  return detail::reverse<!std::is_void_v<Result>>(f, args...);
}

/// Forward mode: the tangent of f's result, for the tangents in dup(). A
/// result that is an object (vector, struct) has an object of that type as
/// tangent.
template <typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto forward(F &&f, Args &&...args) {
  static_assert((detail::forward_argument<Args> && ...),
                "adjoin::forward: a number, pointer or object needs "
                "dup(argument, tangent) or constant(argument)");
  return detail::forward<false>(f, args...);
}

/// As forward, with f's value in front of the tangent.
template <typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto value_and_forward(F &&f, Args &&...args) {
  static_assert((detail::forward_argument<Args> && ...),
                "adjoin::value_and_forward: a number, pointer or object needs "
                "dup(argument, tangent) or constant(argument)");
  return detail::forward<true>(f, args...);
}

} // namespace adjoin

#include "detail/higher.hpp"

#endif
