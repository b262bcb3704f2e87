/// How the sums of tensor_colour.cu end, and become pixels again.
#pragma once

#include <type_traits>

#include "kernels/tensor/warpgroup/colour/shape.hpp"
#include "kernels/tensor/warpgroup/ends.hpp"

namespace convfilt::CONVFILT_BACKEND {

using ColourSums = int32_t[32];

/// FloatEnd of sums that began at 0: to begin with its starts takes as many instructions, while
/// the products of another colour's sums go on.
struct LateFloats {
  FloatEnd floats;

  CONVFILT_DEVICE int32_t operator()(int32_t sum) const { return floats(sum + floats.start); }
  CONVFILT_DEVICE int32_t operator()(int32_t top, int32_t low) const {
    return floats(top + floats.start, low + floats.low_start);
  }
};

/// Calls f with the end that sums have which begin at 0: the fastest.
template <int kDigits, class F>
CONVFILT_DEVICE inline void with_late_end(const GroupEnd& end, F&& f) {
  if (end.floats.usable && (kDigits == 1 || !end.halves.usable)) {
    f(LateFloats{end.floats});
  } else if (end.halves.usable) {
    f(LateStart{end.halves});
  } else {
    f(end.any);
  }
}

/// Of two digits a thread has the sums of output `lane / 4` of segments 8n + 2t + k, t = lane % 4:
/// the low digit's as sums 4n + k, the top one's as 4n + 2 + k. This ends n's sums of k.
template <class End>
CONVFILT_DEVICE inline int32_t ended_two(const End& end, const ColourSums& sums, int n, int k) {
  const int32_t low = sums[4 * n + k], top = sums[4 * n + 2 + k];
  if constexpr (std::is_same_v<End, LateFloats>) {
    return end(top, low);
  } else {
    return end(top * 256 + low);
  }
}

/// A warp has half a segment's outputs, 8, of 64 segments. Staged they lie as red and green, a
/// segment's 16 bytes behind another's, then the blue ones of segments n and n + 32 by turns.
constexpr int kBlues = 256, kTwoDigitStage = 384;  // words

template <int kColour, class End>
CONVFILT_DEVICE inline void stage_two(const End& end, const ColourSums& sums, int32_t (&red)[16],
                                      SharedWords stage) {
  const auto ended = [&](int n, int k) { return ended_two(end, sums, n, k); };
  if constexpr (kColour == 0) {
    CONVFILT_UNROLL(16)
    for (int k = 0; k < 16; ++k) red[k] = ended(k / 2, k % 2);
  } else {
    constexpr int kWords = kColour == 1 ? 8 : 4;
    uint32_t words[kWords / 4][4];
    CONVFILT_UNROLL(kWords)
    for (int n = 0; n < kWords; ++n) {
      words[n / 4][n % 4] =
          kColour == 1 ? saturated_four(red[2 * n], ended(n, 0), red[2 * n + 1], ended(n, 1))
                       : saturated_four(ended(n, 0), ended(n + 4, 0), ended(n, 1), ended(n + 4, 1));
    }
    CONVFILT_UNROLL(kWords / 4)
    for (int k = 0; k < kWords / 4; ++k) {
      set_turned(stage, (kColour == 2 ? kBlues : 0) + 128 * k, 4, words[k]);
    }
  }
}

/// The 48 bytes of a segment: of number `lane` of the first 32 or the second, from what the warps
/// of its first half and its second staged.
CONVFILT_DEVICE inline void join_two(SharedWords stages, bool second, int lane,
                                     uint32_t (&words)[12]) {
  const unsigned first = second ? 0x2510 : 0x2410, middle = second ? 0x73 : 0x63,
                 last = second ? 0x7325 : 0x6324;
  CONVFILT_UNROLL(2)
  for (int half = 0; half < 2; ++half) {
    const SharedWords stage = stages.from(half * kTwoDigitStage);
    const auto pairs = stage.template get4<uint32_t>((second ? 128 : 0) + 4 * lane);
    const auto blues = stage.template get4<uint32_t>(kBlues + 4 * lane);
    CONVFILT_UNROLL(2)
    for (int k = 0; k < 2; ++k) {
      const uint32_t pair = pairs.samples[2 * k], next = pairs.samples[2 * k + 1];
      const uint32_t blue = blues.samples[2 * k];
      uint32_t* const four = words + 6 * half + 3 * k;
      four[0] = pick_bytes(pair, blue, first);
      four[1] = pick_bytes(pick_bytes(pair, blue, middle), next, 0x5410);
      four[2] = pick_bytes(next, blues.samples[2 * k + 1], last);
    }
  }
}

/// Of one digit a thread has two neighbours of segments 8n + 2t + k, as sums 4n + k and 4n + 2 + k.
/// A warp has a whole row: staged, each colour's segments of 16 bytes lie one behind the other.
constexpr int kOneDigitStage = 768;  // words

template <int kColour, class End>
CONVFILT_DEVICE inline void stage_one(const End& end, const ColourSums& sums, SharedWords stage) {
  CONVFILT_UNROLL(2)
  for (int k = 0; k < 2; ++k) {
    uint32_t words[4];
    CONVFILT_UNROLL(4)
    for (int n = 0; n < 4; ++n) {
      const auto ended = [&](int at) { return end(sums[16 * k + 4 * n + at]); };
      words[n] = saturated_four(ended(0), ended(2), ended(1), ended(3));
    }
    set_turned(stage, 256 * kColour + 128 * k, 4, words);
  }
}

/// The 48 bytes of a segment.
CONVFILT_DEVICE inline void join_one(SharedWords stage, int segment, uint32_t (&words)[12]) {
  Four<uint32_t> colours[kColours];
  CONVFILT_UNROLL(kColours)
  for (int c = 0; c < kColours; ++c) {
    colours[c] = stage.template get4<uint32_t>(256 * c + 4 * segment);
  }
  CONVFILT_UNROLL(4)
  for (int k = 0; k < 4; ++k) {
    const uint32_t red = colours[0].samples[k], green = colours[1].samples[k];
    const uint32_t blue = colours[2].samples[k];
    const uint32_t outer = pick_bytes(red, green, 0x7340);  // r0 g0 r3 g3
    const uint32_t inner = pick_bytes(red, blue, 0x2514);   // b0 r1 b1 r2
    words[3 * k] = pick_bytes(outer, inner, 0x5410);
    words[3 * k + 1] = pick_bytes(green, inner, 0x2761);
    words[3 * k + 2] = pick_bytes(outer, blue, 0x7326);
  }
}

/// Lays a segment's 48 bytes behind those of the segments before it.
CONVFILT_DEVICE inline void lay(SharedWords to, int segment, const uint32_t (&words)[12]) {
  CONVFILT_UNROLL(3)
  for (int k = 0; k < 3; ++k) {
    const uint32_t* const four = words + 4 * k;
    to.set4(12 * segment + 4 * k, Four<uint32_t>{{four[0], four[1], four[2], four[3]}});
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
