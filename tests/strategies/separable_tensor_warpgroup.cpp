/// separable-tensor's kernels for warpgroups: the emulator's products of typed bytes and its turned
/// matrices against plain ones, boxes of rows, banded matrices, and the strips that cover a plane.
/// The bytes of the kernels are checked with the strategy's.
#define CONVFILT_EMULATE
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/backend/boxes.hpp"
#include "kernels/registry.hpp"
#include "kernels/separable_tensor/warpgroup/layout.hpp"
#include "tests/support/device/with_warpgroups.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

using namespace separable_tensor::warpgroup;

constexpr int kLeftRows = 64, kRightColumns = 32, kDepth = 32;  // of a product

/// Where the PTX ISA's figure of matrices without swizzling has byte k of a row: core matrices of 8
/// rows of 16 bytes.
int place_of(int row, int k, int lead, int stride) {
  return k / 16 * lead + row / 8 * stride + row % 8 * 16 + k % 16;
}

/// Runs a block of one warpgroup on these bytes of shared memory.
template <class Body>
void run_block(const std::vector<std::uint8_t>& bytes, const Body& body) {
  emulator::Stream stream(PlanOptions{});
  const auto kernel = [](const std::vector<std::uint8_t>* bytes, const Body* body) {
    const emulator::SharedWords words = emulator::shared_words();
    if (emulator::threadIdx.x == 0) {
      for (std::size_t k = 0; k < bytes->size(); k += 4) {
        std::uint32_t word;
        std::memcpy(&word, bytes->data() + k, 4);
        words.set(int(k / 4), word);
      }
    }
    emulator::synchronise_block();
    (*body)(words, int(emulator::threadIdx.x));
  };
  emulator::launch_shared(emulator::dim3(1), emulator::dim3(128), int(bytes.size()), stream,
                          +kernel, &bytes, &body);
}

