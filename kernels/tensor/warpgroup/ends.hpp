/// How the sums of tensor_groups.cu end.
#pragma once

#include <type_traits>

#include "kernels/contract/bytes.hpp"
#include "kernels/tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A shift's end of sums that began at 0.
struct LateStart {
  HalfToEven halves;

  CONVFILT_DEVICE int32_t operator()(int32_t sum) const { return halves(sum + halves.start); }
};

/// Calls f with the fastest end that the mask has, or with `end` itself where the sums are
/// integers: see end_sums().
template <int kDigits, class F>
CONVFILT_DEVICE inline void with_end(const GroupEnd& end, F&& f) {
  if constexpr (kDigits < 3) {
    if (end.floats.usable) return f(end.floats);
  }
  f(end);
}

/// Outputs of the rows together that a thread has, by four neighbours: of its first segment, and of
/// its second.
template <int kDigits>
using GroupWords = uint32_t[group_rows(kDigits)][2];

template <int kDigits, class End>
CONVFILT_DEVICE inline void end_sums(const End& end, const GroupSums<kDigits>& sums,
                                     GroupWords<kDigits>& words) {
  constexpr int kRows = group_rows(kDigits);
  if constexpr (std::is_same_v<End, GroupEnd>) {
    if (end.halves.usable) {
      end_sums<kDigits>(LateStart{end.halves}, sums, words);
    } else {
      end_sums<kDigits>(end.any, sums, words);
    }
  } else {
    CONVFILT_UNROLL(kRows)
    for (int row = 0; row < kRows; ++row) {
      CONVFILT_UNROLL(2)
      for (int half = 0; half < 2; ++half) {
        const auto ended = [&](int k) {
          const auto sum = [&](int digit) {
            return sums[(((kRows - 1 - row) * kDigits + digit) * 2 + k / 2) * 4 + half * 2 + k % 2];
          };
          return DigitSums<kDigits>{sum(kDigits - 1), sum(kDigits / 2), sum(0)}.ended(end);
        };
        words[row][half] = saturated_four(ended(0), ended(1), ended(2), ended(3));
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
