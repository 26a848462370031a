// From a function and its arguments to a marker call: the items of the
// arguments are written out one after another behind the function, which is the
// user's own where it takes scalars and pointers only, and else a shim that
// does.
#ifndef ADJOIN_DETAIL_CALL_HPP
#define ADJOIN_DETAIL_CALL_HPP

#include "arguments.hpp"
#include "zero.hpp"
#include <cstring>
#include <tuple>
#include <utility>

namespace adjoin {

/// Several results: auto [value, dx, dy] = …; also std::get<0>(…).
template <typename... T> struct results : std::tuple<T...> {
  using std::tuple<T...>::tuple;
};

namespace detail {

//===-- Markers ----------------------------------------------------------===//

template <typename R, typename... A> R __adjoin_autodiff(A...);
template <typename R, typename... A> R __adjoin_fwddiff(A...);

/// The bytes of a C struct with members of these types, as a marker returns
/// them.
template <std::size_t Size, std::size_t Align> struct bytes {
  alignas(Align) unsigned char data[Size];
};
template <typename T, std::size_t N> struct array {
  T data[N];
};

template <typename... T> struct layout {
  static constexpr std::size_t align() {
    std::size_t a = 1;
    ((a = alignof(T) > a ? alignof(T) : a), ...);
    return a;
  }
  /// The offset of member I; the end for I past the last one.
  static constexpr std::size_t offset(std::size_t index) {
    std::size_t at = 0, i = 0, result = 0;
    ((at = (at + alignof(T) - 1) / alignof(T) * alignof(T),
      result = i == index ? at : result, at += sizeof(T), ++i),
     ...);
    return index < sizeof...(T) ? result
                                : (at + align() - 1) / align() * align();
  }
};

template <typename... T> struct returned;
template <> struct returned<> {
  using type = void;
};
template <typename T> struct returned<T> {
  using type = T;
  template <std::size_t> ADJOIN_DETAIL_INLINE static T get(const T &r) {
    return r;
  }
};
template <typename First, typename... T> struct returned<First, T...> {
  static constexpr bool uniform = (std::is_same_v<First, T> && ...);
  using layout = detail::layout<First, T...>;
  using type = std::conditional_t<
      uniform, array<First, 1 + sizeof...(T)>,
      bytes<layout::offset(1 + sizeof...(T)), layout::align()>>;
  template <std::size_t I> ADJOIN_DETAIL_INLINE static auto get(const type &r) {
    if constexpr (uniform) {
      return r.data[I];
    } else {
      typename pick<I, First, T...>::type value;
      std::memcpy(&value, r.data + layout::offset(I), sizeof(value));
      return value;
    }
  }
};

template <typename... T> struct concat;
template <typename... T> struct concat<types<T...>> {
  using type = types<T...>;
};
template <typename... A, typename... B, typename... Rest>
struct concat<types<A...>, types<B...>, Rest...>
    : concat<types<A..., B...>, Rest...> {};
template <> struct concat<> {
  using type = types<>;
};

template <typename List> struct returned_list;
template <typename... T> struct returned_list<types<T...>> : returned<T...> {};

//===-- The marker's argument list ---------------------------------------===//

/// A value as the marker's own type has it: no type of the user's is in there,
/// for it may be local to a function, and then no name could be made of it.
template <typename T> ADJOIN_DETAIL_INLINE auto carried(T value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return static_cast<void *>(nullptr);
  } else if constexpr (std::is_member_pointer_v<T>) {
    array<std::ptrdiff_t, sizeof(T) / sizeof(std::ptrdiff_t)> words;
    std::memcpy(&words, &value, sizeof(words));
    return words;
  } else if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_function_v<Pointee>)
      return reinterpret_cast<void *>(value);
    else if constexpr (std::is_arithmetic_v<Pointee>)
      return value;
    else
      return static_cast<void *>(const_cast<Pointee *>(value));
  } else {
    return value;
  }
}

