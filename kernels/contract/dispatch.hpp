/// Turns depths, borders and numbers, which are known at run time, into template arguments.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/contract/border.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

template <class T>
struct TypeTag {
  using type = T;
};

/// The depth of samples of T.
template <class T>
inline constexpr Depth kDepthOf = sizeof(T) == 1   ? Depth::u8
                                  : sizeof(T) == 2 ? Depth::u16
                                                   : Depth::f32;

template <Border B>
using BorderTag = std::integral_constant<Border, B>;

/// Calls f(TypeTag<T>) with the sample type of that depth.
template <class F>
decltype(auto) with_depth(Depth depth, F&& f) {
  switch (depth) {
    case Depth::u8: return f(TypeTag<std::uint8_t>{});
    case Depth::u16: return f(TypeTag<std::uint16_t>{});
    case Depth::f32: break;
  }
  return f(TypeTag<float>{});
}

/// Calls f(BorderTag<B>).
template <class F>
decltype(auto) with_border(Border border, F&& f) {
  switch (border) {
    case Border::constant: return f(BorderTag<Border::constant>{});
    case Border::reflect: return f(BorderTag<Border::reflect>{});
    case Border::reflect101: return f(BorderTag<Border::reflect101>{});
    case Border::wrap: return f(BorderTag<Border::wrap>{});
    case Border::replicate: break;
  }
  return f(BorderTag<Border::replicate>{});
}

/// Calls f with the first of the numbers that is at least `value`, as a constant, or with the last.
template <int kFirst, int... kOthers, class F>
auto with_least(int value, F f) {
  if constexpr (sizeof...(kOthers) > 0) {
    if (value > kFirst) return with_least<kOthers...>(value, f);
  }
  return f(std::integral_constant<int, kFirst>{});
}

}  // namespace convfilt
