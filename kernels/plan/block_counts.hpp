/// The counts of one block, by formula: each strategy says which cell a thread accesses at a time,
/// as lectures write it down, and everything is counted from that.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/backend/warps.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// A sample's or an output's place, counted from the output tile's first output; in shared memory a
/// cell's, counted from the tile's first.
struct BlockCell {
  int col, row;

  /// The cell at the thread's own place in the block.
  static BlockCell own(int col, int row) { return {col, row}; }
};

/// Takes the accesses of a block whose samples all lie in the image.
///
/// `cell_of(col, row)` says which cell the thread in that column and row of the block accesses, as
/// a BlockCell, or as an optional one where some threads have none.
class BlockFormula {
 public:
  BlockFormula(const Problem& p, const Geometry& g, const BlockPlace& place)
      : columns_(g.block_columns),
        rows_(g.block_rows),
        bytes_(size_of(p.depth)),
        in_(plane_of(place, p.width, bytes_, p.lead_x(), p.lead_y())),
        out_(plane_of(place, p.out_width(), bytes_)),
        sums_(plane_of(place, p.out_width(), std::size_t(g.sum_bytes))) {
    watch_.begin(columns_ * rows_);
    counts_.blocks = 1;
  }

  /// Samples under weight (0, 0) of the tile's first output are cell (0, 0). A thread reads
  /// `samples` from its cell on.
  template <class CellOf>
  void read(CellOf cell_of, int samples = 1) {
    counts_.global_reads += global(kRead, in_, samples, cell_of) * unsigned(samples);
  }
  template <class CellOf>
  void write(CellOf cell_of) {
    counts_.global_writes += global(kWrite, out_, 1, cell_of);
  }

  /// Additions to a plane of sums, each of which is a read and a write, and additions that are
  /// atomic, which are one access each.
  template <class CellOf>
  void add(CellOf cell_of) {
    global(kReadSum, sums_, 1, cell_of);
    counts_.sum_adds += global(kAdd, sums_, 1, cell_of);
  }
  template <class CellOf>
  void add_atomically(CellOf cell_of) {
    counts_.atomic_adds += global(kAdd, sums_, 1, cell_of);
  }

  /// Cells of a tile that has so many columns in shared memory.
  template <class CellOf>
  void read_shared(int tile_columns, CellOf cell_of) {
    counts_.shared_reads += shared(kReadShared, tile_columns, cell_of);
  }
  template <class CellOf>
  void write_shared(int tile_columns, CellOf cell_of) {
    counts_.shared_writes += shared(kWriteShared, tile_columns, cell_of);
  }

  /// Weights, and fetches of a texture, for each thread that has a cell.
  template <class CellOf>
  void read_mask(CellOf cell_of) {
    each(cell_of, [&](std::uint32_t, const BlockCell&) { ++counts_.mask_reads; });
  }
  /// The k-th weight, from global memory: all threads that have a cell read the same four bytes.
  template <class CellOf>
  void load_weight(int k, CellOf cell_of) {
    counts_.global_reads += global(kWeight, {0, 0, 4}, 1, [&](int col, int row) {
      const std::optional<BlockCell> cell = cell_of(col, row);
      return cell ? std::optional(BlockCell{k, 0}) : std::nullopt;
    });
  }
  template <class CellOf>
  void fetch(CellOf cell_of) {
    each(cell_of, [&](std::uint32_t thread, const BlockCell&) {
      ++counts_.texture_fetches;
      watch_.access(thread, kFetch, Memory::none);
    });
  }

  void barrier() {
    ++counts_.barriers;
    watch_.barrier();
  }

  Counts counts() {
    watch_.end(counts_.warps);
    return counts_;
  }

 private:
  enum Kind : std::uint64_t {
    kRead,
    kWrite,
    kReadSum,
    kAdd,
    kReadShared,
    kWriteShared,
    kFetch,
    kWeight
  };

  /// The address of cell (0, 0), in bytes from a plane's first sample, the bytes from row to row,
  /// and those of a sample.
  struct Plane {
    std::int64_t first, pitch, bytes;
  };

  static Plane plane_of(const BlockPlace& place, int width, std::size_t sample_bytes,
                        int lead_x = 0, int lead_y = 0) {
    const auto bytes = std::int64_t(sample_bytes);
    const std::int64_t row = width * bytes;
    const std::int64_t pitch =
        place.padded_pitch ? (row + kPitchBytes - 1) / kPitchBytes * kPitchBytes : row;
    return {(place.y - lead_y) * pitch + (place.x - lead_x) * bytes, pitch, bytes};
  }

  /// Calls f(thread, cell) for each thread that has one. They do so together.
  template <class CellOf, class F>
  void each(CellOf cell_of, F f) {
    for (int row = 0; row < rows_; ++row) {
      for (int col = 0; col < columns_; ++col) {
        const auto thread = std::uint32_t(row * columns_ + col);
        watch_.turn(thread);
        if (const std::optional<BlockCell> cell = cell_of(col, row)) f(thread, *cell);
      }
    }
  }

  template <class CellOf>
  std::uint64_t global(Kind kind, const Plane& plane, int samples, CellOf cell_of) {
    std::uint64_t count = 0;
    each(cell_of, [&](std::uint32_t thread, const BlockCell& cell) {
      ++count;
      watch_.access(thread, kind, Memory::global,
                    std::uint64_t(plane.first + cell.row * plane.pitch + cell.col * plane.bytes),
                    std::uint32_t(samples * plane.bytes));
    });
    return count;
  }

  template <class CellOf>
  std::uint64_t shared(Kind kind, int tile_columns, CellOf cell_of) {
    std::uint64_t count = 0;
    each(cell_of, [&](std::uint32_t thread, const BlockCell& cell) {
      ++count;
      watch_.access(
          thread, kind, Memory::shared,
          (std::uint64_t(cell.row) * unsigned(tile_columns) + unsigned(cell.col)) * bytes_,
          std::uint32_t(bytes_));
    });
    return count;
  }

  int columns_, rows_;
  std::size_t bytes_;  ///< of a sample
  Plane in_, out_, sums_;
  WarpWatch watch_;
  Counts counts_;
};

/// Calls f(cell_of) for each sweep of a block over so many columns and rows of cells: cell_of(col,
/// row) is the cell of the thread in that column and row of the block, if it has one there.
template <class F>
void for_each_sweep(const Geometry& g, int columns, int rows, F f) {
  for (int y = 0; y < rows; y += g.block_rows)
    for (int x = 0; x < columns; x += g.block_columns)
      f([=](int col, int row) -> std::optional<BlockCell> {
        if (x + col >= columns || y + row >= rows) return std::nullopt;
        return BlockCell{x + col, y + row};
      });
}

/// The cell that lies so many columns and rows further on, for each thread that has one.
template <class CellOf>
auto moved(CellOf cell_of, int columns, int rows) {
  return [=](int col, int row) -> std::optional<BlockCell> {
    const std::optional<BlockCell> cell = cell_of(col, row);
    if (!cell) return std::nullopt;
    return BlockCell{cell->col + columns, cell->row + rows};
  };
}

/// Calls f(i, j) for each tap.
template <class F>
void for_each_tap(const Sides& mask, F f) {
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i) f(i, j);
}

}  // namespace convfilt
