/// Shared memory in the emulator: cells that know who wrote them when.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/backend/emulator/emulator.hpp"

namespace convfilt::emulator {

/// One cell of shared memory, with what is needed to find a missing load or a missing barrier.
template <class T>
class SharedCell {
 public:
  void operator=(T value) {
    value_ = value;
    phase_ = running.phase;
    writer_ = running.thread;
    warp_barriers_ = running.warp_barriers;
    if (running.recorder) running.recorder->store(this);
  }
  operator T() const {
    ++running.counts.shared_reads;
    if (phase_ < running.first_phase)
      fail("a kernel read shared memory that its block never wrote");
    if (phase_ == running.phase && writer_ != running.thread && !warp_has_met()) {
      fail("a kernel read shared memory that another thread wrote since the last barrier");
    }
    if (running.recorder) running.recorder->use(this);
    return value_;
  }

 private:
  /// Whether the writer is of this warp, and the warp has had a barrier of its own since.
  bool warp_has_met() const {
    constexpr std::uint32_t kWarp = 32;
    return writer_ / kWarp == running.thread / kWarp && warp_barriers_ != running.warp_barriers;
  }

  T value_;
  std::uint32_t writer_, warp_barriers_;
  std::uint64_t phase_;
};

/// The type of a `__shared__` tile. Rows and columns are checked. Each CPU thread that runs the
/// kernel takes its cells from the heap: as thread-local arrays the cells of all kernels would
/// exceed the stacks that libraries give their threads, and these threads would not start.
template <class T, int rows, int columns>
class SharedTile {
 public:
  class Row {
   public:
    explicit Row(SharedCell<T>* cells) : cells_(cells) {}
    SharedCell<T>& operator[](int column) const {
      if (column < 0 || column >= columns) fail("a kernel left its shared tile, columns");
      return cells_[column];
    }

   private:
    SharedCell<T>* cells_;
  };
  Row operator[](int row) {
    if (row < 0 || row >= rows) fail("a kernel left its shared tile, rows");
    return Row(cells_.get() + row * columns);
  }

 private:
  std::unique_ptr<SharedCell<T>[]> cells_ = std::make_unique<SharedCell<T>[]>(rows * columns);
};

}  // namespace convfilt::emulator
