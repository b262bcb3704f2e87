/// tensor's kernel for three channels on warpgroups: what the emulator gives it, its banded
/// matrices, and its bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "kernels/backend/emulator/shared_words.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/tensor/warpgroup/colour/shape.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"
#include "tests/support/tensor_bytes.hpp"

namespace convfilt::test {
namespace {

using namespace tensor::warpgroup;
using namespace tensor::warpgroup::colour;

/// Where a matrix of two chunks, whose rows lie together by 8, has byte `sample` of a row.
int place_in_matrix(int row, int sample) {
  return row / 8 * 256 + sample / 16 * 128 + row % 8 * 16 + sample % 16;
}

/// Runs `kernel` in a block of 128 threads with this many words of shared memory.
template <class Kernel>
void run_block(int words, const Kernel& kernel) {
  emulator::Stream stream(PlanOptions{});
  const auto call = [](const Kernel* kernel) { (*kernel)(); };
  emulator::launch_shared(emulator::dim3(1), emulator::dim3(128), 4 * words, stream, +call,
                          &kernel);
}

int thread() {
  return emulator::threadIdx.x;
}

}  // namespace

TEST_CASE("a warp's barrier orders what its threads wrote, and nothing of other warps") {
  long wrong = 0;
  const auto read_from = [&](int distance, bool barrier) {
    return [&wrong, distance, barrier] {
      const emulator::SharedWords words = emulator::shared_words();
      words.set(thread(), thread());
      barrier ? emulator::synchronise_warp() : emulator::meet_warp();
      wrong += words.get<int>(thread() ^ distance) != (thread() ^ distance);
    };
  };
  CHECK_NOTHROW(run_block(128, read_from(0, false)));
  CHECK_NOTHROW(run_block(128, read_from(31, true)));
  CHECK(wrong == 0);
  CHECK_THROWS_AS(run_block(128, read_from(1, false)), emulator::EmulatorError);
  CHECK_THROWS_AS(run_block(128, read_from(32, true)), emulator::EmulatorError);
}

TEST_CASE("a wait for copies that are not committed is found out") {
  alignas(16) static constexpr std::uint8_t kSamples[16] = {};
  const PlaneView<const std::uint8_t> in{kSamples, 16, 1, 16};
  const auto wait = [&](auto copy, bool commits) {
    return [&in, copy, commits] {
      if (thread() == 0) copy(in);
      emulator::synchronise_warp();  // the others have begun no copies
      if (commits) emulator::commit_copies();
      emulator::finish_copies<0>();
    };
  };
  const auto check = [&](auto copy) {
    CHECK_NOTHROW(run_block(4, wait(copy, true)));
    CHECK_THROWS_AS(run_block(4, wait(copy, false)), emulator::EmulatorError);
  };
  check([](const auto& from) { emulator::copy16(from, 0, 0, emulator::shared_words(), 0); });
  check([](const auto& from) { emulator::copy16(from, 0, emulator::shared_words(), 0, 16); });
}

TEST_CASE("products of signed bytes, in memory and in registers, with unsigned ones") {
  Random random(99);
  std::vector<std::uint8_t> a(64 * 32), b(1040);
  for (auto* bytes : {&a, &b})
    for (auto& byte : *bytes) byte = std::uint8_t(random.integer(0, 255));
  for (std::size_t k = 0; k < a.size(); k += 5) a[k] = 0;
  long wrong = 0;
  run_block(int(a.size() + b.size()) / 4, [&] {
    const emulator::SharedWords words = emulator::shared_words();
    const int b_words = int(a.size()) / 4;
    for (int k = thread(); k < b_words + int(b.size()) / 4; k += 128) {
      std::uint32_t word;
      std::memcpy(&word, k < b_words ? a.data() + 4 * k : b.data() + 4 * (k - b_words), 4);
      words.set(k, word);
    }
    emulator::synchronise_block();
    const int warp = thread() / 32, g = thread() % 32 / 4, t = thread() % 4;
    std::uint32_t registers[4];
    for (int k = 0; k < 4; ++k) {
      std::memcpy(&registers[k], &a[place_in_matrix(16 * warp + g + k % 2 * 8, k / 2 * 16 + 4 * t)],
                  4);
    }
    const auto left = emulator::operand(words, 128, 256);
    const auto right = emulator::operand(words.from(b_words), 16, 128);
    std::int32_t sums[2][32];
    std::fill_n(sums[0], 64, 7);
    emulator::multiply<std::int8_t, std::uint8_t>(sums[0], left, right);
    emulator::multiply<std::int8_t, std::uint8_t>(sums[1], registers, right, false);
    for (int k = 0; k < 32; ++k) {
      const int row = 16 * warp + g + k / 2 % 2 * 8, column = k / 4 * 8 + 2 * t + k % 2;
      std::int32_t sum = 0;
      for (int at = 0; at < 32; ++at) {
        sum += std::int8_t(a[std::size_t(place_in_matrix(row, at))]) *
               b[std::size_t(16 * column + at)];
      }
      wrong += (sums[0][k] != sum + 7) + (sums[1][k] != sum);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("matrices of colours are the mask's rows, and zeros else") {
  Random random(100);
  for (auto [width, height, rows, digits] : {std::tuple{1, 1, 3, 1},
                                             {5, 3, 3, 2},
                                             {17, 4, 5, 1},
                                             {17, 7, 7, 2},
                                             {18, 9, 9, 1},
                                             {31, 6, 15, 2}}) {
    MaskPart<std::uint8_t> mask{};
    mask.width = width;
    mask.height = height;
    for (int k = 0; k < width * height; ++k) {
      mask.weights[k] = digits == 1 ? random.integer(-128, 127) : random.integer(-30000, 30000);
    }
    const int chunks = pixel_chunks(width), before = rows_together(digits) - 1;
    const auto bytes = banded_matrices(mask, rows, digits, chunks);
    const int matrices = rows + 2 * before, size = matrix_bytes_of(digits);
    REQUIRE(int(bytes.size()) == matrices * size / 2 * chunks);
    long wrong = 0;
    for (int matrix = 0; matrix < matrices; ++matrix) {
      for (int output = 0; output < 16; ++output) {
        for (int sample = 0; sample < 16 * chunks; ++sample) {
          int weight = 0;
          for (int digit = digits - 1; digit >= 0; --digit) {
            const int row = digits == 2 ? output / 8 * 16 + digit * 8 + output % 8
                                        : output % 2 * 8 + output / 2;
            const int at = sample < 32
                               ? matrix * size + place_in_matrix(row, sample)
                               : matrices * size + matrix * size / 2 + row * 16 + sample - 32;
            weight = weight * 256 + std::int8_t(bytes[std::size_t(at)]);
          }
          const int i = sample - output, j = matrix - before;
          const bool inside = i >= 0 && i < width && j >= 0 && j < height;
          wrong += weight != (inside ? mask.weight(i, j) : 0);
        }
      }
    }
    INFO(width << " x " << height << ", digits " << digits);
    CHECK(wrong == 0);
  }
}

TEST_CASE("three channels are taken apart where a mask with gaps takes more than a step") {
  for (auto [width, side, limit, channels, padded, taken] :
       {std::tuple{1400, 7, 100, 3, true, true},
        {1400, 7, 30000, 3, true, true},
        {1400, 31, 30000, 3, true, true},
        {1400, 6, 100, 3, true, true},
        {1400, 5, 100, 3, true, false},
        {1400, 7, 3000000, 3, true, false},
        {1400, 7, 30000, 4, true, false},
        {1400, 33, 3000, 3, true, false},
        {1400, 7, 30000, 3, false, false},
        {1023, 7, 30000, 3, true, false}}) {
    Random random(101);
    const Mask mask = integer_mask(random, side, side, limit, 1 << 16);
    const Problem p{width, 9, channels, Depth::u8, Border::replicate, 0, mask};
    INFO(to_string(p) << ", limit " << limit << ", padded " << padded);
    const WithWarpgroups with;
    PlanOptions options;
    options.padded_pitch = padded;
    const auto plan = find_strategy("tensor")->prepare(p, DeviceKind::emulator, options);
    const std::string type = typeid(*plan).name();
    CHECK((type.find("ColourPlan") != std::string::npos) == taken);
  }
}

TEST_CASE(
    "colours on warpgroups give the CPU's bytes: digits, heights, chunks, ends, borders, modes") {
  constexpr std::array<int, 3> kMasks[] = {
      {3, 3, 100},     {7, 7, 30000},  {7, 7, 100},     {8, 4, 100},     {9, 9, 30000},
      {9, 8, 100},     {6, 11, 30000}, {7, 13, 100},    {15, 15, 20000}, {15, 14, 100},
      {17, 3, 20000},  {17, 17, 100},  {10, 19, 20000}, {18, 9, 20000},  {31, 5, 100},
      {24, 15, 10000}, {31, 31, 4000}, {31, 30, 30},    {30, 21, 4000},  {22, 17, 100}};
  // Each mask once in each mode in a full run, with one end of sums after the other.
  for (const auto& [number, sizes, mode] : combinations_where(
           [&](const auto&sizes, Mode mode) {
             return full_size() || (sizes[0] + sizes[1]) % 3 == int(mode);
           },
           kMasks, kModes)) {
    const auto [w, h, limit] = sizes;
    const int turn = int(number) + 1;
    const Border border =
        mode == Mode::full ? Border::constant : kBorders[turn % std::size(kBorders)];
    const unsigned power = std::bit_floor(unsigned(limit * std::sqrt(w * h)));
    // Sums end by shifts or floats for a power of two, in floats for a small odd number, by any
    // end for others.
    const double divisors[] = {double(power), double(std::min(power, 1024u) - 1), power + 2.0};
    Random random(102 + number);
    const Mask mask = integer_mask(random, w, h, limit, divisors[(number / 3 + number) % 3], 100);
    check_bytes({1060 + 31 * (turn % 7), 5 + turn % 16 + (mode == Mode::valid ? h : 0), 3,
                 Depth::u8, border, 9, turn % 2 ? mask : anchored(mask, turn % w, turn % h), mode});
  }
}

TEST_CASE("colours on warpgroups give the CPU's bytes: sides of the picture, two wide strips") {
  Random random(103);
  const Mask masks[] = {integer_mask(random, 7, 3, 30000, 1 << 16, 100),
                        integer_mask(random, 20, 3, 100, 1 << 10, 100)};
  for (const auto& [number, width, border] :
       combinations(std::array{1024, 1025, 1366, 2047, 2048, 2049, 2112, 2117}, kBorders)) {
    check_bytes({width, 7, 3, Depth::u8, border, 9, masks[number % 2], Mode::same});
  }
}

TEST_CASE("colours on warpgroups give the CPU's bytes: in matrices, and in pieces of narrow rows") {
  Random random(104);
  const Mask wide = integer_mask(random, 7, 3, 30000, 1 << 16, 100);
  const Mask low = integer_mask(random, 20, 5, 100, 1 << 10, 100);
  check_pieces({1100, 30, 3, Depth::u8, Border::reflect, 9, wide}, 120000, false);
  check_pieces({1100, 12, 3, Depth::u8, Border::wrap, 9, wide}, 26000, true);
  check_pieces({1100, 30, 3, Depth::u8, Border::constant, 9, low}, 120000, false);
}

}  // namespace convfilt::test