/// Checks the product by a warpgroup, with a in shared memory and in registers, against a plain
/// one.
template <class A, class B>
void check_product(Random& random) {
  constexpr int kALead = 528, kAStride = 128, kABytes = 7 * kAStride + kALead + 128;
  constexpr int kBLead = 128, kBStride = 256;
  std::vector<std::uint8_t> bytes(kABytes + kRightColumns / 8 * kBStride);
  for (auto& byte : bytes) byte = std::uint8_t(random.integer(0, 255));
  std::vector<std::int32_t> results[2];
  for (auto& result : results) result.resize(kLeftRows * kRightColumns);
  run_block(bytes, [&](emulator::SharedWords words, int thread) {
    const auto left = emulator::operand(words, kALead, kAStride);
    const auto right = emulator::operand(words.from(kABytes / 4), kBLead, kBStride);
    const int row = thread / 32 * 16 + thread % 32 / 4, t = thread % 4;
    std::uint32_t own[4];
    for (int k = 0; k < 4; ++k) {
      const int at = place_of(row + k % 2 * 8, 4 * t + k / 2 * 16, kALead, kAStride);
      own[k] = words.get<std::uint32_t>(at / 4);
    }
    std::int32_t shared[16] = {7}, registers[16];
    std::fill_n(registers, 16, 5);
    emulator::multiply<A, B>(shared, left, right, false);
    emulator::multiply<A, B>(shared, left, right);
    emulator::multiply<A, B>(registers, own, right);
    for (int k = 0; k < 16; ++k) {
      const int at = (row + k / 2 % 2 * 8) * kRightColumns + k / 4 * 8 + t * 2 + k % 2;
      results[0][std::size_t(at)] = shared[k];
      results[1][std::size_t(at)] = registers[k];
    }
  });
  long wrong = 0;
  for (int row = 0; row < kLeftRows; ++row) {
    for (int column = 0; column < kRightColumns; ++column) {
      std::int32_t sum = 0;
      for (int k = 0; k < kDepth; ++k) {
        sum += A(bytes[std::size_t(place_of(row, k, kALead, kAStride))]) *
               B(bytes[std::size_t(kABytes + place_of(column, k, kBLead, kBStride))]);
      }
      const auto at = std::size_t(row * kRightColumns + column);
      wrong += results[0][at] != 2 * sum || results[1][at] != sum + 5;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("products of warpgroups in the emulator: bytes with a sign and without, either operand") {
  Random random(101);
  check_product<std::int8_t, std::int8_t>(random);
  check_product<std::int8_t, std::uint8_t>(random);
  check_product<std::uint8_t, std::int8_t>(random);
  check_product<std::uint8_t, std::uint8_t>(random);
}

TEST_CASE("boxes of rows in the emulator: a product has each of their samples once") {
  constexpr int kWidth = 200, kHeight = 40, kX = 16, kY = 5, kBoxes = 2, kSet = 9;
  Random random(103);
  constexpr int kStride = ceil_div(kWidth, 16) * 16;
  std::vector<Four<std::uint32_t>> memory(kStride / 16 * kHeight);
  auto* const picture = reinterpret_cast<std::uint8_t*>(memory.data());
  for (int k = 0; k < kStride * kHeight; ++k) picture[k] = std::uint8_t(random.integer(1, 255));
  const auto source = emulator::box_source({picture, kWidth, kHeight, kStride});
  const auto sample = [&](int row, int byte) {
    if (row == kSet) return 7;
    return kX + byte < kWidth ? int(picture[(kY + row) * kStride + kX + byte]) : 0;
  };
  long wrong = 0;
  // Each row of the left operand has a single weight of 1, so each sum is a sample.
  run_block(std::vector<std::uint8_t>(kBoxes * kBoxWords * 4),
            [&](emulator::SharedWords words, int thread) {
              if (thread == 0) {
                for (int box = 0; box < kBoxes; ++box) {
                  emulator::copy_box(source, kX + box * kBoxBytes, kY, words, box, words);
                  set_box_row(words, box, kSet, 0x07070707);
                }
              }
              emulator::synchronise_block();
              // Chunks of 16 bytes change places by their row's last three bits.
              for (int chunk = 0; chunk < kBoxBytes / 16; ++chunk) {
                const int row = thread % kBoxRows;
                const int at = row * (kBoxBytes / 4) + (chunk ^ row % 8) * 4;
                wrong += int(words.get<std::uint32_t>(at) & 255) != sample(row, 16 * chunk);
              }
              const int row = thread / 32 * 16 + thread % 32 / 4, t = thread % 4;
              for (int step = 0; step < kBoxes * 4; ++step) {
                std::uint32_t own[4];
                for (int k = 0; k < 4; ++k) {
                  const int place = (row + k % 2 * 8) % 32 - (4 * t + k / 2 * 16);
                  own[k] = place >= 0 && place < 4 ? 1u << (8 * place) : 0;
                }
                std::int32_t sums[16];
                emulator::multiply<std::int8_t, std::uint8_t>(
                    sums, own, emulator::box_operand(words).from(box_step(step)), false);
                for (int k = 0; k < 16; ++k) {
                  const int byte = step * 32 + (row + k / 2 % 2 * 8) % 32;
                  wrong += sums[k] != sample(k / 4 * 8 + t * 2 + k % 2, byte);
                }
              }
            });
  CHECK(wrong == 0);
}

TEST_CASE("matrices of half words are turned over their diagonals, one below the other") {
  constexpr int kPitch = 20;
  std::vector<std::uint32_t> words(4 * 32 * 4);
  run_block(std::vector<std::uint8_t>(4 * 32 * kPitch * 4),
            [&](emulator::SharedWords shared, int thread) {
              const int warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
              std::uint32_t own[4];
              for (int k = 0; k < 4; ++k) {
                // Half word (g, 2t + e) of matrix k holds a number that names its place.
                const auto name = [&](int e) {
                  return std::uint32_t(((warp * 4 + k) * 8 + g) * 8 + 2 * t + e);
                };
                own[k] = name(0) | name(1) << 16;
              }
              emulator::set_turned(shared, warp * 32 * kPitch, kPitch, own);
              emulator::synchronise_block();
              for (int k = 0; k < 4; ++k) {
                const auto row = thread % 32;
                words[std::size_t(thread * 4 + k)] =
                    shared.get<std::uint32_t>((warp * 32 + row) * kPitch + k);
              }
            });
  long wrong = 0;
  for (int warp = 0; warp < 4; ++warp) {
    for (int row = 0; row < 32; ++row) {
      for (int column = 0; column < 8; ++column) {
        const auto word = words[std::size_t((warp * 32 + row) * 4 + column / 2)];
        wrong += (word >> (16 * (column % 2)) & 0xffff) !=
                 std::uint32_t(((warp * 4 + row / 8) * 8 + column) * 8 + row % 8);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("banded matrices hold each weight once for each output, in digits") {
  const auto mask = prepare_separable<std::uint8_t>(gaussian_mask(9, 33, 2.5)).terms[0];
  for (const int channels : {1, 3}) {
    for (const int dx : {0, -4, -7}) {
      const int taps = 8 * channels + 1, steps = steps_for(dx, taps), slices = slices_for(33);
      REQUIRE(slices == 2);
      const auto matrices = banded_matrices(mask, channels, dx, steps, slices, 2);
      REQUIRE(matrices.size() ==
              std::size_t(2 * (steps * kRowMatrixBytes + slices * kColumnMatrixBytes)));
      const auto weight = [&](std::size_t matrix, int bytes, int n, int k) {
        const std::size_t at = matrix + std::size_t(place_of(n, k, 128, 256));
        return std::int8_t(matrices[at]) * 256 + matrices[at + std::size_t(bytes)];
      };
      long wrong = 0, weights = 0;
      for (int n = 0; n < kColumns; ++n) {
        // Row 16 w + g + 8 h is output 16 w + 2 g + h.
        const int output = n / 16 * 16 + n % 8 * 2 + n % 16 / 8;
        for (int sample = 0; sample < steps * kStep; ++sample) {
          const int behind = sample - slack_of(dx) - output;
          const bool there =
              behind >= 0 && behind % channels == 0 && behind / channels < mask.row.width;
          const int is = weight(std::size_t(sample / 32 * 2 * kRowMatrixBytes), kRowMatrixBytes, n,
                                sample % 32);
          wrong += is != (there ? mask.row.weights[std::size_t(behind / channels)] : 0);
          weights += is != 0;
        }
      }
      CHECK(wrong == 0);
      CHECK(weights == kColumns * 9);
      // Byte 4t + 2i + e of a word half is row 2t + e of its matrix 2 * half + i.
      const auto column_matrices = std::size_t(2 * steps * kRowMatrixBytes);
      for (int n = 0; n < kRows; ++n) {
        for (int y = 0; y < slices * kRows; ++y) {
          const int matrix = y % 32 / 8, t = y % 8 / 2, e = y % 2;
          const int k = matrix / 2 * 16 + t * 4 + matrix % 2 * 2 + e;
          const int is = weight(column_matrices + std::size_t(y / 32 * 2 * kColumnMatrixBytes),
                                kColumnMatrixBytes, n, k);
          const bool there = y >= n && y - n < mask.column.height;
          wrong += is != (there ? mask.column.weights[std::size_t(y - n)] : 0);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("strips cover a plane once, and are as many as run at a time") {
  for (const int width : {1, 63, 64, 65, 300, 4032, 8192}) {
    for (const int taps : {1, 31, 127, 379}) {
      const int dx = -(taps / 2);
      Grid grid = cut_columns(dx, taps, steps_for(dx, taps), width, width);
      CHECK(grid.lead % 4 == 0);
      CHECK(grid.lead + dx == slack_of(dx));
      CHECK(grid.left == taps / 2);
      CHECK(grid.right == taps / 2);
      for (const int height : {1, 32, 33, 3024, 8192}) {
        for (const int at_once : {1, 528, 1 << 30}) {
          cut_rows(grid, 2, height, at_once);
          CHECK(grid.rows % kRows == 0);
          // Counts how often each strip has each slice of rows.
          const int slices = ceil_div(height, kRows);
          std::vector<int> there(std::size_t(grid.across * slices));
          for (int block = 0; block < grid.across * grid.down; ++block) {
            const Strip strip = grid.strip(block);
            CHECK(strip.from < height);
            for (int y = strip.from; y < std::min(height, strip.from + strip.rows); y += kRows) {
              ++there[std::size_t(strip.x / kColumns * slices + y / kRows)];
            }
          }
          INFO("width " << width << ", taps " << taps << ", height " << height);
          CHECK(std::count(there.begin(), there.end(), 1) == std::ptrdiff_t(there.size()));
        }
      }
    }
  }
  Grid grid = cut_columns(-15, 31, 3, 8192, 8192);
  cut_rows(grid, 2, 8192, 528);
  CHECK(grid.across * grid.down <= 528);
  CHECK(grid.across * grid.down > 480);
}

TEST_CASE("warpgroups take rows that have padding, where a device has them") {
  const Strategy* strategy = find_strategy("separable-tensor");
  const auto reads = [&](bool padded) {
    const Problem p{300, 70, 1, Depth::u8, Border::replicate, 0, gaussian_mask(31, 31, 5)};
    Picture in = Picture::of(p), out = Picture::result_of(p);
    in.fill(Fill::noise, 97);
    PlanOptions options;
    options.padded_pitch = padded;
    const auto plan = strategy->prepare(p, DeviceKind::emulator, options);
    plan->run(in.view(), out.view());
    return plan->counts().global_reads;
  };
  for (const bool padded : {true, false}) {
    const auto without = reads(padded);
    const WithWarpgroups with;
    CHECK((reads(padded) != without) == padded);
  }
}

}  // namespace convfilt::test
