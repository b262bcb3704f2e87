/// Rows in memory for the vector kernels, and the ring in which a tile keeps them.
#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "kernels/plan/source_rows.hpp"

namespace convfilt::cpu {

/// Rows of equal length, each aligned for the widest vectors and followed by kSlack samples.
template <class T>
class RowBuffer {
 public:
  RowBuffer() = default;
  RowBuffer(int rows, std::size_t length)
      : stride_((length + kSlack + 63) / 64 * 64),
        data_(hwy::AllocateAligned<T>(std::size_t(rows) * stride_)) {
    if (!data_) throw std::bad_alloc();
    std::fill_n(data_.get(), std::size_t(rows) * stride_, T{});
  }

  T* row(int index) const { return data_.get() + std::size_t(index) * stride_; }

 private:
  std::size_t stride_ = 0;
  hwy::AlignedFreeUniquePtr<T[]> data_;
};

/// Where the source of a weight lies: `slot` slots after the ring's first slot, and `offset`
/// samples into that row.
struct TapPlace {
  int slot, offset;
};

/// The slots that the output rows computed together read. Slot s of the tile lies in row s % slots.
template <class T>
class Ring {
 public:
  Ring() = default;
  Ring(int slots, std::size_t length) : slots_(slots), rows_(slots, length) {}

  int slots() const { return slots_; }
  T* row(int slot) const { return rows_.row(slot % slots_); }

  /// Points every place at its source when `first` is the ring's first slot.
  void resolve(const std::vector<TapPlace>& places, int first,
               std::vector<const T*>& sources) const {
    sources.resize(places.size());
    for (std::size_t t = 0; t < places.size(); ++t) {
      int slot = first % slots_ + places[t].slot;
      slot -= slot >= slots_ ? slots_ : 0;
      sources[t] = rows_.row(slot) + places[t].offset;
    }
  }

 private:
  int slots_ = 0;
  RowBuffer<T> rows_;
};

}  // namespace convfilt::cpu
