#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "src/auto/choice.hpp"
#include "src/base/clock.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/compare/measure.hpp"
#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/lab/explain/tile_axis.hpp"

namespace convfilt {
namespace {

/// Milliseconds of the first, small run, from which the others are foretold.
constexpr double kProbeMs = 20;

/// A row is given up if its smallest possible run would take longer than this many milliseconds.
constexpr double kPatienceMs = 30'000;

/// How many times as large the crop of the next run may be.
constexpr double kLargestStep = 64;

constexpr double kOperationsPerTap = 2;

double taps_of(const Problem& problem) {
  return double(problem.mask.width) * problem.mask.height;
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

/// The largest of the sizes that stays within the budget where an output costs so much; at least
/// the first.
const Problem& largest_within(const std::vector<Problem>& sizes, double budget, double cost) {
  const auto last = std::find_if(sizes.rbegin(), sizes.rend(), [&](const Problem& size) {
    return cost * outputs_of(size) <= budget;
  });
  return last == sizes.rend() ? sizes.front() : *last;
}

double budget_ms(const Bench& bench, DeviceKind kind) {
  return 1e3 * bench.options.row_patience.value_or(kind == DeviceKind::cuda ? 1 : 0.1);
}

Workload workload_of(const Bench& bench, const Contender& contender) {
  return workload_of(bench.problem, contender.strategy->family_of(contender.tuning));
}

/// A contender on a device: the runs that fill its row.
class Trial {
 public:
  Trial(Bench& bench, const Contender& contender, const Location& location)
      : bench_(bench), contender_(contender), location_(location) {}

  /// Runs on `crop`, or else on as large a crop as patience allows; on a GPU that is the whole.
  void run(const Problem* crop) {
    const double budget = budget_ms(bench_, location_.kind);
    const std::vector<Problem>& sizes = bench_.sizes();
    const Workload work = workload_of(bench_, contender_);
    const double in_emulator = 1e3 * emulator_seconds(work, bench_.threads());
    if (location_.kind == DeviceKind::emulator) check_patience(in_emulator);
    if (crop || location_.kind == DeviceKind::cuda) return run_on(crop ? *crop : sizes.back());
    check_patience(1e3 * cpu_seconds(work, bench_.threads(), cpu_rates(bench_.machine)));
    // A kernel's source in plain loops is about as slow on the CPU as in the emulator. Runs on
    // smaller crops find the largest, since what a strategy costs is not known beforehand.
    Problem size = largest_within(sizes, kProbeMs, in_emulator / outputs_of(sizes.back()));
    for (;;) {
      run_on(size);
      const Problem& larger =
          largest_within(sizes, budget / (1 + kLeastRuns), ms_ / outputs_of(size));
      if (outputs_of(larger) <= outputs_of(size)) return;
      // The rate of a small crop says little about one much larger.
      const Problem& step = largest_within(sizes, kLargestStep * outputs_of(size), 1);
      size = outputs_of(step) > outputs_of(size) && outputs_of(step) < outputs_of(larger) ? step
                                                                                          : larger;
    }
  }

  const Crop& crop() const { return *crop_; }

  Accuracy accuracy(Family family) { return crop_->judge(result_, family); }

  std::vector<double> times() {
    return location_.kind == DeviceKind::cuda ? cuda_times() : cpu_times();
  }

  /// Counts of a run or of one block, by its outputs, and what the warps of one block do.
  std::optional<Counted> counted() const {
    if (location_.kind == DeviceKind::cpu) return std::nullopt;
    const auto& [strategy, tuning] = contender_;
    const bool by_library = sums_by_library(*strategy, tuning);
    const auto block =
        count_watched_block(*strategy, bench_.problem, tuning, bench_.options.padded_pitch);
    double outputs = 0;
    if (block) {
      const Geometry g = strategy->geometry(bench_.problem, tuning);
      outputs = double(g.step_x()) * g.step_y();
    }
    std::optional<Counted> counted;
    if (location_.kind == DeviceKind::emulator)
      counted = counted_of(plan_->counts(), crop_->outputs(), double(taps_read(crop_->problem())),
                           by_library);
    else if (block)
      counted = counted_of(*block, outputs, taps_of(bench_.problem) * outputs, false);
    if (block) {
      counted->shared_writes = double(block->shared_writes) / outputs;
      // Those of texture fetches are not known, nor what a library reads.
      if (block->texture_fetches == 0 && !by_library)
        counted->sectors = double(block->warps.sectors) / outputs;
    }
    return counted;
  }

  Times judged(const std::vector<double>& ms) const {
    Times times;
    times.ms = quartiles_of(ms);
    times.runs = int(ms.size());
    const double seconds = times.ms.median / 1e3;
    const double bytes = 2.0 * double(crop_->bytes());
    const double operations = kOperationsPerTap * taps_of(crop_->problem()) * crop_->outputs();
    // A copy of a small crop takes the time to begin it.
    const std::size_t whole = bench_.whole().bytes();
    const double copy =
        bench_.limits.copy_ms(location_, whole) / 1e3 * double(crop_->bytes()) / double(whole);
    const double peak = bench_.limits.peak(location_).fp32;
    const double arithmetic = peak > 0 ? operations / peak : 0;
    times.pixels_per_second = crop_->outputs() / crop_->problem().channels / seconds;
    times.bytes_per_second = bytes / seconds;
    times.copies = seconds / copy;
    times.intensity = operations / bytes;
    times.flops = operations / seconds;
    times.memory_bound = copy >= arithmetic;
    times.roofline = std::max(copy, arithmetic) / seconds;
    // On the CPU the caches are left out, and each byte of picture and result moves once.
    if (location_.kind != DeviceKind::cuda)
      times.own_intensity = times.intensity;
    else if (const auto of_output =
                 bytes_per_output(*contender_.strategy, crop_->problem(), contender_.tuning))
      times.own_intensity = kOperationsPerTap * taps_of(crop_->problem()) / *of_output;
    return times;
  }

 private:
  void run_on(const Problem& size) {
    crop_ = &bench_.crop(size);
    plan_ = contender_.strategy->prepare(crop_->problem(), location_.kind,
                                         {.device = location_.ordinal,
                                          .threads = bench_.options.request.threads,
                                          .padded_pitch = bench_.options.padded_pitch,
                                          .tuning = contender_.tuning});
    result_ = crop_->blank_result();
    const auto start = Clock::now();
    timing_ = run_again();
    ms_ = ms_since(start);
  }

  Timing run_again() { return plan_->run(crop_->in(), result_.view()); }

  /// Throws where the smallest crop would take too long, if the whole picture took so many
  /// milliseconds.
  void check_patience(double whole_ms) const {
    const double ms =
        whole_ms * outputs_of(bench_.sizes().front()) / outputs_of(bench_.sizes().back());
    if (ms > kPatienceMs)
      throw std::runtime_error("too slow here: some " + std::to_string(int(ms / 1e3)) +
                               " s for the smallest piece of the picture");
  }

  std::vector<double> cpu_times() {
    std::vector<double> times;
    double spent = 0;
    while (int(times.size()) < bench_.options.repeats &&
           (int(times.size()) < kLeastRuns || spent < budget_ms(bench_, location_.kind))) {
      times.push_back(run_again().kernel_ms);
      spent += times.back();
    }
    return times;
  }

  std::vector<double> cuda_times() {
    const double budget = budget_ms(bench_, location_.kind);
    // The first run may include the loading of kernels; if a second one is as long, it suffices.
    if (timing_.bands == 1 && timing_.kernel_ms > budget)
      if (const double again = run_again().kernel_ms; again > budget) return {again};
    PictureView<const std::byte> in = crop_->in();
    const auto run = [&](int runs) { return plan_->time_resident(std::exchange(in, {}), runs); };
    const std::vector<double> times = times_within(budget, bench_.options.repeats, run);
    if (times.empty())
      throw std::runtime_error(
          "too little device memory to keep the picture there; take a smaller one");
    return times;
  }

  Bench& bench_;
  const Contender& contender_;
  const Location& location_;
  Crop* crop_ = nullptr;
  std::unique_ptr<Plan> plan_;
  Image result_;
  Timing timing_;  ///< what the first run on the crop says of itself
  double ms_ = 0;  ///< that run's time, with all copies
};

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

Problem emulated_crop(const Bench& bench, const std::vector<Contender>& contenders) {
  double seconds = 0;
  for (const Contender& contender : contenders)
    if (contender.strategy->refusal(bench.problem, contender.tuning).empty())
      seconds = std::max(seconds, emulator_seconds(workload_of(bench, contender), bench.threads()));
  return largest_within(bench.sizes(), budget_ms(bench, DeviceKind::emulator),
                        1e3 * seconds / outputs_of(bench.sizes().back()));
}

Row measure_row(Bench& bench, const Contender& contender, const Location& location,
                const Problem* crop) {
  const Strategy& strategy = *contender.strategy;
  Row row;
  row.contender = name_of(contender);
  row.family = strategy.family_of(contender.tuning);
  row.location = location;
  row.refusal = why_not_there(strategy, location, bench.machine);
  if (row.refusal.empty()) row.refusal = strategy.refusal(bench.problem, contender.tuning);
  row.refused = !row.refusal.empty();
  if (row.refused) return row;
  if (location.kind != DeviceKind::cpu && strategy.has(Setting::tile)) {
    const Geometry g = strategy.geometry(bench.problem, contender.tuning);
    row.tile_columns = g.out_columns;
    row.tile_rows = g.out_rows;
  }
  try {
    Trial trial(bench, contender, location);
    trial.run(crop);
    row.width = trial.crop().problem().width;
    row.height = trial.crop().problem().height;
    row.accuracy = trial.accuracy(row.family);
    row.counted = trial.counted();
    if (location.kind != DeviceKind::emulator) row.times = trial.judged(trial.times());
  } catch (const std::bad_alloc&) {
    row.refusal = "out of memory";
  } catch (const std::exception& error) {
    row.refusal = error.what();
  }
  return row;
}

}  // namespace convfilt
