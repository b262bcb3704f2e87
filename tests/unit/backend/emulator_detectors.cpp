/// Kernels that do what CUDA leaves undefined, one for each thing that the emulator finds out; and
/// the same kernels done right, which it lets pass.
#define CONVFILT_EMULATE
#include <doctest/doctest.h>

#include <string>

#include "kernels/backend/launch.hpp"
#include "kernels/backend/shared_words.hpp"

namespace convfilt::emulator {
namespace {

constexpr int kThreads = 64, kRows = 4, kColumns = 64;

using In = PlaneView<const std::uint8_t>;

/// A row of threads moves a row of samples: each writes a cell and reads the one before it.
enum class Move { right, unwritten, no_barrier, warp_barrier };
template <Move how>
__global__ void move_row(In in, int* moved) {
  __shared__ SharedTile<std::uint8_t, kRows, kColumns> tile;
  const int x = threadIdx.x;
  const bool writes = how != Move::unwritten || x > 0;
  if (writes) tile[0][x] = load(in, x, 0);
  if constexpr (how == Move::warp_barrier) {
    __syncwarp();
  } else if constexpr (how != Move::no_barrier) {
    __syncthreads();
  }
  moved[x] = tile[0][max(x - 1, 0)];
}

/// Only the first of two blocks writes the cells that both read.
template <bool broken>
__global__ void read_of_another_block() {
  __shared__ SharedTile<int, 1, 1> tile;
  if (!broken || blockIdx.x == 0) tile[0][0] = blockIdx.x;
  if (tile[0][0] != blockIdx.x) fail("a block read another block's cell");
}

__global__ void write_cell(int row, int column) {
  __shared__ SharedTile<int, kRows, kColumns> tile;
  tile[row][column] = 1;
}

/// Threads from `first` on end before the barrier of that number; the others wait there.
__global__ void end_early(int first, int barrier) {
  for (int k = 0; k < 3; ++k) {
    if (k == barrier && threadIdx.x >= first) return;
    __syncthreads();
  }
}

/// The first half of each warp ends once the warp has met; the others wait for the block. They
/// count themselves if they pass that barrier.
__global__ void end_by_halves(int* behind) {
  __syncwarp();
  if (threadIdx.x % 32 < 16) return;
  __syncthreads();
  ++*behind;
}

/// Only the first `threads` threads of the block meet, which are in its first warp.
__global__ void meet_in_part(int threads) {
  if (threadIdx.x < threads) __syncwarp();
}

enum class Width { one, four, sixteen, prefetched };
template <Width width>
__global__ void read_input(In in, int x, int y) {
  switch (width) {
    case Width::one: load(in, x, y); break;
    case Width::four: load4(in, x, y); break;
    case Width::sixteen: load16(in, x, y); break;
    case Width::prefetched: prefetch(in, x, y); break;
  }
}

__global__ void read_four_cells(int column) {
  __shared__ SharedTile<int, 1, kColumns> tile;
  for (int k = 0; k < kColumns; ++k) tile[0][k] = k;
  shared4(tile, 0, column);
}

/// Shared memory whose size the launch says.
__global__ void write_words(int at) {
  shared_words().set(at, 1);
}

/// What the emulator says to one launch; empty when nothing.
template <class... Parameters, class... Arguments>
std::string said(dim3 grid, dim3 block, void (*kernel)(Parameters...), Arguments... arguments) {
  const Stream stream(PlanOptions{});
  try {
    launch(grid, block, stream, kernel, arguments...);
  } catch (const EmulatorError& error) {
    return error.what();
  }
  return "";
}

/// 64 x 4 samples, at an address that is a multiple of 16.
struct Samples {
  alignas(16) std::uint8_t bytes[kRows][kColumns] = {};
  In view() const { return {bytes[0], kColumns, kRows, kColumns}; }
};

/// Checks that reads of this kind fail with `message` at the places `outside`, and do not at (0,
/// 0).
template <Width width>
void check_reads(std::string_view message, std::initializer_list<std::pair<int, int>> outside) {
  const Samples samples;
  CHECK(said(1, 1, read_input<width>, samples.view(), 0, 0) == "");
  for (const auto& [x, y] : outside) {
    INFO(x << ' ' << y);
    CHECK(said(1, 1, read_input<width>, samples.view(), x, y) ==
          "emulator: " + std::string(message) + " (block 0,0,0, thread 0,0,0)");
  }
}

}  // namespace

TEST_CASE("a cell that its block never wrote is found out") {
  const Samples samples;
  int moved[kThreads];
  CHECK(said(1, kThreads, move_row<Move::right>, samples.view(), moved) == "");
  CHECK(said(1, kThreads, move_row<Move::unwritten>, samples.view(), moved) ==
        "emulator: a kernel read shared memory that its block never wrote (block 0,0,0, thread "
        "0,0,0)");
  CHECK(said(2, 1, read_of_another_block<false>) == "");
  CHECK(said(2, 1, read_of_another_block<true>) ==
        "emulator: a kernel read shared memory that its block never wrote (block 1,0,0, thread "
        "0,0,0)");
}

TEST_CASE("a cell that another thread wrote since the last barrier is found out") {
  const Samples samples;
  int moved[kThreads];
  const std::string between =
      "emulator: a kernel read shared memory that another thread wrote since the last barrier "
      "(block 0,0,0, thread ";
  CHECK(said(1, kThreads, move_row<Move::no_barrier>, samples.view(), moved) == between + "1,0,0)");
  // The second warp's first thread reads what the first warp wrote.
  CHECK(said(1, kThreads, move_row<Move::warp_barrier>, samples.view(), moved) ==
        between + "32,0,0)");
}

TEST_CASE("a thread that ends before a barrier where others wait is found out") {
  const std::string early =
      "emulator: some threads of a block ended before a barrier where others wait";
  CHECK(said(1, kThreads, end_early, kThreads, 0) == "");
  // Before the first barrier fibers go on with the next thread, so that fewer wait than began.
  CHECK(said(1, kThreads, end_early, 40, 0).starts_with(early));
  CHECK(said(1, kThreads, end_early, 32, 0).starts_with(early));
  // After it, whole warps are missing, or threads in the middle of one.
  CHECK(said(1, kThreads, end_early, 32, 1).starts_with(early));
  CHECK(said(1, kThreads, end_early, 40, 1).starts_with(early));
  CHECK(said(1, kThreads, end_early, 40, 2).starts_with(early));
  // Nobody passes a barrier that others of its warp will not reach.
  int behind = 0;
  CHECK(said(1, kThreads, end_by_halves, &behind).starts_with(early));
  CHECK(behind == 0);
  // All at once is no error.
  CHECK(said(1, kThreads, end_early, 0, 1) == "");
}

TEST_CASE("a warp that meets in part is found out") {
  CHECK(said(1, kThreads, meet_in_part, 32) == "");
  CHECK(said(1, kThreads, meet_in_part, 31)
            .starts_with("emulator: some threads of a warp are missing where the others meet"));
}

TEST_CASE("a read outside the input is found out") {
  check_reads<Width::one>("a kernel read outside its input",
                          {{-1, 0}, {0, -1}, {kColumns, 0}, {0, kRows}});
  check_reads<Width::four>("a kernel read four samples that leave its input",
                           {{-4, 0}, {0, -1}, {kColumns - 3, 0}, {0, kRows}});
  check_reads<Width::sixteen>("a kernel read 16 bytes that leave its input",
                              {{-16, 0}, {0, -1}, {kColumns - 15, 0}, {0, kRows}});
  check_reads<Width::prefetched>("a kernel prefetched beside its input",
                                 {{-1, 0}, {0, -1}, {kColumns, 0}, {0, kRows}});
}

TEST_CASE("a wide read at a place between is found out") {
  check_reads<Width::four>(
      "a kernel read four samples at an address that is no multiple of their "
      "size",
      {{2, 0}, {5, 3}});
  check_reads<Width::sixteen>("a kernel read 16 bytes at an address that is no multiple of 16",
                              {{4, 0}, {24, 1}});
  CHECK(said(1, 1, read_four_cells, 8) == "");
  CHECK(said(1, 1, read_four_cells, 6).starts_with("emulator: a kernel read four cells at an"));
}

TEST_CASE("a place outside a shared tile, and outside of shared memory, is found out") {
  for (const auto& [row, column] : {std::pair{0, 0}, {kRows - 1, kColumns - 1}})
    CHECK(said(1, 1, write_cell, row, column) == "");
  for (const int row : {-1, kRows})
    CHECK(said(1, 1, write_cell, row, 0)
              .starts_with("emulator: a kernel left its shared tile, "
                           "rows"));
  for (const int column : {-1, kColumns})
    CHECK(said(1, 1, write_cell, 1, column)
              .starts_with("emulator: a kernel left its shared tile, "
                           "columns"));
  const Stream stream(PlanOptions{});
  const auto write_at = [&](int at) { launch_shared(1, 1, 16, stream, write_words, at); };
  CHECK_NOTHROW(write_at(0));
  CHECK_NOTHROW(write_at(3));
  CHECK_THROWS_WITH(write_at(-1),
                    "emulator: a kernel left its shared memory (block 0,0,0, thread "
                    "0,0,0)");
  CHECK_THROWS_AS(write_at(4), EmulatorError);
}

}  // namespace convfilt::emulator