/// Writes out Pending items, which stand first, behind what stands after them.
template <unsigned Pending> struct write {
  template <typename Marker, typename Fn, typename T, typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, active_item<T> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_out, detail::carried(item.value));
  }
  template <typename Marker, typename Fn, typename T, typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, inactive_item<T> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_const, detail::carried(item.value));
  }
  template <typename Marker, typename Fn, typename T, typename S,
            typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, duplicated_item<T, S> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_dup, detail::carried(item.primal),
        detail::carried(item.shadow));
  }
  template <typename Marker, typename Fn, typename T, typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, constant_object_item<T> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_const, detail::carried(item.primal));
  }
  template <typename Marker, typename Fn, typename T, typename S,
            typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, object_item<T, S> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_dup, detail::carried(item.primal),
        detail::carried(item.shadow));
  }
  template <typename Marker, typename Fn, typename Span, typename E,
            typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, constant_span_item<Span, E> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_const, detail::carried(item.primal), &adjoin_const,
        item.size);
  }
  template <typename Marker, typename Fn, typename Span, typename E, typename S,
            typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, span_item<Span, E, S> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_dup, detail::carried(item.primal),
        detail::carried(item.shadow), &adjoin_const, item.size);
  }
  template <typename Marker, typename Fn, typename T, typename... Tail>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, laned_item<T> item,
                                        Tail... tail) {
    return write<Pending - 1>::template call<Marker>(
        fn, tail..., &adjoin_dupv, item.stride, detail::carried(item.primal),
        detail::carried(item.shadow));
  }
};
template <> struct write<0> {
  template <typename Marker, typename Fn, typename... A>
  ADJOIN_DETAIL_INLINE static auto call(Fn fn, A... args) {
    return Marker::call(fn, args...);
  }
};

template <typename R> struct autodiff {
  template <typename Fn, typename... A>
  ADJOIN_DETAIL_INLINE static R call(Fn fn, A... args) {
    return __adjoin_autodiff<R>(reinterpret_cast<void *>(fn), args...);
  }
};
template <typename R> struct autodiff_with_value {
  template <typename Fn, typename... A>
  ADJOIN_DETAIL_INLINE static R call(Fn fn, A... args) {
    return __adjoin_autodiff<R>(reinterpret_cast<void *>(fn),
                                &adjoin_primal_return, args...);
  }
};
template <typename R> struct fwddiff {
  template <typename Fn, typename... A>
  ADJOIN_DETAIL_INLINE static R call(Fn fn, A... args) {
    return __adjoin_fwddiff<R>(reinterpret_cast<void *>(fn), args...);
  }
};
template <typename R> struct fwddiff_with_value {
  template <typename Fn, typename... A>
  ADJOIN_DETAIL_INLINE static R call(Fn fn, A... args) {
    return __adjoin_fwddiff<R>(reinterpret_cast<void *>(fn),
                               &adjoin_primal_return, args...);
  }
};
template <unsigned Width> struct fwddiff_lanes {
  template <typename Fn, typename... A>
  ADJOIN_DETAIL_INLINE static void call(Fn fn, A... args) {
    __adjoin_fwddiff<void>(reinterpret_cast<void *>(fn), &adjoin_width, Width,
                           args...);
  }
};

//===-- The shim ---------------------------------------------------------===//

/// Makes the function's arguments of the shim's parameters, item by item: what
/// is still to be opened stands first.
template <typename... Items> struct open;
template <> struct open<> {
  template <typename F, typename... A>
  ADJOIN_DETAIL_INLINE static decltype(auto) call(F &f, A &&...args) {
    return detail::call_function(f, static_cast<A &&>(args)...);
  }
};
template <typename Item, typename... Items> struct open<Item, Items...> {
  template <typename F, typename... A>
  ADJOIN_DETAIL_INLINE static decltype(auto) call(F &f, A &&...args) {
    return split(typename Item::wires(), f, static_cast<A &&>(args)...);
  }

private:
  template <typename W, typename F, typename... A>
  ADJOIN_DETAIL_INLINE static decltype(auto) split(types<W>, F &f, W wire,
                                                   A &&...args) {
    return open<Items...>::call(f, static_cast<A &&>(args)...,
                                Item::open(wire));
  }
  template <typename W1, typename W2, typename F, typename... A>
  ADJOIN_DETAIL_INLINE static decltype(auto)
  split(types<W1, W2>, F &f, W1 first, W2 second, A &&...args) {
    return open<Items...>::call(f, static_cast<A &&>(args)...,
                                Item::open(first, second));
  }
};

template <typename F>
inline constexpr bool is_stateless =
    std::is_empty_v<F> && std::is_trivially_copyable_v<F>;

