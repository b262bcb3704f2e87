/// How rows of pixels come to tensor_colour.cu's shared memory, and are taken apart to planes
/// there: by each warp its own half of a row, two rows at a time.
#pragma once

#include "kernels/contract/bytes.hpp"
#include "kernels/tensor/warpgroup/colour/shape.hpp"
#include "kernels/tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Four pixels' words to a word a colour. Two words with what two colours need of the first and
/// last save a third of the picks.
CONVFILT_DEVICE inline void take_apart(const uint32_t* words, uint32_t& red, uint32_t& green,
                                       uint32_t& blue) {
  const uint32_t outer = pick_bytes(words[0], words[2], 0x6510);  // r0 g0 r3 g3
  const uint32_t inner = pick_bytes(words[0], words[1], 0x6532);  // b0 r1 b1 r2
  red = pick_bytes(outer, inner, 0x2750);
  green = pick_bytes(outer, words[1], 0x3741);
  blue = pick_bytes(inner, words[2], 0x7420);
}

template <class Shape>
class ColourRows {
 public:
  /// From pixel x on. `planes` and `landing`: the block's; `sources`: for each row the one of the
  /// picture that it is, or -1.
  CONVFILT_DEVICE ColourRows(const GroupPlace& place, SharedWords planes, SharedWords landing,
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

  /// Begins to copy the next two rows.
  CONVFILT_DEVICE void copy(const GroupPlace& place) {
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

  /// Where the piece that was taken apart last lay: free until the next copy().
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
        to.set(c * Shape::kPlane + kGroupColumns / 4 + lane_, rest[c]);
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
  CONVFILT_DEVICE void fill(const GroupPlace& place) const {
    const SharedWords to = landing_.from(to_);
    const uint32_t word = place.ghost * 0x01010101u;
    const Four<uint32_t> four{{word, word, word, word}};
    CONVFILT_UNROLL(kHalfCopies)
    for (int k = 0; k < kHalfCopies; ++k) to.set4(4 * lane_ + 128 * k, four);
    if (copies_rest()) to.set4(kHalfWords + 4 * lane_, four);
    for (int n = 0; n < kChunk * (kHalfCopies + copies_rest()); ++n) count_ghost_cell();
  }

  int warp_, lane_, next_, rows_, row_;
  int source_;             ///< of row next_
  int to_ = 0, from_ = 0;  ///< pieces
  SharedWords planes_, landing_, sources_;
  PlaneView<const uint8_t> samples_;  ///< from this thread's first ones on
};

}  // namespace convfilt::CONVFILT_BACKEND
