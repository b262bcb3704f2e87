/// How rows come to separable_groups.cu's shared memory, and outputs back from there.
#pragma once

#include "edge_row.hpp"
#include "line_grid.hpp"
#include "warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kLineThreads = 128;
constexpr int kLineAhead = 2;  // groups of rows that are being copied

/// Words from a chunk of 32 rows to the next one: four more than they fill, so that neighbouring
/// chunks of a row lie in different banks.
constexpr int kChunkWords = kLineRows * kChunk / 4 + 4;

/// Words of a row of outputs, likewise.
constexpr int kStageWords = kLineColumns / 4 + 4;
constexpr int kStages = 2;

/// What a block reads and writes, and its shared memory.
struct LinePlace {
  PlaneView<const std::uint8_t> samples;  ///< of the picture's rows, from the padding on
  PlaneView<std::uint8_t> out;
  std::uint8_t ghost;
  Border border;
  SharedWords bands, stages, rows;
};

/// Copies a strip's rows, kLineRows at a time: each thread has a chunk of some of them.
class LineCopies {
 public:
  CONVFILT_DEVICE LineCopies(int x, int y, int groups, int chunks)
      : first_(int(threadIdx.x) / chunks),
        together_(kLineThreads / chunks),
        x_(x + int(threadIdx.x) % chunks * kChunk),
        at_(int(threadIdx.x) % chunks * kChunkWords),
        y_(y),
        left_(first_ < together_ ? groups : 0),
        group_words_(chunks * kChunkWords) {}

  CONVFILT_DEVICE void copy_group(const LinePlace& place) {
    if (left_ > 0) {
      const bool inside = y_ >= 0 && y_ + kLineRows <= place.samples.height;
      CONVFILT_UNROLL(2)
      for (int row = first_; row < kLineRows; row += together_) {
        const int y = inside ? y_ + row : edge_row(place.border, y_ + row, place.samples.height);
        const int at = slot_ * group_words_ + at_ + row * (kChunk / 4);
        if (y >= 0) {
          copy16(place.samples, x_, y, place.rows, at);
        } else {
          const std::uint32_t word = place.ghost * 0x01010101u;
          place.rows.set4(at, Four<std::uint32_t>{{word, word, word, word}});
          for (int sample = 0; sample < kChunk; ++sample) count_ghost_cell();
        }
      }
    }
    y_ += kLineRows;
    --left_;
    slot_ = slot_ == kLineAhead ? 0 : slot_ + 1;
  }

 private:
  int first_, together_, x_, at_, y_, left_, group_words_, slot_ = 0;
};

/// Stores groups of outputs from the stages, one after the other: each thread 16 of a row.
class LineSink {
 public:
  CONVFILT_DEVICE LineSink(const LinePlace& place, int x, int from, int to)
      : row_(int(threadIdx.x) / kChunks),
        left_(to - from - row_),
        at_(row_ * kStageWords + int(threadIdx.x) % kChunks * 4) {
    const int own_x = x + int(threadIdx.x) % kChunks * kChunk;
    count_ = place.out.width - own_x;
    out_ = place.out.row(from + row_) + own_x;
  }

  CONVFILT_DEVICE void store_group(const LinePlace& place) {
    const auto four = place.stages.get4<std::uint32_t>(at_);
    if (left_ > 0 && count_ >= kChunk) {
      *reinterpret_cast<Four<std::uint32_t>*>(out_) = four;
    } else if (left_ > 0) {
      CONVFILT_UNROLL(kChunk)
      for (int k = 0; k < kChunk; ++k) {
        if (k < count_) out_[k] = std::uint8_t(four.samples[k / 4] >> (8 * (k % 4)));
      }
    }
    out_ += kLineRows * place.out.stride;
    left_ -= kLineRows;
    at_ += at_ < kLineRows * kStageWords ? kLineRows * kStageWords : -kLineRows * kStageWords;
  }

 private:
  static constexpr int kChunks = kLineColumns / kChunk;
  static_assert(kLineThreads == kLineRows * kChunks, "a block stores a group at once");

  int row_, left_, at_, count_ = 0;
  std::uint8_t* out_ = nullptr;
};

}  // namespace convfilt::CONVFILT_BACKEND
