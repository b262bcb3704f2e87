/// How pixels become three planes in shared memory, and sums become pixels. Rows are copied as they
/// lie, two at a time, and each warp takes half of a row apart. Ended sums are staged in shared
/// memory, from where their colours are joined and written.
#pragma once

#include <type_traits>

#include "kernels/contract/bytes.hpp"
#include "kernels/tensor/warpgroup/block.hpp"
#include "kernels/tensor/warpgroup/colour/shape.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour {

using namespace convfilt::tensor::warpgroup::colour;

/// Takes the three words of four pixels apart, to a word for each colour. `outer` and `inner` each
/// hold what two colours need of two words, which saves one byte selection in six.
CONVFILT_DEVICE inline void take_apart(const uint32_t* words, uint32_t& red, uint32_t& green,
                                       uint32_t& blue) {
  const uint32_t outer = pick_bytes(words[0], words[2], 0x6510);  // r0 g0 r3 g3
  const uint32_t inner = pick_bytes(words[0], words[1], 0x6532);  // b0 r1 b1 r2
  red = pick_bytes(outer, inner, 0x2750);
  green = pick_bytes(outer, words[1], 0x3741);
  blue = pick_bytes(inner, words[2], 0x7420);
}

template <class Shape>
class PixelRows {
 public:
  /// Takes the strip's rows from pixel x on. `planes` and `landing` are the block's. `sources`
  /// holds the picture's row for each of the strip's rows, or -1 for a row of ghost cells.
  CONVFILT_DEVICE PixelRows(const BlockData& place, SharedWords planes, SharedWords landing,
                            SharedWords sources, int x, int rows)
      : warp_(int(threadIdx.x) / 32),
        lane_(int(threadIdx.x) % 32),
        next_(warp_ / 2),
        rows_(rows),
        row_(warp_ / 2 * Shape::kPitch),
        source_(sources.template get<int>(next_)),
        planes_(planes),
        landing_(landing.from(warp_ * Shape::kAhead * Shape::kPiece)),
        sources_(sources),
        samples_(place.samples) {
    const int first = (x + warp_ % 2 * Shape::kHalf) * kColours + lane_ * kChunk;
    samples_.data += first;
    samples_.width -= first;
  }

  /// Begins to copy this warp's part of the next two rows.
  CONVFILT_DEVICE void copy(const BlockData& place) {
    if (next_ < rows_) {
      if (source_ >= 0) {
        copy_from(samples_.rows(source_, 1));
      } else {
        fill(place);
      }
    }
    commit_copies();
    next_ += 2;
    if (next_ < rows_) source_ = sources_.template get<int>(next_);
    to_ = after(to_);
  }

  /// The place of the piece that was taken apart last, which is free until the next copy().
  CONVFILT_DEVICE SharedWords free_piece() const { return landing_.from(to_); }

  /// Takes the oldest two rows apart.
  CONVFILT_DEVICE void take_apart_two() {
    finish_copies<Shape::kAhead - 1>();
    __syncwarp();
    const SharedWords from = landing_.from(from_), to = planes_.from(row_);
    uint32_t words[12];
    Four<uint32_t> colours[kColours];
    CONVFILT_UNROLL(3)
    for (int k = 0; k < 3; ++k) {
      const auto four = from.template get4<uint32_t>(12 * lane_ + 4 * k);
      CONVFILT_UNROLL(4)
      for (int n = 0; n < 4; ++n) words[4 * k + n] = four.samples[n];
    }
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      take_apart(words + 3 * k, colours[0].samples[k], colours[1].samples[k],
                 colours[2].samples[k]);
    }
    CONVFILT_UNROLL(kColours)
    for (int c = 0; c < kColours; ++c) {
      to.set4(c * Shape::kPlane + (warp_ % 2 * Shape::kHalf) / 4 + 4 * lane_, colours[c]);
    }
    if (warp_ % 2 == 1 && lane_ < Shape::kRest / 4) {
      CONVFILT_UNROLL(3)
      for (int k = 0; k < 3; ++k) {
        words[k] = from.template get<uint32_t>(kHalfWords + 3 * lane_ + k);
      }
      uint32_t rest[kColours];
      take_apart(words, rest[0], rest[1], rest[2]);
      CONVFILT_UNROLL(kColours)
      for (int c = 0; c < kColours; ++c) {
        to.set(c * Shape::kPlane + kColumns / 4 + lane_, rest[c]);
      }
    }
    __syncwarp();
    from_ = after(from_);
    row_ += 2 * Shape::kPitch;
    if (row_ >= Shape::kPlane) row_ -= Shape::kPlane;
  }

 private:
  static constexpr int kHalfWords = Shape::kHalf * kColours / 4;
  static constexpr int kHalfCopies = kHalfWords / 4 / 32;
  static_assert(kHalfCopies * 4 * 32 == kHalfWords, "a warp copies half a row in whole turns");
  static_assert(kHalfWords == 12 * 32, "a lane takes 16 pixels apart");

  CONVFILT_DEVICE static int after(int piece) {
    return piece == (Shape::kAhead - 1) * Shape::kPiece ? 0 : piece + Shape::kPiece;
  }
  CONVFILT_DEVICE bool copies_rest() const {
    return warp_ % 2 == 1 && lane_ < Shape::kRest * kColours / kChunk;
  }
  CONVFILT_DEVICE void copy_from(const PlaneView<const uint8_t>& line) const {
    const SharedWords to = landing_.from(to_);
    CONVFILT_UNROLL(kHalfCopies)
    for (int k = 0; k < kHalfCopies; ++k) {
      copy16(line, 32 * kChunk * k, 0, to, 4 * lane_ + 128 * k);
    }
    if (copies_rest()) copy16(line, 4 * kHalfWords, 0, to, kHalfWords + 4 * lane_);
  }
  CONVFILT_DEVICE void fill(const BlockData& place) const {
    const SharedWords to = landing_.from(to_);
    CONVFILT_UNROLL(kHalfCopies)
    for (int k = 0; k < kHalfCopies; ++k) set_ghosts(to, 4 * lane_ + 128 * k, place.ghost);
    if (copies_rest()) set_ghosts(to, kHalfWords + 4 * lane_, place.ghost);
  }

  int warp_, lane_, next_, rows_, row_;
  int source_;             ///< the picture's row of row next_, or -1
  int to_ = 0, from_ = 0;  ///< where a piece is copied to, and taken apart from
  SharedWords planes_, landing_, sources_;
  PlaneView<const uint8_t> samples_;  ///< from this thread's first samples on
};

