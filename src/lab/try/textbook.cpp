#include "src/lab/try/judge.hpp"

#include "kernels/backend/devices.hpp"
#include "src/auto/machine.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/lab/compare/quartiles.hpp"
#include "src/lab/explain/count_reads.hpp"

namespace convfilt {
namespace {

/// One channel of floats, ghost cells 0, with as many outputs as samples.
Problem lesson_problem(const Mask& mask, int width, int height) {
  return {width, height, 1, Depth::f32, Border::constant, 0, mask};
}

std::vector<Contender> textbook(const Problem& problem) {
  std::vector<Contender> all =
      parse_contenders("basic,tiled-in,tiled-out:outputs=1,tiled-out,cached", this_machine());
  std::erase_if(all, [&](const Contender& contender) {
    return !contender.strategy->refusal(problem, contender.tuning).empty();
  });
  return all;
}

}  // namespace

std::vector<BlockRow> count_textbook(const Mask& mask) {
  const Problem problem = lesson_problem(mask, 4096, 4096);
  std::vector<BlockRow> rows;
  for (const Contender& contender : textbook(problem)) {
    const auto block = watch_middle_block(*contender.strategy, problem, contender.tuning, true);
    if (!block || block->count.global_reads == 0) continue;
    const Geometry g = contender.strategy->geometry(problem, contender.tuning);
    const double taps = double(g.out_columns) * g.out_rows * double(mask.weights.size());
    rows.push_back({name_of(contender),
                    {{g.block_columns, g.block_rows}},
                    {{g.out_columns, g.out_rows}},
                    block->count,
                    taps / double(block->count.global_reads)});
  }
  return rows;
}

std::vector<TimeRow> time_textbook(const Trial& trial, int ordinal, int repeats) {
  const Problem problem = lesson_problem(trial.mask, trial.width, trial.height);
  const std::size_t bytes = trial.in.size() * sizeof(float);
  const PictureView<const std::byte> in{reinterpret_cast<const std::byte*>(trial.in.data()),
                                        trial.width, trial.height, 1,
                                        std::ptrdiff_t(sizeof(float)) * trial.width};
  std::vector<TimeRow> rows;
  for (const Contender& contender : textbook(problem)) {
    const auto plan = contender.strategy->prepare(problem, DeviceKind::cuda,
                                                  {.device = ordinal, .tuning = contender.tuning});
    const double ms = quartiles_of(plan->time_resident(in, repeats)).median;
    if (ms == 0)
      throw DeviceError("CUDA device " + std::to_string(ordinal) +
                        " has too little memory to time our strategies; free some");
    rows.push_back({name_of(contender), ms, 0});
  }
  const double copy = quartiles_of(time_device_copy(bytes, repeats, ordinal)).median;
  for (TimeRow& row : rows) row.copies = row.ms / copy;
  return rows;
}

}  // namespace convfilt
