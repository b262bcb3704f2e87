/// Which thread loads which cell of the input tile, in tiled-out's three schemes.
#define CONVFILT_HOST
#include <doctest/doctest.h>

#include <vector>

#include "kernels/textbook/halo_loads.hpp"

namespace convfilt::host {
namespace {

/// Notes the threads that store into each cell, and what they store.
struct RecordingTile {
  struct Cell {
    std::vector<int> threads;
    int value = -1, block_columns = 0;

    void operator=(std::uint8_t sample) {
      threads.push_back(threadIdx.y * block_columns + threadIdx.x);
      value = sample;
    }
  };

  RecordingTile(int columns, int rows, int block_columns)
      : cells(std::size_t(rows), std::vector<Cell>(std::size_t(columns))) {
    for (auto& row : cells)
      for (Cell& cell : row) cell.block_columns = block_columns;
  }
  std::vector<Cell>& operator[](int row) { return cells[std::size_t(row)]; }

  std::vector<std::vector<Cell>> cells;
};

/// `loader(col, row)` is the only thread that may load the cell.
template <class Load, class Loader>
void check_loads(const InTile& at, Load load_tile, Loader loader) {
  std::vector<std::uint8_t> samples(40 * 30);
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = std::uint8_t(k * 7 % 251);
  const PlaneView<const std::uint8_t> in{samples.data(), 40, 30, 40};
  RecordingTile tile(at.columns, at.rows, at.tile);
  for (int y = 0; y < at.block_rows; ++y) {
    for (int x = 0; x < at.tile; ++x) {
      threadIdx = {x, y, 0};
      load_tile(tile, at, in);
    }
  }
  for (int row = 0; row < at.rows; ++row) {
    for (int col = 0; col < at.columns; ++col) {
      const auto& cell = tile[row][std::size_t(col)];
      INFO("cell " << col << ", " << row);
      REQUIRE(cell.threads.size() == 1);
      CHECK(cell.threads[0] == loader(col, row));
      CHECK(cell.value == in.row(at.y + row)[at.x + col]);
    }
  }
}

const InTile kTiles[] = {
    {3, 2, 6, 4, 4, 4, 2},    // the picture of halo_loads.hpp
    {3, 2, 6, 5, 4, 4, 4},    //
    {1, 1, 17, 13, 4, 4, 2},  // a halo wider than a tile
    {5, 4, 20, 20, 16, 16, 16}, {5, 4, 20, 9, 8, 8, 2},
    {5, 4, 20, 1, 16, 1, 1},  // a block of one row
};

}  // namespace

TEST_CASE("sweeps: cells go to the thread at their place modulo the block") {
  for (const InTile& at : kTiles) {
    check_loads(
        at,
        [](auto& tile, const InTile& where, const auto& in) {
          load_in_sweeps(tile, where, in, Border::replicate, std::uint8_t(0));
        },
        [&](int col, int row) { return row % at.block_rows * at.tile + col % at.tile; });
  }
}

TEST_CASE("regions: cells go to the thread with their place in its own output tile") {
  for (const InTile& at : kTiles) {
    const int left = (at.columns - at.tile + 1) / 2, top = (at.rows - at.tile_rows + 1) / 2;
    check_loads(
        at,
        [](auto& tile, const InTile& where, const auto& in) {
          load_in_regions(tile, where, in, Border::replicate, std::uint8_t(0));
        },
        [&](int col, int row) {
          const int x = floor_modulo(col - left, at.tile),
                    y = floor_modulo(row - top, at.tile_rows);
          return y % at.block_rows * at.tile + x;
        });
  }
}

TEST_CASE("two steps: cells go to the thread with their number, counted along the rows") {
  for (const InTile& at : kTiles) {
    check_loads(
        at,
        [](auto& tile, const InTile& where, const auto& in) {
          load_in_two_steps(tile, where, in, Border::replicate, std::uint8_t(0));
        },
        [&](int col, int row) { return (row * at.columns + col) % (at.tile * at.block_rows); });
  }
}

TEST_CASE("turns: the textbook's example, 20 x 20 cells for 16 x 16 threads") {
  const InTile at{0, 0, 20, 20, 16, 16, 16};
  CHECK(turns_of(kSweeps, at) == 4);
  CHECK(turns_of(kRegions, at) == 9);
  CHECK(turns_of(kTwoStep, at) == 2);
  CHECK(turns_of(kRegions, {0, 0, 20, 1, 16, 1, 1}) == 3);
  CHECK(turns_of(kRegions, {0, 0, 16, 16, 16, 16, 16}) == 1);
}

}  // namespace convfilt::host