using Sums = int32_t[32];

/// An end in floats, for sums that began at 0. Sums that began with its starts would cost as many
/// instructions, but these hide behind the products of another colour.
struct LateFloats {
  FloatEnd floats;

  CONVFILT_DEVICE int32_t operator()(int32_t sum) const { return floats(sum + floats.start); }
  CONVFILT_DEVICE int32_t operator()(int32_t top, int32_t low) const {
    return floats(top + floats.start, low + floats.low_start);
  }
};

/// Calls f with the fastest end that the mask has for sums that begin at 0.
template <int kDigits, class F>
CONVFILT_DEVICE inline void with_late_end(const Ends& end, F&& f) {
  if (end.floats.usable && (kDigits == 1 || !end.halves.usable)) {
    f(LateFloats{end.floats});
  } else if (end.halves.usable) {
    f(LateStart{end.halves});
  } else {
    f(end.any);
  }
}

/// Ends the sum (n, k) of two digits. A thread has the sums of output lane / 4 of the segments
/// 8n + 2t + k, where t is lane % 4. The low digit's sum is number 4n + k, and the top digit's is
/// number 4n + 2 + k.
template <class End>
CONVFILT_DEVICE inline int32_t ended_two(const End& end, const Sums& sums, int n, int k) {
  const int32_t low = sums[4 * n + k], top = sums[4 * n + 2 + k];
  if constexpr (std::is_same_v<End, LateFloats>) {
    return end(top, low);
  } else {
    return end(top * 256 + low);
  }
}

/// With two digits a warp has 8 outputs, which are half a segment, of each of 64 segments. It
/// stages the red and green ones as 16 bytes a segment, in the order of the segments. The blue ones
/// follow, where those of segments n and n + 32 alternate.
constexpr int kBlues = 256, kTwoDigitStage = 384;  // words

template <int kColour, class End>
CONVFILT_DEVICE inline void stage_two(const End& end, const Sums& sums, int32_t (&red)[16],
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

/// Joins the 48 bytes of a segment from what two warps staged, one for each of its halves. The
/// segment is number `lane` of the first 32, or of the second 32 where `second` is set.
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

/// With one digit a thread has two neighbouring outputs of the segments 8n + 2t + k, as sums 4n + k
/// and 4n + 2 + k. A warp has a whole row, and stages the segments of each colour one behind the
/// other, 16 bytes each.
constexpr int kOneDigitStage = 768;  // words

template <int kColour, class End>
CONVFILT_DEVICE inline void stage_one(const End& end, const Sums& sums, SharedWords stage) {
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

/// Joins the 48 bytes of a segment from what its warp staged.
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

/// Writes a segment's 48 bytes behind those of the segments before it.
CONVFILT_DEVICE inline void lay(SharedWords to, int segment, const uint32_t (&words)[12]) {
  CONVFILT_UNROLL(3)
  for (int k = 0; k < 3; ++k) {
    const uint32_t* const four = words + 4 * k;
    to.set4(12 * segment + 4 * k, Four<uint32_t>{{four[0], four[1], four[2], four[3]}});
  }
}

/// Where a thread writes its kPieces pieces of a row, which have 16 bytes each and lie 512 bytes
/// apart. The last piece of a row may end in the row's padding.
template <int kPieces>
class Pieces {
 public:
  /// The first piece is at byte `from` of row `row`. Bytes before `own` belong to another strip.
  CONVFILT_DEVICE Pieces(const PlaneView<uint8_t>& out, int row, int from, int own)
      : at_(out.row(row) + from), stride_(out.stride) {
    CONVFILT_UNROLL(kPieces)
    for (int k = 0; k < kPieces; ++k) {
      own_[k] = from + kApart * k >= own && from + kApart * k < out.width;
    }
  }
  CONVFILT_DEVICE void write(SharedWords words, int lane) const {
    CONVFILT_UNROLL(kPieces)
    for (int k = 0; k < kPieces; ++k) {
      const auto four = words.template get4<uint32_t>(4 * lane + kApart / 4 * k);
      if (own_[k]) *reinterpret_cast<Four<uint32_t>*>(at_ + kApart * k) = four;
    }
  }
  CONVFILT_DEVICE void go_down(int rows) { at_ += rows * stride_; }

 private:
  static constexpr int kApart = 32 * kChunk;

  uint8_t* at_;
  std::ptrdiff_t stride_;
  bool own_[kPieces];
};

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour
