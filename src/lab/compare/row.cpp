#include "src/lab/compare/row.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>

#include "src/auto/choice.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/lab/explain/tile_axis.hpp"

namespace convfilt {
namespace {

/// Milliseconds of the first, small run, from which the others are foretold.
constexpr double kProbeMs = 20;

/// A row is given up if its smallest possible run would take longer than this many milliseconds.
constexpr double kPatienceMs = 30'000;

/// How many times as large the piece of the next run may be.
constexpr double kLargestStep = 64;

constexpr double kOperationsPerTap = 2;

/// A strategy prepared for one piece, and what it gave.
struct Trial {
  Piece* piece;
  std::unique_ptr<Plan> plan;
  Image result;
  Timing timing = {};  ///< what the run says of itself
  double ms = 0;       ///< the run's time, with all copies
};

Trial try_on(const Bench& bench, const Contender& contender, const Location& location,
             Piece& piece) {
  PlanOptions how;
  how.device = location.ordinal;
  how.threads = bench.options.threads;
  how.padded_pitch = bench.options.padded_pitch;
  how.tuning = contender.tuning;
  Trial trial{&piece, contender.strategy->prepare(piece.problem(), location.kind, how),
              piece.blank_result()};
  const auto start = std::chrono::steady_clock::now();
  trial.timing = trial.plan->run(piece.in(), trial.result.view());
  trial.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return trial;
}

/// Milliseconds for the runs of a row.
double budget_ms(const Bench& bench, DeviceKind kind) {
  return 1e3 * bench.options.row_patience.value_or(kind == DeviceKind::cuda ? 1 : 0.1);
}

/// The largest of the sizes that stays within the budget by `cost_of`; at least the first.
const PieceSize& largest_within(const std::vector<PieceSize>& sizes, double budget,
                                const std::function<double(const PieceSize&)>& cost_of) {
  const auto fits = [&](const PieceSize& size) { return cost_of(size) <= budget; };
  const auto last = std::find_if(sizes.rbegin(), sizes.rend(), fits);
  return last == sizes.rend() ? sizes.front() : *last;
}

Workload workload_of(const Bench& bench, const Contender& contender) {
  return workload_of(bench.pieces.whole(), contender.strategy->family_of(contender.tuning));
}

/// The largest piece within the budget in milliseconds, where the whole picture takes so many
/// seconds.
PieceSize largest_within(const std::vector<PieceSize>& sizes, double budget, double whole_seconds) {
  return largest_within(sizes, budget, [&](const PieceSize& size) {
    return 1e3 * whole_seconds * size.outputs / sizes.back().outputs;
  });
}

void check_patience(const std::vector<PieceSize>& sizes, double whole_seconds) {
  const double seconds = whole_seconds * sizes.front().outputs / sizes.back().outputs;
  if (1e3 * seconds > kPatienceMs)
    throw std::runtime_error("too slow here: some " + std::to_string(int(seconds)) +
                             " s for the smallest piece of the picture");
}

/// Runs on the largest piece that can be run a few times within the row's patience. Runs on smaller
/// pieces find it, since what a strategy costs is not known beforehand.
Trial try_patiently(const Bench& bench, const Contender& contender, const Location& location) {
  const std::vector<PieceSize> sizes = bench.pieces.sizes();
  const int threads = useful_threads(bench.options.threads, bench.machine);
  const Workload work = workload_of(bench, contender);
  check_patience(sizes, cpu_seconds(work, threads, cpu_rates(bench.machine)));
  // A kernel's source in plain loops is about as slow on the CPU as in the emulator.
  PieceSize size = largest_within(sizes, kProbeMs, emulator_seconds(work, threads));
  for (;;) {
    Trial trial = try_on(bench, contender, location, bench.pieces.of(size));
    const PieceSize* larger = &largest_within(
        sizes, budget_ms(bench, location.kind) / (1 + kLeastRuns),
        [&](const PieceSize& other) { return trial.ms * other.outputs / size.outputs; });
    if (larger->outputs <= size.outputs) return trial;
    // The rate of a small piece says little about one much larger.
    const PieceSize* step = &largest_within(sizes, kLargestStep * size.outputs,
                                            [](const PieceSize& other) { return other.outputs; });
    size = step->outputs > size.outputs && step->outputs < larger->outputs ? *step : *larger;
  }
}

std::vector<double> cpu_times(Trial& trial, const Bench& bench) {
  std::vector<double> times;
  double spent = 0;
  while (int(times.size()) < bench.options.repeats &&
         (int(times.size()) < kLeastRuns || spent < budget_ms(bench, DeviceKind::cpu))) {
    times.push_back(trial.plan->run(trial.piece->in(), trial.result.view()).kernel_ms);
    spent += times.back();
  }
  return times;
}

std::vector<double> cuda_times(Trial& trial, const Bench& bench) {
  const auto in = trial.piece->in();
  const double budget = budget_ms(bench, DeviceKind::cuda);
  // The first run may include the loading of kernels; if a second one is as long, it suffices.
  if (trial.timing.bands == 1 && trial.timing.kernel_ms > budget) {
    const double again = trial.plan->run(in, trial.result.view()).kernel_ms;
    if (again > budget) return {again};
  }
  const int most_runs = bench.options.repeats;
  const std::vector<double> few = trial.plan->time_resident(in, std::min(kLeastRuns, most_runs));
  if (few.empty())
    throw std::runtime_error(
        "too little device memory to keep the picture there; take a smaller one");
  const int runs = runs_within(budget, spread_of(few).median, kLeastRuns, most_runs);
  // The picture is there by now.
  return runs > int(few.size()) ? trial.plan->time_resident({}, runs) : few;
}

double taps_of(const Problem& problem) {
  return double(problem.mask.width) * problem.mask.height;
}

/// Operations for each byte that the strategy's threads ask for, caches or not. On the CPU the
/// caches are left out, and each byte of picture and result moves once.
std::optional<double> own_intensity_of(const Contender& contender, const Piece& piece,
                                       DeviceKind kind, double intensity) {
  if (kind != DeviceKind::cuda) return intensity;
  const auto bytes = bytes_per_output(*contender.strategy, piece.problem(), contender.tuning);
  if (!bytes) return std::nullopt;
  return kOperationsPerTap * taps_of(piece.problem()) / *bytes;
}

Times judged(const std::vector<double>& ms, const Contender& contender, const Piece& piece,
             const Location& location, const Bench& bench) {
  DeviceLimits& limits = bench.limits;
  Times times;
  times.ms = spread_of(ms);
  times.runs = int(ms.size());
  const double seconds = times.ms.median / 1e3;
  const double bytes = 2.0 * double(piece.bytes());
  const double operations = kOperationsPerTap * taps_of(piece.problem()) * piece.outputs();
  // A copy of a small piece takes the time to begin it.
  const std::size_t whole = bench.pieces.of(bench.pieces.sizes().back()).bytes();
  const double copy = limits.copy_ms(location, whole) / 1e3 * double(piece.bytes()) / double(whole);
  const double peak = limits.peak(location).fp32;
  const double arithmetic = peak > 0 ? operations / peak : 0;
  times.pixels_per_second = piece.outputs() / piece.problem().channels / seconds;
  times.bytes_per_second = bytes / seconds;
  times.copies = seconds / copy;
  times.intensity = operations / bytes;
  times.own_intensity = own_intensity_of(contender, piece, location.kind, times.intensity);
  times.flops = operations / seconds;
  times.memory_bound = copy >= arithmetic;
  times.roofline = std::max(copy, arithmetic) / seconds;
  return times;
}

/// Taps of all outputs. Taps on ghost cells are left out where no thread reads those.
std::int64_t taps_read(const Problem& problem) {
  Geometry one_output;
  one_output.out_columns = one_output.out_rows = 1;
  const TileAxes axes = tile_axes(problem, one_output);
  const bool ghosts = problem.border == Border::constant || problem.mode == Mode::full;
  return problem.channels *
         (ghosts ? axes.x.all_taps_inside() * axes.y.all_taps_inside() : axes.taps());
}

Counted counted_of(const Counts& counts, double outputs, double taps, bool by_library) {
  Counted reads;
  reads.global_reads = double(counts.global_reads) / outputs;
  reads.shared_reads = double(counts.shared_reads) / outputs;
  reads.ghost_cells = double(counts.ghost_cells) / outputs;
  reads.atomic_adds = double(counts.atomic_adds) / outputs;
  reads.texture_fetches = double(counts.texture_fetches) / outputs;
  const std::uint64_t samples = counts.global_reads + counts.texture_fetches;
  if (samples > 0 && !by_library) reads.reuse = taps / double(samples + counts.atomic_adds);
  if (counts.blocks > 0) reads.barriers = double(counts.barriers) / double(counts.blocks);
  return reads;
}

/// Counts of a run or of one block, by its outputs, and what the warps of one block do.
std::optional<Counted> counted_of(const Trial& trial, const Contender& contender,
                                  const Location& location, const Bench& bench) {
  if (location.kind == DeviceKind::cpu) return std::nullopt;
  const Strategy& strategy = *contender.strategy;
  const Problem& problem = bench.pieces.whole();
  const auto block =
      count_watched_block(strategy, problem, contender.tuning, bench.options.padded_pitch);
  double outputs = 0;
  if (block) {
    const Geometry g = strategy.geometry(problem, contender.tuning);
    outputs = double(g.step_x()) * g.step_y();
  }
  std::optional<Counted> counted;
  if (location.kind == DeviceKind::emulator)
    counted = counted_of(trial.plan->counts(), trial.piece->outputs(),
                         double(taps_read(trial.piece->problem())),
                         sums_by_library(strategy, contender.tuning));
  else if (block)
    counted = counted_of(*block, outputs, taps_of(problem) * outputs, false);
  if (block) {
    counted->shared_writes = double(block->shared_writes) / outputs;
    // Those of texture fetches are not known, nor what a library reads.
    if (block->texture_fetches == 0 && !sums_by_library(strategy, contender.tuning))
      counted->sectors = double(block->warps.sectors) / outputs;
  }
  return counted;
}

void measure(Row& row, const Bench& bench, const Contender& contender, const Location& location,
             const PieceSize* piece) {
  const bool cuda = location.kind == DeviceKind::cuda;
  if (location.kind == DeviceKind::emulator)
    check_patience(bench.pieces.sizes(),
                   emulator_seconds(workload_of(bench, contender),
                                    useful_threads(bench.options.threads, bench.machine)));
  Trial trial = piece || cuda
                    ? try_on(bench, contender, location,
                             bench.pieces.of(piece ? *piece : bench.pieces.sizes().back()))
                    : try_patiently(bench, contender, location);
  row.width = trial.piece->problem().width;
  row.height = trial.piece->problem().height;
  row.accuracy = trial.piece->judge(trial.result, row.family);
  row.counted = counted_of(trial, contender, location, bench);
  if (location.kind == DeviceKind::emulator) return;
  const std::vector<double> ms = cuda ? cuda_times(trial, bench) : cpu_times(trial, bench);
  row.times = judged(ms, contender, *trial.piece, location, bench);
}

/// The reason why the strategy does not run there; empty where it does.
std::string why_not_there(const Strategy& strategy, const Location& location,
                          const Machine& machine) {
  if (strategy.runs_on(location.kind)) {
    if (location.kind == DeviceKind::cuda)
      for (const CudaDevice& device : machine.cuda().devices)
        if (device.ordinal == location.ordinal) return strategy.refusal_of(device);
    return "";
  }
  return "does not run on " + std::string(name_of(location.kind)) + ", only on " +
         listed(devices_of(strategy));
}

}  // namespace

PieceSize emulated_piece(const Bench& bench, const std::vector<Contender>& contenders) {
  const int threads = useful_threads(bench.options.threads, bench.machine);
  double seconds = 0;
  for (const Contender& contender : contenders)
    if (contender.strategy->refusal(bench.pieces.whole(), contender.tuning).empty())
      seconds = std::max(seconds, emulator_seconds(workload_of(bench, contender), threads));
  return largest_within(bench.pieces.sizes(), budget_ms(bench, DeviceKind::emulator), seconds);
}

Row measure_row(const Bench& bench, const Contender& contender, const Location& location,
                const PieceSize* piece) {
  const Strategy& strategy = *contender.strategy;
  Row row;
  row.contender = name_of(contender);
  row.family = strategy.family_of(contender.tuning);
  row.location = location;
  row.refusal = why_not_there(strategy, location, bench.machine);
  if (row.refusal.empty()) row.refusal = strategy.refusal(bench.pieces.whole(), contender.tuning);
  row.refused = !row.refusal.empty();
  if (row.refused) return row;
  if (location.kind != DeviceKind::cpu && strategy.has(Setting::tile)) {
    const Geometry g = strategy.geometry(bench.pieces.whole(), contender.tuning);
    row.tile_columns = g.out_columns;
    row.tile_rows = g.out_rows;
  }
  try {
    measure(row, bench, contender, location, piece);
  } catch (const std::bad_alloc&) {
    row.refusal = "out of memory";
  } catch (const std::exception& error) {
    row.refusal = error.what();
  }
  return row;
}

}  // namespace convfilt
