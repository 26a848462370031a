// What a callable takes: parameter types where its type tells them, how it is
// called, what it returns.
#ifndef ADJOIN_DETAIL_SIGNATURE_HPP
#define ADJOIN_DETAIL_SIGNATURE_HPP

#include <cstddef>
#include <type_traits>

// Wrappers disappear in the caller at every optimisation level, and no symbol
// of theirs is exported.
#define ADJOIN_DETAIL_INLINE                                                   \
  [[gnu::always_inline]] [[gnu::visibility("hidden")]] inline

namespace adjoin::detail {

template <typename...> inline constexpr bool never = false;

template <typename T>
using plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <typename... T> struct types {};

/// A parameter whose type the callable's own type does not tell (a generic
/// lambda, an overloaded operator()).
struct unknown {};

template <typename F, typename = void> struct signature {
  template <std::size_t> using parameter = unknown;
};

template <std::size_t I, typename... P> struct pick {
  using type = unknown; // more arguments than parameters: reported elsewhere
};
template <typename First, typename... Rest> struct pick<0, First, Rest...> {
  using type = First;
};
template <std::size_t I, typename First, typename... Rest>
struct pick<I, First, Rest...> : pick<I - 1, Rest...> {};

template <typename... P> struct parameters {
  template <std::size_t I> using parameter = typename pick<I, P...>::type;
};

template <typename R, typename... P>
struct signature<R (*)(P...)> : parameters<P...> {};
template <typename R, typename... P>
struct signature<R (*)(P...) noexcept> : parameters<P...> {};

/// The parameters of a member function, without its object.
template <typename M> struct member;
#define ADJOIN_DETAIL_MEMBER(qualifiers)                                       \
  template <typename R, typename C, typename... P>                             \
  struct member<R (C::*)(P...) qualifiers> {                                   \
    using without_object = parameters<P...>;                                   \
    using with_object = parameters<unknown, P...>;                             \
  };
ADJOIN_DETAIL_MEMBER()
ADJOIN_DETAIL_MEMBER(const)
ADJOIN_DETAIL_MEMBER(&)
ADJOIN_DETAIL_MEMBER(const &)
ADJOIN_DETAIL_MEMBER(noexcept)
ADJOIN_DETAIL_MEMBER(const noexcept)
ADJOIN_DETAIL_MEMBER(& noexcept)
ADJOIN_DETAIL_MEMBER(const & noexcept)
#undef ADJOIN_DETAIL_MEMBER

template <typename F>
struct signature<F, std::enable_if_t<std::is_member_function_pointer_v<F>>>
    : member<F>::with_object {};

/// A class with one operator() that is no template.
template <typename F>
struct signature<F, std::void_t<decltype(&F::operator())>>
    : member<decltype(&F::operator())>::without_object {};

template <typename F, std::size_t I>
using parameter = typename signature<std::decay_t<F>>::template parameter<I>;

/// f(args…), or (object.*f)(args…) for a member function; without the library,
/// so that it is inlined at -O0 too.
template <typename F, typename... Args>
ADJOIN_DETAIL_INLINE constexpr auto call_function(F &&f, Args &&...args)
    -> decltype(static_cast<F &&>(f)(static_cast<Args &&>(args)...)) {
  return static_cast<F &&>(f)(static_cast<Args &&>(args)...);
}
template <
    typename M, typename C, typename Object, typename... Args,
    std::enable_if_t<std::is_function_v<M> && !std::is_pointer_v<plain<Object>>,
                     int> = 0>
ADJOIN_DETAIL_INLINE constexpr auto call_function(M C::*f, Object &&object,
                                                  Args &&...args)
    -> decltype((object.*f)(static_cast<Args &&>(args)...)) {
  return (object.*f)(static_cast<Args &&>(args)...);
}
template <typename M, typename C, typename Object, typename... Args,
          std::enable_if_t<std::is_function_v<M>, int> = 0>
ADJOIN_DETAIL_INLINE constexpr auto call_function(M C::*f, Object *object,
                                                  Args &&...args)
    -> decltype((object->*f)(static_cast<Args &&>(args)...)) {
  return (object->*f)(static_cast<Args &&>(args)...);
}

} // namespace adjoin::detail

#endif
