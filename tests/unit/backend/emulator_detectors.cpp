/// Kernels that do what CUDA leaves undefined, one for each thing that the emulator finds out; and
/// the same kernels done right, which it lets pass.
#define CONVFILT_EMULATE
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/backend/boxes.hpp"
#include "kernels/backend/launch.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/plan/side_samples.hpp"

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

/// Takes that many words at once, or puts four where it is 0.
__global__ void take_words(int count, int at) {
  for (int k = 0; k < 8; ++k) shared_words().set(k, k);
  std::uint32_t two[2];
  switch (count) {
    case 0: shared_words().set4(at, Four<std::uint32_t>{}); break;
    case 2: shared_words().get2(at, two); break;
    case 4: shared_words().get4<std::uint32_t>(at); break;
  }
}

/// The ways to copy samples to shared memory.
__global__ void copy_to_words(In in, int x, int y) {
  copy16(in, x, y, shared_words(), 0);
}
__global__ void copy_part_to_words(In in, int from, int bytes) {
  copy16(in, from, shared_words(), 0, bytes);
}
__global__ void copy_to_tile(In in, int x, int y) {
  __shared__ SharedTile<std::uint32_t, 1, 4> tile;
  copy16(in, x, y, tile, 0, 0);
}
__global__ void copy_row_to_words(In in, int samples) {
  copy_row(in, 0, 0, samples, shared_words(), 0, 0);
}
__global__ void copy_row_of_box(In in, int x, int y) {
  copy_box_row(in, x, y, box_words(shared_words()), 0, 0, shared_words());
}

template <bool commits>
__global__ void copy_and_wait(In in) {
  copy16(in, 0, 0, shared_words(), 0);
  if (commits) commit_copies();
  finish_copies<0>();
}

/// What the emulator says to it; empty when nothing.
template <class Launch>
std::string said_to(const Launch& launch_it) {
  const Stream stream(PlanOptions{});
  try {
    launch_it(stream);
  } catch (const EmulatorError& error) {
    return error.what();
  }
  return "";
}

/// What the emulator says to one launch.
template <class... Parameters, class... Arguments>
std::string said(dim3 grid, dim3 block, void (*kernel)(Parameters...), Arguments... arguments) {
  return said_to([&](const Stream& stream) { launch(grid, block, stream, kernel, arguments...); });
}

