// Arguments as the user gives them (a number, dup(), constant()), and the items
// that they become: each item knows its place in the marker's argument list and
// how the shim makes the function's argument of it again.
#ifndef ADJOIN_DETAIL_ARGUMENTS_HPP
#define ADJOIN_DETAIL_ARGUMENTS_HPP

#include "signature.hpp"
#include <cstddef>
#include <type_traits>
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif

namespace adjoin::detail {

//===-- What kind of type ------------------------------------------------===//

template <typename T> struct span_traits {
  static constexpr bool value = false;
};
#ifdef __cpp_lib_span
template <typename E> struct span_traits<std::span<E>> {
  static constexpr bool value = true;
  using element = E;
};
#endif
template <typename T>
inline constexpr bool is_span = span_traits<plain<T>>::value;

template <typename T, typename = void>
inline constexpr bool is_contiguous = false;
template <typename T>
inline constexpr bool is_contiguous<
    T,
    std::enable_if_t<std::is_pointer_v<decltype(std::declval<T &>().data())> &&
                     std::is_convertible_v<decltype(std::declval<T &>().size()),
                                           std::size_t>>> = true;
template <typename T>
using element_of = std::remove_pointer_t<decltype(std::declval<T &>().data())>;

template <typename P, typename S> constexpr bool fits() {
  if constexpr (std::is_arithmetic_v<P> || std::is_same_v<P, S>) {
    return true;
  } else if constexpr (std::is_pointer_v<P> && std::is_pointer_v<S>) {
    return std::is_same_v<std::remove_cv_t<std::remove_pointer_t<P>>,
                          std::remove_cv_t<std::remove_pointer_t<S>>>;
  } else if constexpr (std::is_pointer_v<P>) {
    return std::is_null_pointer_v<S>;
  } else if constexpr (is_contiguous<P> && is_contiguous<S>) {
    return std::is_same_v<std::remove_cv_t<element_of<P>>,
                          std::remove_cv_t<element_of<S>>>;
  } else {
    return false;
  }
}
template <typename P, typename S>
inline constexpr bool shadow_fits = fits<P, S>();

//===-- Arguments as given -----------------------------------------------===//

/// Referred to when it has a name and is a number or an object, else held.
template <typename T>
using held = std::conditional_t<std::is_lvalue_reference_v<T> &&
                                    (std::is_class_v<plain<T>> ||
                                     std::is_arithmetic_v<plain<T>>),
                                T, std::decay_t<T>>;

template <typename P, typename S> struct duplicated {
  P primal;
  S shadow;
};
template <typename P> struct constant_argument {
  P primal;
};
/// An object whose shadow gradient() makes and returns.
template <typename T> struct owned {
  T &primal;
  std::remove_const_t<T> shadow;
};

template <typename T> inline constexpr bool is_duplicated = false;
template <typename P, typename S>
inline constexpr bool is_duplicated<duplicated<P, S>> = true;
template <typename T> inline constexpr bool is_constant = false;
template <typename P>
inline constexpr bool is_constant<constant_argument<P>> = true;
template <typename T> inline constexpr bool is_owned = false;
template <typename T> inline constexpr bool is_owned<owned<T>> = true;

template <typename T>
inline constexpr bool is_wrapped =
    is_duplicated<T> || is_constant<T> || is_owned<T>;

/// Has no derivative whatever it is passed for.
template <typename T>
inline constexpr bool is_discrete =
    std::is_integral_v<T> || std::is_enum_v<T> || std::is_null_pointer_v<T> ||
    std::is_member_pointer_v<T> ||
    (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>);

template <typename T>
inline constexpr bool reverse_argument =
    is_wrapped<plain<T>> || is_discrete<std::decay_t<T>> ||
    std::is_floating_point_v<plain<T>>;
template <typename T>
inline constexpr bool forward_argument =
    is_wrapped<plain<T>> || is_discrete<std::decay_t<T>>;

/// The argument that the function itself sees.
template <typename T> struct seen {
  using type = T &;
};
template <typename P, typename S> struct seen<duplicated<P, S>> {
  using type = P &;
};
template <typename P> struct seen<constant_argument<P>> {
  using type = P &;
};
template <typename T> struct seen<owned<T>> {
  using type = T &;
};

//===-- Items ------------------------------------------------------------===//

// Each has
//   wires            the shim's parameters for it
//   open(wires…)     the function's argument
//   adjoints         types of the adjoints that the marker returns for it
// and next, which appends its part of the marker's arguments (see call.hpp).

/// A number of reverse mode: its adjoint is returned.
template <typename T> struct active_item {
  using wires = types<T>;
  using adjoints = types<T>;
  T value;
  ADJOIN_DETAIL_INLINE static T open(T value) { return value; }
};

/// A number or pointer without derivative.
template <typename T> struct inactive_item {
  using wires = types<T>;
  using adjoints = types<>;
  T value;
  ADJOIN_DETAIL_INLINE static T open(T value) { return value; }
};

/// A number with its tangent, a pointer with its shadow.
template <typename T, typename S> struct duplicated_item {
  using wires = types<T>;
  using adjoints = types<>;
  T primal;
  S shadow;
  ADJOIN_DETAIL_INLINE static T open(T value) { return value; }
};

/// An object, passed by its address.
template <typename T> struct constant_object_item {
  using wires = types<T *>;
  using adjoints = types<>;
  T *primal;
  ADJOIN_DETAIL_INLINE static T &open(T *object) { return *object; }
};
template <typename T, typename S> struct object_item {
  using wires = types<T *>;
  using adjoints = types<>;
  T *primal;
  S *shadow;
  ADJOIN_DETAIL_INLINE static T &open(T *object) { return *object; }
};

/// Contiguous elements, passed as their address and number.
template <typename Span, typename E> struct constant_span_item {
  using wires = types<E *, std::size_t>;
  using adjoints = types<>;
  E *primal;
  std::size_t size;
  ADJOIN_DETAIL_INLINE static Span open(E *data, std::size_t size) {
    return Span(data, size);
  }
};
template <typename Span, typename E, typename S> struct span_item {
  using wires = types<E *, std::size_t>;
  using adjoints = types<>;
  E *primal;
  S *shadow;
  std::size_t size;
  ADJOIN_DETAIL_INLINE static Span open(E *data, std::size_t size) {
    return Span(data, size);
  }
};

/// W tangents of what a pointer points to, lane k at k * stride bytes.
template <typename T> struct laned_item {
  using wires = types<T *>;
  using adjoints = types<>;
  T *primal;
  std::remove_const_t<T> *shadow;
  std::size_t stride;
  ADJOIN_DETAIL_INLINE static T *open(T *value) { return value; }
};

/// What a number becomes on its way to a parameter of type P.
template <typename P, typename T>
using number =
    std::conditional_t<std::is_arithmetic_v<plain<P>> ||
                           (std::is_enum_v<plain<P>> && std::is_enum_v<T>),
                       plain<P>, T>;

template <typename P>
inline constexpr bool is_scalar_reference =
    std::is_lvalue_reference_v<P> &&
    std::is_floating_point_v<std::remove_cv_t<std::remove_reference_t<P>>>;

template <bool Reverse, typename P, typename Primal, typename Shadow>
ADJOIN_DETAIL_INLINE auto duplicated_item_of(Primal &primal, Shadow &shadow) {
  using T = std::remove_cv_t<Primal>;
  using S = std::remove_cv_t<Shadow>;
  if constexpr (std::is_arithmetic_v<T>) {
    if constexpr (is_scalar_reference<P> && std::is_same_v<T, S> &&
                  std::is_same_v<plain<P>, T>) {
      static_assert(!Reverse || !std::is_const_v<Shadow>,
                    "adjoin::dup: reverse mode adds to the shadow, which must "
                    "not be const");
      return object_item<Primal, Shadow>{&primal, &shadow};
    } else {
      static_assert(!Reverse, "adjoin::dup: in reverse mode a number is passed "
                              "plainly and its adjoint is returned");
      using V = number<P, T>;
      return duplicated_item<V, V>{static_cast<V>(primal),
                                   static_cast<V>(shadow)};
    }
  } else if constexpr (std::is_pointer_v<T>) {
    static_assert(
        !Reverse || !std::is_const_v<std::remove_pointer_t<S>>,
        "adjoin::dup: reverse mode adds to the shadow, which must not "
        "be const");
    return duplicated_item<T, T>{
        primal,
        const_cast<T>(
            static_cast<std::conditional_t<std::is_null_pointer_v<S>, T, S>>(
                shadow))};
  } else if constexpr (is_contiguous<T> &&
                       (is_span<T> || !std::is_same_v<T, S>)) {
    using E = element_of<Primal>;
    using ES = element_of<Shadow>;
    static_assert(
        !Reverse || !std::is_const_v<ES>,
        "adjoin::dup: reverse mode adds to the shadow, which must not "
        "be const");
#ifdef __cpp_lib_span
    using Span = std::span<E>;
#else
    using Span = T;
#endif
    return span_item<Span, E, ES>{primal.data(), shadow.data(), primal.size()};
  } else {
    static_assert(
        !Reverse || !std::is_const_v<Shadow>,
        "adjoin::dup: reverse mode adds to the shadow, which must not "
        "be const");
    return object_item<Primal, Shadow>{&primal, &shadow};
  }
}

/// The item of one argument for a parameter of type P (or unknown).
template <bool Reverse, typename P, typename Given>
ADJOIN_DETAIL_INLINE auto item_of(Given &given) {
  using T = std::remove_cv_t<Given>;
  if constexpr (is_duplicated<T>) {
    return detail::duplicated_item_of<Reverse, P>(given.primal, given.shadow);
  } else if constexpr (is_owned<T>) {
    return detail::duplicated_item_of<Reverse, P>(given.primal, given.shadow);
  } else if constexpr (is_constant<T>) {
    using V = std::remove_reference_t<decltype((given.primal))>;
    if constexpr (std::is_arithmetic_v<std::remove_cv_t<V>>) {
      using N = number<P, std::remove_cv_t<V>>;
      return inactive_item<N>{static_cast<N>(given.primal)};
    } else if constexpr (is_span<V>) {
      using E = element_of<V>;
      return constant_span_item<plain<V>, E>{given.primal.data(),
                                             given.primal.size()};
    } else if constexpr (std::is_class_v<V> || std::is_union_v<V>) {
      return constant_object_item<V>{&given.primal};
    } else {
      return inactive_item<std::remove_cv_t<V>>{given.primal};
    }
  } else if constexpr (std::is_arithmetic_v<T>) {
    using N = number<P, T>;
    // An integer for a parameter that is a float: reverse mode gives its
    // adjoint like that of any number; in forward mode it is a constant.
    if constexpr (Reverse && std::is_floating_point_v<N>)
      return active_item<N>{static_cast<N>(given)};
    else
      return inactive_item<N>{static_cast<N>(given)};
  } else {
    using V = std::decay_t<T>;
    return inactive_item<V>{given};
  }
}

} // namespace adjoin::detail

#endif