/// Function, R and the wires decide the shim's own type.
template <typename F, typename R, typename Items, typename Wires> struct shim;
template <typename F, typename R, typename... Items, typename... Wires>
struct shim<F, R, types<Items...>, types<Wires...>> {
  /// The function object is part of nothing: any byte will do.
  [[gnu::visibility("hidden")]] static R stateless(Wires... wires) {
    alignas(F) unsigned char place[sizeof(F)] = {};
    return open<Items...>::call(*reinterpret_cast<F *>(place), wires...);
  }
  [[gnu::visibility("hidden")]] static R object(F *f, Wires... wires) {
    return open<Items...>::call(*f, wires...);
  }
  [[gnu::visibility("hidden")]] static R pointer(F f, Wires... wires) {
    return open<Items...>::call(f, wires...);
  }
  // Results that are objects are written to memory.
  [[gnu::visibility("hidden")]] static void stateless_to(R *r, Wires... wires) {
    alignas(F) unsigned char place[sizeof(F)] = {};
    *r = open<Items...>::call(*reinterpret_cast<F *>(place), wires...);
  }
  [[gnu::visibility("hidden")]] static void object_to(F *f, R *r,
                                                      Wires... wires) {
    *r = open<Items...>::call(*f, wires...);
  }
  [[gnu::visibility("hidden")]] static void pointer_to(F f, R *r,
                                                       Wires... wires) {
    *r = open<Items...>::call(f, wires...);
  }
};

/// Whether a function with parameter P takes exactly the item's wires: then the
/// function itself is differentiated.
template <typename P, typename Item> inline constexpr bool takes = false;
template <typename P, typename T>
inline constexpr bool takes<P, active_item<T>> = std::is_same_v<P, T>;
template <typename P, typename T>
inline constexpr bool takes<P, inactive_item<T>> = std::is_same_v<P, T>;
template <typename P, typename T, typename S>
inline constexpr bool takes<P, duplicated_item<T, S>> =
    std::is_same_v<P, T> || (std::is_pointer_v<P> && std::is_pointer_v<T> &&
                             std::is_same_v<plain<std::remove_pointer_t<P>>,
                                            plain<std::remove_pointer_t<T>>>);
template <typename P, typename T>
inline constexpr bool takes<P, laned_item<T>> =
    std::is_pointer_v<P> &&
    std::is_same_v<plain<std::remove_pointer_t<P>>, std::remove_const_t<T>>;
template <typename P, typename T>
inline constexpr bool takes<P, constant_object_item<T>> =
    std::is_lvalue_reference_v<P> &&
    std::is_same_v<plain<P>, std::remove_const_t<T>>;
template <typename P, typename T, typename S>
inline constexpr bool takes<P, object_item<T, S>> =
    std::is_lvalue_reference_v<P> &&
    std::is_same_v<plain<P>, std::remove_const_t<T>>;
// A span travels as its address and size.
template <typename P, typename Span, typename E>
inline constexpr bool takes<P, constant_span_item<Span, E>> =
    !std::is_reference_v<P> && is_span<P> && sizeof(P) == 2 * sizeof(E *);
template <typename P, typename Span, typename E, typename S>
inline constexpr bool takes<P, span_item<Span, E, S>> =
    !std::is_reference_v<P> && is_span<P> && sizeof(P) == 2 * sizeof(E *);

template <typename F, typename Indices, typename... Items>
inline constexpr bool is_direct = false;
template <typename R, typename... P, std::size_t... I, typename... Items>
inline constexpr bool
    is_direct<R (*)(P...), std::index_sequence<I...>, Items...> =
        sizeof...(P) == sizeof...(Items) &&
        (takes<typename pick<I, P...>::type, Items> && ...);
template <typename R, typename... P, std::size_t... I, typename... Items>
inline constexpr bool
    is_direct<R (*)(P...) noexcept, std::index_sequence<I...>, Items...> =
        is_direct<R (*)(P...), std::index_sequence<I...>, Items...>;

//===-- Calls ------------------------------------------------------------===//

template <typename F, typename... Args> struct result {
  static_assert(std::is_invocable_v<std::decay_t<F> &,
                                    typename seen<plain<Args>>::type...>,
                "adjoin: the function cannot be called with these arguments");
  using type =
      std::decay_t<std::invoke_result_t<std::decay_t<F> &,
                                        typename seen<plain<Args>>::type...>>;
};
template <typename F, typename... Args>
using result_of = typename result<F, Args...>::type;

/// Calls the marker on f and its items: on f itself where it can be, else on
/// the shim, which gets f in front as a constant.
template <typename Marker, typename R, typename F, typename... Items>
ADJOIN_DETAIL_INLINE auto mark(F &f, Items... items) {
  using D = std::decay_t<F>;
  using shim = detail::shim<std::conditional_t<std::is_class_v<F>, F, D>, R,
                            types<Items...>,
                            typename concat<typename Items::wires...>::type>;
  constexpr unsigned count = sizeof...(Items);
  if constexpr (is_direct<D, std::index_sequence_for<Items...>, Items...>)
    return write<count>::template call<Marker>(static_cast<D>(f), items...);
  else if constexpr (is_stateless<D>)
    return write<count>::template call<Marker>(&shim::stateless, items...);
  else if constexpr (std::is_class_v<D>)
    return write<count + 1>::template call<Marker>(
        &shim::object, constant_object_item<F>{&f}, items...);
  else
    return write<count + 1>::template call<Marker>(
        &shim::pointer, inactive_item<D>{f}, items...);
}