/// What it says to one thread that has room for a box in shared memory.
template <class... Parameters, class... Arguments>
std::string said_with_words(void (*kernel)(Parameters...), Arguments... arguments) {
  constexpr int kBytes = 4 * (kBoxSlack + kBoxWords);
  return said_to(
      [&](const Stream& stream) { launch_shared(1, 1, kBytes, stream, kernel, arguments...); });
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

TEST_CASE("a grid that no GPU takes is found out") {
  const auto nothing = [](dim3 grid) { return said(grid, 1, read_of_another_block<false>); };
  CHECK(nothing({1, 65535, 1}) == "");
  for (const dim3 grid : {dim3(1, 65536, 1), dim3(1, 1, 65536)})
    CHECK(nothing(grid) ==
          "emulator: a grid has more than 65535 blocks along y or z, as no GPU takes");
}

TEST_CASE("a row is brought to a plan's input, however wide it is") {
  constexpr int kWide = 65536 * 512 + 601, kPitch = 65536 * 512 + 1024, kBeside = 3;
  std::vector<std::byte> from(kWide);
  for (int x = 0; x < kWide; ++x) from[std::size_t(x)] = std::byte(x % 251);
  std::vector<Bytes16> memory(kPitch / 16);
  const PlaneView<std::uint8_t> to{reinterpret_cast<std::uint8_t*>(memory.data()) + kBeside, kWide,
                                   1, kPitch};
  REQUIRE(said_to([&](const Stream& stream) {
            bring_rows({from.data(), kWide, 1, kWide}, to, std::uint8_t(7), Border::constant, 1,
                       kBeside, kBeside, stream);
          }) == "");
  CHECK(std::memcmp(to.data, from.data(), kWide) == 0);
  for (int k = 1; k <= kBeside; ++k) {
    CHECK(to.data[-k] == 7);
    CHECK(to.data[kWide - 1 + k] == 7);
  }
}

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

TEST_CASE("a copy from outside the input is found out") {
  const Samples samples;
  const std::string by = " (block 0,0,0, thread 0,0,0)";
  const auto check = [&](void (*kernel)(In, int, int), const std::string& message,
                         std::initializer_list<std::pair<int, int>> outside) {
    CHECK(said_with_words(kernel, samples.view(), 0, 0) == "");
    for (const auto& [x, y] : outside) {
      INFO(x << ' ' << y);
      CHECK(said_with_words(kernel, samples.view(), x, y) == "emulator: " + message + by);
    }
  };
  check(copy_to_words, "a kernel copied 16 bytes that leave its input",
        {{-16, 0}, {0, -1}, {kColumns - 15, 0}, {0, kRows}});
  check(copy_to_tile, "a kernel read sixteen samples that leave its input",
        {{-16, 0}, {0, -1}, {kColumns - 15, 0}, {0, kRows}});
  // Behind a row's end a box has zeros.
  check(copy_row_of_box, "a kernel copied a box that leaves its input",
        {{-16, 0}, {0, -1}, {0, kRows}});

  // Only the first bytes of sixteen are samples where a row of 60 ends.
  const In narrow{samples.bytes[0], 60, kRows, kColumns};
  const auto part = [&](int from, int bytes) {
    return said_with_words(copy_part_to_words, narrow, from, bytes);
  };
  for (const auto& [from, bytes] : {std::pair{48, 12}, {0, 16}, {kRows * kColumns, 0}})
    CHECK(part(from, bytes) == "");
  for (const auto& [from, bytes] :
       {std::pair{48, 13}, {-16, 16}, {0, 17}, {56, 4}, {kRows * kColumns, 16}}) {
    INFO(from << ' ' << bytes);
    CHECK(part(from, bytes) == "emulator: a kernel copied 16 bytes that leave its input" + by);
  }
}

TEST_CASE("a copy at a place between, and one that nobody committed, is found out") {
  const Samples samples;
  for (const int x : {4, 24}) {
    CHECK(
        said_with_words(copy_to_words, samples.view(), x, 1)
            .starts_with("emulator: a kernel copied 16 bytes from an address that is no multiple"));
    CHECK(
        said_with_words(copy_part_to_words, samples.view(), x, 16)
            .starts_with("emulator: a kernel copied 16 bytes from an address that is no multiple"));
    CHECK(said_with_words(copy_to_tile, samples.view(), x, 1)
              .starts_with("emulator: a kernel copied sixteen samples from or to an address"));
  }
  CHECK(said_with_words(copy_row_to_words, samples.view(), 32) == "");
  CHECK(said_with_words(copy_row_to_words, samples.view(), 24)
            .starts_with("emulator: a kernel copied a row of no multiple of 16 bytes"));
  CHECK(said_with_words(copy_and_wait<true>, samples.view()) == "");
  CHECK(said_with_words(copy_and_wait<false>, samples.view())
            .starts_with("emulator: a kernel waits for copies of which it has not committed"));
}

TEST_CASE("words taken together from a place between are found out") {
  for (const int count : {0, 2, 4}) CHECK(said_with_words(take_words, count, 4) == "");
  CHECK(said_with_words(take_words, 2, 2) == "");
  CHECK(said_with_words(take_words, 2, 3)
            .starts_with("emulator: a kernel took two words that do not lie at a multiple of 8"));
  for (const int count : {0, 4})
    CHECK(
        said_with_words(take_words, count, 2)
            .starts_with("emulator: a kernel took four words that do not lie at a multiple of 16"));
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
