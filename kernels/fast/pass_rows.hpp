/// How rows come to separable_groups.cu's shared memory, and outputs back from there.
#pragma once

#include "edge_row.hpp"
#include "pass_grid.hpp"
#include "warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kPassThreads = 128;
constexpr int kPassAhead = 2;  // groups of rows that are being copied

/// Words from a chunk of 32 rows to the next one: four more than they fill, so that neighbouring
/// chunks of a row lie in different banks.
constexpr int kChunkWords = kPassRows * kChunk / 4 + 4;

/// Words of a row of outputs, likewise.
constexpr int kStageWords = kPassColumns / 4 + 4;
constexpr int kStages = 2;

/// What a block reads and writes, and its shared memory.
struct PassPlace {
  PlaneView<const std::uint8_t> samples;  ///< of the picture's rows, from the padding on
  PlaneView<std::uint8_t> out;
  std::uint8_t ghost;
  Border border;
  SharedWords bands, stages, rows;
};

/// Copies a strip's rows, kPassRows at a time: each thread has a chunk of some of them.
class PassCopies {
 public:
  CONVFILT_DEVICE PassCopies(const PassPlace& place, int x, int y, int groups, int chunks)
      : first_(int(threadIdx.x) / chunks),
        together_(kPassThreads / chunks),
        x_(x + int(threadIdx.x) % chunks * kChunk),
        at_(int(threadIdx.x) % chunks * kChunkWords + first_ * (kChunk / 4)),
        y_(y),
        left_(first_ < together_ ? groups : 0),
        group_words_(chunks * kChunkWords),
        line_(place.samples.rows(y + first_, 1)),
        step_(together_ * place.samples.stride) {}

  CONVFILT_DEVICE void copy_group(const PassPlace& place) {
    if (left_ > 0 && y_ >= 0 && y_ + kPassRows <= place.samples.height) {
      PlaneView<const std::uint8_t> line = line_;
      CONVFILT_UNROLL(2)
      for (int row = first_, at = at_; row < kPassRows; row += together_) {
        copy16(line, x_, 0, place.rows, at);
        line.data += step_;
        at += together_ * (kChunk / 4);
      }
    } else if (left_ > 0) {
      copy_edge(place);
    }
    line_.data += kPassRows * place.samples.stride;
    y_ += kPassRows;
    --left_;
    at_ += slot_ == kPassAhead ? -kPassAhead * group_words_ : group_words_;
    slot_ = slot_ == kPassAhead ? 0 : slot_ + 1;
  }

 private:
  CONVFILT_DEVICE void copy_edge(const PassPlace& place) const {
    CONVFILT_UNROLL(1)
    for (int row = first_, at = at_; row < kPassRows; row += together_) {
      const int y = edge_row(place.border, y_ + row, place.samples.height);
      if (y >= 0) {
        copy16(place.samples, x_, y, place.rows, at);
      } else {
        const std::uint32_t word = place.ghost * 0x01010101u;
        place.rows.set4(at, Four<std::uint32_t>{{word, word, word, word}});
        for (int sample = 0; sample < kChunk; ++sample) count_ghost_cell();
      }
      at += together_ * (kChunk / 4);
    }
  }

  int first_, together_, x_, at_, y_, left_, group_words_, slot_ = 0;
  PlaneView<const std::uint8_t> line_;  ///< row y_ + first_, where that lies in the picture
  std::ptrdiff_t step_;
};

/// Stores groups of outputs from the stages, one after the other: each thread 16 of a row.
class PassSink {
 public:
  CONVFILT_DEVICE PassSink(const PassPlace& place, int x, int from, int to)
      : row_(int(threadIdx.x) / kChunks),
        left_(to - from - row_),
        at_(row_ * kStageWords + int(threadIdx.x) % kChunks * 4) {
    const int own_x = x + int(threadIdx.x) % kChunks * kChunk;
    count_ = place.out.width - own_x;
    out_ = place.out.row(from + row_) + own_x;
  }

  CONVFILT_DEVICE void store_group(const PassPlace& place) {
    const auto four = place.stages.get4<std::uint32_t>(at_);
    if (left_ > 0 && count_ >= kChunk) {
      *reinterpret_cast<Four<std::uint32_t>*>(out_) = four;
    } else if (left_ > 0) {
      CONVFILT_UNROLL(kChunk)
      for (int k = 0; k < kChunk; ++k) {
        if (k < count_) out_[k] = std::uint8_t(four.samples[k / 4] >> (8 * (k % 4)));
      }
    }
    out_ += kPassRows * place.out.stride;
    left_ -= kPassRows;
    at_ += at_ < kPassRows * kStageWords ? kPassRows * kStageWords : -kPassRows * kStageWords;
  }

 private:
  static constexpr int kChunks = kPassColumns / kChunk;
  static_assert(kPassThreads == kPassRows * kChunks, "a block stores a group at once");

  int row_, left_, at_, count_ = 0;
  std::uint8_t* out_ = nullptr;
};

}  // namespace convfilt::CONVFILT_BACKEND
