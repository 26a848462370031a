// Shadows made here: an object like a given one with every float zero.
#ifndef ADJOIN_DETAIL_ZERO_HPP
#define ADJOIN_DETAIL_ZERO_HPP

#include "arguments.hpp"

namespace adjoin::detail {

template <typename T, typename = void>
inline constexpr bool has_set_zero = false;
template <typename T>
inline constexpr bool
    has_set_zero<T, std::void_t<decltype(std::declval<T &>().setZero())>> =
        true;

template <typename T, typename = void> inline constexpr bool is_range = false;
template <typename T>
inline constexpr bool is_range<
    T, std::enable_if_t<
           std::is_lvalue_reference_v<decltype(*std::declval<T &>().begin())> &&
           !std::is_const_v<std::remove_reference_t<
               decltype(*std::declval<T &>().begin())>>>> = true;

template <typename T> void clear(T &object) {
  if constexpr (std::is_arithmetic_v<T>) {
    object = T();
  } else if constexpr (has_set_zero<T>) { // Eigen
    object.setZero();
  } else if constexpr (is_range<T>) { // vector, array, vectors of vectors
    for (auto &element : object)
      detail::clear(element);
  } else {
    static_assert(std::is_trivially_copyable_v<T> &&
                      std::is_default_constructible_v<T>,
                  "adjoin: no shadow can be made for this type; pass "
                  "dup(argument, shadow) or constant(argument)");
    object = T();
  }
}

template <typename T> T zero_like(const T &object) {
  T zero = object;
  detail::clear(zero);
  return zero;
}

/// An argument of gradient(): an object that is passed plainly gets a shadow.
template <typename T> ADJOIN_DETAIL_INLINE decltype(auto) own(T &argument) {
  using P = std::remove_const_t<T>;
  if constexpr (std::is_class_v<P> && !is_wrapped<P>) {
    static_assert(!is_span<P>, "adjoin::gradient: a span does not own its "
                               "elements; pass dup(span, shadow)");
    return owned<T>{argument, detail::zero_like(argument)};
  } else {
    static_assert(is_wrapped<P> || reverse_argument<P>,
                  "adjoin::gradient: a pointer needs dup(pointer, shadow) or "
                  "constant(pointer)");
    return (argument);
  }
}

} // namespace adjoin::detail

#endif