/// The same for a result that is an object, written to memory.
template <typename Marker, typename R, typename F, typename... Items>
ADJOIN_DETAIL_INLINE void mark_to(F &f, R &value, R &tangent, Items... items) {
  using D = std::decay_t<F>;
  using shim = detail::shim<std::conditional_t<std::is_class_v<F>, F, D>, R,
                            types<Items...>,
                            typename concat<typename Items::wires...>::type>;
  constexpr unsigned count = sizeof...(Items);
  object_item<R, R> out{&value, &tangent};
  if constexpr (is_stateless<D>)
    write<count + 1>::template call<Marker>(&shim::stateless_to, out, items...);
  else if constexpr (std::is_class_v<D>)
    write<count + 2>::template call<Marker>(
        &shim::object_to, constant_object_item<F>{&f}, out, items...);
  else
    write<count + 2>::template call<Marker>(&shim::pointer_to,
                                            inactive_item<D>{f}, out, items...);
}

/// The items' adjoints, after the value if there is one.
template <bool Value, typename R, typename... Items>
using reverse_types =
    typename concat<std::conditional_t<Value, types<R>, types<>>,
                    typename Items::adjoints...>::type;

template <bool Value, typename R, typename F, typename... Items>
ADJOIN_DETAIL_INLINE auto reverse_mark(F &f, Items... items) {
  using Raw = typename returned_list<reverse_types<Value, R, Items...>>::type;
  if constexpr (Value)
    return detail::mark<autodiff_with_value<Raw>, R>(f, items...);
  else
    return detail::mark<autodiff<Raw>, R>(f, items...);
}

/// Nothing, one result as itself, or several.
ADJOIN_DETAIL_INLINE void hand_out() {}
template <typename T> ADJOIN_DETAIL_INLINE T hand_out(T &&one) {
  return static_cast<T &&>(one);
}
template <typename T1, typename T2, typename... T>
ADJOIN_DETAIL_INLINE auto hand_out(T1 &&one, T2 &&two, T &&...more) {
  return results<plain<T1>, plain<T2>, plain<T>...>(static_cast<T1 &&>(one),
                                                    static_cast<T2 &&>(two),
                                                    static_cast<T &&>(more)...);
}

template <typename R, typename... T, std::size_t... I>
ADJOIN_DETAIL_INLINE auto take_apart(types<T...>, const R &raw,
                                     std::index_sequence<I...>) {
  return detail::hand_out(returned<T...>::template get<I>(raw)...);
}
template <typename R, typename... T>
ADJOIN_DETAIL_INLINE auto take_apart(types<T...> list, const R &raw) {
  return detail::take_apart(list, raw, std::index_sequence_for<T...>());
}

template <bool Value, typename F, std::size_t... I, typename... Args>
ADJOIN_DETAIL_INLINE auto reverse_indexed(F &f, std::index_sequence<I...>,
                                          Args &...args) {
  using R = result_of<F, Args...>;
  using List =
      reverse_types<Value, R,
                    decltype(detail::item_of<true, parameter<F, I>>(args))...>;
  if constexpr (std::is_same_v<List, types<>>) {
    detail::reverse_mark<Value, R>(
        f, detail::item_of<true, parameter<F, I>>(args)...);
  } else {
    auto raw = detail::reverse_mark<Value, R>(
        f, detail::item_of<true, parameter<F, I>>(args)...);
    return detail::take_apart(List(), raw);
  }
}
template <bool Value, typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto reverse(F &f, Args &...args) {
  return reverse_indexed<Value>(f, std::index_sequence_for<Args...>(), args...);
}

/// gradient(): reverse mode, with the shadows that were made for it among the
/// results, in the order of the arguments. Adjoints has a list for each
/// argument; Next is the member of the marker's result that comes next.
template <std::size_t Next, typename List, typename Raw>
ADJOIN_DETAIL_INLINE auto gather(const Raw &, types<>) {
  return std::tuple<>();
}
template <std::size_t Next, typename List, typename Raw, typename Adjoints,
          typename... More, typename Arg, typename... Args>
