/// What overlap-discard, overlap-add and in-parts cost, against what their kernels do.
#include "src/lab/explain/overlap_costs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/registry.hpp"
#include "src/picture/image.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

const char* const kNames[] = {"overlap-save", "overlap-add", "in-parts"};

/// The outputs of all blocks of a side that begin so far from the first output, along an axis.
double outputs_of_blocks(int block, int samples, int begin, int mask, int outputs) {
  double sum = 0;
  for (int first = 0; first < samples; first += block) {
    const int left = begin + first - (mask - 1);
    sum += std::max(0, std::min(outputs, left + block + mask - 1) - std::max(0, left));
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "reads are those that the emulator counts, and each sample lies in one block to be added") {
  if (emulator_missing()) return;
  for (const auto& [w, h] : {std::pair{9, 9}, {1, 5}, {31, 3}, {140, 2}}) {
    for (const Mode mode : kModes) {
      for (const Border border : {Border::constant, Border::reflect}) {
        if (mode == Mode::full && border != Border::constant) continue;
        const Problem p{301, 97, 1, Depth::f32, border, 0.5, box_mask(w, h), mode};
        if (!mode_refuses(p).empty()) continue;
        const auto all = overlap_costs(p);
        REQUIRE(all.size() == 4);
        for (std::size_t k = 0; k < 3; ++k) {
          INFO(kNames[k] << ", " << to_string(p));
          const OverlapCosts& costs = all[k];
          REQUIRE(costs.refusal == "");
          const auto plan = find_strategy(kNames[k])->prepare(p, DeviceKind::emulator, {});
          Image in(p.width, p.height, 1, p.depth), out(p.out_width(), p.out_height(), 1, p.depth);
          std::fill_n(in.view().row(0), in.view().pitch * p.height, std::byte(0));
          plan->run(in.view(), out.view());
          const Counts counts = plan->counts();
          CHECK(costs.reads == double(counts.global_reads + counts.ghost_cells));
          if (k == 0) CHECK(costs.additions == 0);
          if (k != 1) continue;
          const int width = p.out_width(), height = p.out_height();
          CHECK(costs.reads == (width + w - 1.0) * (height + h - 1));
          CHECK(costs.additions ==
                outputs_of_blocks(costs.block_columns, width + w - 1, 0, w, width) *
                    outputs_of_blocks(costs.block_rows, height + h - 1, 0, h, height));
          CHECK(costs.transforms == 2 * costs.blocks + 1);
        }
        CHECK(all[3].multiplications == double(p.out_width()) * p.out_height() * w * h);
      }
    }
  }
}

TEST_CASE("without transforms: reads, additions and multiplications are those that are counted") {
  if (emulator_missing()) return;
  const auto tuned = [](int block, int part) {
    Tuning tuning;
    tuning[Setting::domain] = kSpatial;
    tuning[Setting::block] = block;
    tuning[Setting::part] = part;
    return tuning;
  };
  for (const auto& [w, h, block, part] : {std::array{9, 9, 0, 0},
                                          {9, 9, 12, 3},
                                          {5, 1, 16, 0},
                                          {1, 5, 8, 4},
                                          {31, 3, 40, 0},
                                          {40, 2, 40, 20},
                                          {36, 33, 0, 0}}) {
    for (const Mode mode : kModes) {
      const Problem p{101,
                      67,
                      1,
                      Depth::f32,
                      mode == Mode::full ? Border::constant : Border::reflect,
                      mode == Mode::full ? 0 : 0.5,
                      box_mask(w, h),
                      mode};
      const Tuning tuning = tuned(block, part);
      const auto all = overlap_costs(p, tuning);
      for (std::size_t k = 0; k < 3; ++k) {
        INFO(kNames[k] << ", " << to_string(p) << ", " << to_string(tuning));
        const OverlapCosts& costs = all[k];
        const Strategy& strategy = *find_strategy(kNames[k]);
        PlanOptions options;
        options.tuning = tuned(block, k == 2 ? part : 0);
        CHECK(costs.refusal == strategy.refusal(p, options.tuning));
        if (!costs.refusal.empty()) continue;
        const auto plan = strategy.prepare(p, DeviceKind::emulator, options);
        Image in(p.width, p.height, 1, p.depth), out(p.out_width(), p.out_height(), 1, p.depth);
        std::fill_n(in.view().row(0), in.view().pitch * p.height, std::byte(0));
        plan->run(in.view(), out.view());
        const Counts counts = plan->counts();
        CHECK(costs.transforms == 0);
        CHECK(costs.frame_columns == 0);
        CHECK(costs.reads == double(counts.global_reads + counts.ghost_cells));
        CHECK(costs.multiplications == double(counts.mask_reads));
        if (k > 0) CHECK(costs.additions == double(counts.sum_adds));
        CHECK(costs.bytes > 0);
      }
    }
  }
}

TEST_CASE("a block's side holds for all three strategies, and a part's for in-parts alone") {
  const Problem p{1024, 1024, 1, Depth::f32, Border::replicate, 0, box_mask(9, 9)};
  Tuning tuning;
  tuning[Setting::block] = 24;
  tuning[Setting::part] = 8;
  const auto all = overlap_costs(p, tuning);
  for (std::size_t k = 0; k < 3; ++k) CHECK(all[k].block_columns == 24);
  CHECK(all[0].blocks == 64 * 64);  // of 16 outputs each
  CHECK(all[1].blocks == 43 * 43);  // of 1032 samples
  // Two parts an axis: a transform of each, of each block, and back of each interval.
  CHECK(all[2].transforms > all[1].transforms);
  // A picture of one row has frames of one row.
  const Problem row{1024, 1, 1, Depth::f32, Border::replicate, 0, box_mask(9, 1)};
  const auto of_row = overlap_costs(row, tuning);
  for (std::size_t k = 0; k < 3; ++k) CHECK(of_row[k].frame_rows == 1);
  tuning[Setting::block] = 8;
  CHECK(overlap_costs(p, tuning)[0].refusal.find("--block=9") != std::string::npos);
}

TEST_CASE("costs of 9x9 on 1024x1024, by hand") {
  const Problem p{1024, 1024, 1, Depth::f32, Border::replicate, 0, box_mask(9, 9)};
  const auto all = overlap_costs(p);
  // Frames of 64 keep 56 outputs, or have 56 samples: 19 of them reach 1024 + 8 samples.
  for (const OverlapCosts& costs : {all[0], all[1], all[2]}) {
    CHECK(costs.frame_columns == 64);
    CHECK(costs.blocks == 19 * 19);
    CHECK(costs.transforms == 2 * 361 + 1);
    CHECK(costs.multiplications == 723.0 * 4096 * 12 + 4.0 * 361 * 33 * 64);
  }
  CHECK(all[0].reads == 361.0 * 64 * 64);
  CHECK(all[1].reads == 1032.0 * 1032);
  CHECK(all[0].writes == 1024.0 * 1024);
  // Zeros and outputs; the sums of 19 blocks reach 18 * 8 outputs more than there are.
  CHECK(all[1].writes == 2 * 1024.0 * 1024);
  CHECK(all[1].additions == (1024.0 + 18 * 8) * (1024 + 18 * 8));
  // Private buffers are not set to zero, but each of their sums is written.
  CHECK(all[2].writes == 1024.0 * 1024 + all[2].additions);
  // One batch: load, there, multiply, back, keep. Four steps of as many, zeros, and the ends of
  // sums.
  CHECK(all[0].launches == 5);
  CHECK(all[1].launches == 4 * 5 + 2);
  CHECK(all[2].launches == 5 + 1);
}

}  // namespace convfilt::test
