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
    ++running.counts.shared_writes;
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

/// A column of a tile, and where the kernel names it.
struct TileColumn {
  int column;
  CallSite place;
  TileColumn(int column_, const CallSite& place_ = CallSite::current())
      : column(column_), place(place_) {}
};

/// A cell of a tile, as the kernel names it.
template <class T>
class TileCell {
 public:
  TileCell(SharedCell<T>& cell, int number, const CallSite& place)
      : cell_(cell), number_(number), place_(place) {}

  void operator=(T value) {
    watch(true);
    cell_ = value;
  }
  void operator=(const TileCell& other) { *this = T(other); }
  operator T() const {
    watch(false);
    return cell_;
  }

 private:
  void watch(bool writes) const {
    watch_access(Memory::shared, place_, writes, std::uintptr_t(number_) * sizeof(T), sizeof(T));
  }

  SharedCell<T>& cell_;
  int number_;
  CallSite place_;
};

/// The type of a `__shared__` tile. Rows and columns are checked. Each CPU thread that runs the
/// kernel takes its cells from the heap: as thread-local arrays the cells of all kernels would
/// exceed the stacks that libraries give their threads, and these threads would not start.
template <class T, int rows, int columns>
class SharedTile {
 public:
  class Row {
   public:
    Row(SharedCell<T>* cells, int first) : cells_(cells), first_(first) {}
    TileCell<T> operator[](const TileColumn& at) const {
      if (at.column < 0 || at.column >= columns) fail("a kernel left its shared tile, columns");
      return {cells_[first_ + at.column], first_ + at.column, at.place};
    }

   private:
    SharedCell<T>* cells_;
    int first_;
  };
  Row operator[](int row) {
    if (row < 0 || row >= rows) fail("a kernel left its shared tile, rows");
    return Row(cells_.get(), row * columns);
  }

 private:
  std::unique_ptr<SharedCell<T>[]> cells_ = std::make_unique<SharedCell<T>[]>(rows * columns);
};

}  // namespace convfilt::emulator