ADJOIN_DETAIL_INLINE auto gather(const Raw &raw, types<Adjoints, More...>,
                                 Arg &arg, Args &...args) {
  if constexpr (is_owned<Arg>) {
    using Shadow = decltype(arg.shadow);
    return std::tuple_cat(
        std::tuple<Shadow>(std::move(arg.shadow)),
        detail::gather<Next, List>(raw, types<More...>(), args...));
  } else if constexpr (std::is_same_v<Adjoints, types<>>) {
    return detail::gather<Next, List>(raw, types<More...>(), args...);
  } else {
    return std::tuple_cat(
        std::tuple(returned_list<List>::template get<Next>(raw)),
        detail::gather<Next + 1, List>(raw, types<More...>(), args...));
  }
}

template <typename... T>
ADJOIN_DETAIL_INLINE auto unpack(std::tuple<T...> &&all) {
  if constexpr (sizeof...(T) == 0)
    return;
  else if constexpr (sizeof...(T) == 1)
    return std::get<0>(std::move(all));
  else
    return std::apply(
        [](auto &&...each) { return results<T...>(std::move(each)...); },
        std::move(all));
}

template <bool Value, typename F, std::size_t... I, typename... Args>
ADJOIN_DETAIL_INLINE auto gradient_indexed(F &f, std::index_sequence<I...>,
                                           Args &...args) {
  using R = result_of<F, Args...>;
  using List =
      reverse_types<Value, R,
                    decltype(detail::item_of<true, parameter<F, I>>(args))...>;
  using Each = types<typename decltype(detail::item_of<true, parameter<F, I>>(
      args))::adjoints...>;
  if constexpr (std::is_same_v<List, types<>>) {
    detail::reverse_mark<Value, R>(
        f, detail::item_of<true, parameter<F, I>>(args)...);
    return detail::unpack(gather<0, List>(0, Each(), args...));
  } else {
    auto raw = detail::reverse_mark<Value, R>(
        f, detail::item_of<true, parameter<F, I>>(args)...);
    if constexpr (Value)
      return detail::unpack(
          std::tuple_cat(std::tuple(returned_list<List>::template get<0>(raw)),
                         detail::gather<1, List>(raw, Each(), args...)));
    else
      return detail::unpack(gather<0, List>(raw, Each(), args...));
  }
}
template <bool Value, typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto gradient(F &f, Args &&...args) {
  return gradient_indexed<Value>(f, std::index_sequence_for<Args...>(),
                                 args...);
}

//===-- Forward mode -----------------------------------------------------===//

template <bool Value, typename F, std::size_t... I, typename... Args>
ADJOIN_DETAIL_INLINE auto forward_indexed(F &f, std::index_sequence<I...>,
                                          Args &...args) {
  using R = result_of<F, Args...>;
  if constexpr (std::is_void_v<R>) {
    detail::mark<fwddiff<void>, R>(
        f, detail::item_of<false, parameter<F, I>>(args)...);
  } else if constexpr (std::is_floating_point_v<R>) {
    if constexpr (Value) {
      auto raw = detail::mark<fwddiff_with_value<array<R, 2>>, R>(
          f, detail::item_of<false, parameter<F, I>>(args)...);
      return results<R, R>(raw.data[0], raw.data[1]);
    } else {
      return detail::mark<fwddiff<R>, R>(
          f, detail::item_of<false, parameter<F, I>>(args)...);
    }
  } else {
    static_assert(std::is_class_v<R>,
                  "adjoin::forward: the function must return a floating-point "
                  "number, an object or nothing");
    static_assert(std::is_default_constructible_v<R>,
                  "adjoin::forward: an object that the function returns must "
                  "have a default constructor");
    R value{}, tangent{};
    detail::mark_to<fwddiff<void>>(
        f, value, tangent, detail::item_of<false, parameter<F, I>>(args)...);
    if constexpr (Value)
      return results<R, R>(static_cast<R &&>(value),
                           static_cast<R &&>(tangent));
    else
      return tangent;
  }
}
template <bool Value, typename F, typename... Args>
ADJOIN_DETAIL_INLINE auto forward(F &f, Args &...args) {
  return forward_indexed<Value>(f, std::index_sequence_for<Args...>(), args...);
}

} // namespace detail
} // namespace adjoin

template <typename... T>
struct std::tuple_size<adjoin::results<T...>>
    : std::tuple_size<std::tuple<T...>> {};
template <std::size_t I, typename... T>
struct std::tuple_element<I, adjoin::results<T...>>
    : std::tuple_element<I, std::tuple<T...>> {};

#endif
