/// The mask's lines as matrices for strategy separable-tensor, and sums of products with them.
///
/// Row i of a band is output i of 16 neighbours: the line's weights, from tap 0 at place lag(i) on.
/// Groups of 16 places follow each other; of the other matrix a lane's word holds four places.
///
///     places   0 ........ 15  16 ....... 31  32 ....... 47      31 taps, 3 groups
///     output 0   wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww . . . . . .
///     output 5   . . . wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww . . .
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable_tensor/mask.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Which four places of a group a lane's word holds: neighbours along a row; along a column two of
/// the upper eight and two of the lower, as the row pass leaves them.
enum class Places { neighbours, two_and_two };

template <Places places>
CONVFILT_DEVICE inline int place_of(int t, int byte) {
  if constexpr (places == Places::neighbours) return 4 * t + byte;
  return 2 * t + byte % 2 + byte / 2 * 8;
}

/// A lane's part of a line's band: of each digit of base 256, from the lowest on, rows g and g + 8
/// of each group. The top digit is signed.
template <int kDigits, int kGroups>
struct Band {
  std::uint32_t words[kDigits][2 * kGroups];
};

/// Four weights' digits as words.
template <int kDigits>
CONVFILT_DEVICE inline void split_digits(const std::uint32_t (&weights)[4],
                                         std::uint32_t (&words)[kDigits]) {
  const std::uint32_t first = pick_bytes(weights[0], weights[1], 0x5140);
  const std::uint32_t second = pick_bytes(weights[2], weights[3], 0x5140);
  words[0] = pick_bytes(first, second, 0x5410);
  if constexpr (kDigits == 2) words[1] = pick_bytes(first, second, 0x7632);
}

/// lags: of rows g and g + 8, the places before tap 0. `weights` is row `line` of shared memory.
template <Places places, int kDigits, int kGroups, class Weights>
CONVFILT_DEVICE inline Band<kDigits, kGroups> make_band(Weights& weights, int line, int taps,
                                                        const int (&lags)[2]) {
  const int t = threadIdx.x % 4;
  const auto weight = [&](int tap) {
    return tap >= 0 && tap < taps ? std::uint32_t(std::int32_t(weights[line][tap])) : 0u;
  };
  Band<kDigits, kGroups> band;
  CONVFILT_UNROLL(2 * kGroups)
  for (int n = 0; n < 2 * kGroups; ++n) {
    std::uint32_t four[4], words[kDigits];
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      four[byte] = weight(kGroup * (n / 2) + place_of<places>(t, byte) - lags[n % 2]);
    }
    split_digits<kDigits>(four, words);
    for (int digit = 0; digit < kDigits; ++digit) band.words[digit][n] = words[digit];
  }
  return band;
}

/// sums += one digit of the band times the words of all groups.
template <class A, class B, int kDigits, int kGroups>
CONVFILT_DEVICE inline void add_groups(std::int32_t (&sums)[4], const Band<kDigits, kGroups>& band,
                                       int digit, const std::uint32_t (&words)[kGroups]) {
  const auto& weights = band.words[digit];
  CONVFILT_UNROLL(kGroups)
  for (int group = 0; group + 1 < kGroups; group += 2) {
    const int at = 2 * group;
    const std::uint32_t a[4] = {weights[at], weights[at + 1], weights[at + 2], weights[at + 3]};
    const std::uint32_t b[2] = {words[group], words[group + 1]};
    mma<B, A>(sums, a, b);
  }
  if constexpr (kGroups % 2 == 1) {
    const std::uint32_t a[2] = {weights[2 * kGroups - 2], weights[2 * kGroups - 1]};
    const std::uint32_t b[1] = {words[kGroups - 1]};
    mma<B, A>(sums, a, b);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
