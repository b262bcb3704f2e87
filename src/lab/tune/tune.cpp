#include "src/lab/tune/tune.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/devices.hpp"
#include "kernels/cpu/peak.hpp"
#include "src/auto/choice.hpp"
#include "src/base/clock.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/mask/make.hpp"
#include "src/mask/random.hpp"

namespace convfilt {
namespace {

constexpr int kChannels[] = {1, 3};

/// A strategy that takes more than this many times as long as the best would not be taken under a
/// larger mask either.
constexpr double kHopeless = 4;

/// More bytes than any cache holds.
constexpr std::size_t kCopiedBytes = std::size_t{1} << 28;

/// The time that one sample took: a + taps * b seconds.
struct CpuPoint {
  double taps, seconds;
};

/// The a and b whose relative error is least, by least squares. Each keeps at least a hundredth of
/// the first point's time, so that both are rates.
std::pair<double, double> fitted(const std::vector<CpuPoint>& points) {
  double n = 0, t = 0, tt = 0, s = 0, ts = 0;
  for (const CpuPoint& p : points) {
    const double weight = 1 / (p.seconds * p.seconds);
    n += weight;
    t += weight * p.taps;
    tt += weight * p.taps * p.taps;
    s += weight * p.seconds;
    ts += weight * p.taps * p.seconds;
  }
  const double least = points.front().seconds / 100;
  const double determinant = n * tt - t * t;
  const double b = determinant > 0 ? (n * ts - t * s) / determinant : 0;
  const double rate = std::max(b, least / points.front().taps);
  return {std::max((s - rate * t) / n, least), rate};
}

double median_seconds(Plan& plan, const Image& in, Image& out, int runs) {
  std::vector<double> ms;
  plan.run(in.view(), out.view());
  for (int k = 0; k < runs; ++k) ms.push_back(plan.run(in.view(), out.view()).kernel_ms);
  return quartiles_of(ms).median / 1e3;
}

Problem problem_of(int width, int height, int channels, Depth depth, Mask mask = {}) {
  return {width, height, channels, depth, Problem().border, 0, std::move(mask)};
}

/// Seconds of one core for a sample; nothing where no strategy takes it.
std::optional<double> cpu_sample(const Machine& machine, Family family, const Image& picture,
                                 Mask mask, int runs) {
  const Problem problem = problem_of(picture.width(), picture.height(), picture.channels(),
                                     picture.depth(), std::move(mask));
  const Strategy* strategy = first_in_order(family, DeviceKind::cpu, problem, machine);
  if (!strategy) return {};
  Image out(problem.width, problem.height, problem.channels, problem.depth);
  const auto plan = strategy->prepare(problem, DeviceKind::cpu, {.threads = 1});
  return median_seconds(*plan, picture, out, runs) / (double(problem.width) * problem.height);
}

/// One depth, channel count and size on a GPU.
struct TunePoint {
  const CudaDevice& device;
  const TuneGrid& grid;
  Problem problem;
  const Image& picture;
};

/// Milliseconds of the kernels, above 0.
double kernel_ms(const TunePoint& point, const Strategy& strategy) {
  const auto plan =
      strategy.prepare(point.problem, DeviceKind::cuda, {.device = point.device.ordinal});
  PictureView<const std::byte> in = point.picture.view();
  const std::vector<double> ms = times_within(point.grid.budget_ms, point.grid.runs, [&](int runs) {
    return plan->time_resident(std::exchange(in, {}), runs);
  });
  if (ms.empty()) throw DeviceMemoryError("the device has too little memory to keep it there");
  const double median = quartiles_of(ms).median;
  if (!(median > 0)) throw DeviceError("its kernels took no time; measure again");
  return median;
}

/// Adds the time to the strategy's curve of this depth, channel count, size and kernels.
void add_point(std::vector<CostCurve>& curves, const TunePoint& point, const Strategy& strategy,
               double ms) {
  const Problem& problem = point.problem;
  const std::string kernel(strategy.kernel_for ? strategy.kernel_for(problem, point.device) : "");
  const CostPoint cost{taps_of(strategy, problem), ms};
  const CostCurve alone{std::string(strategy.name),
                        problem.depth,
                        problem.channels,
                        kernel,
                        problem.width,
                        problem.height,
                        {cost}};
  const auto known = std::ranges::find(curves, alone.place(), &CostCurve::place);
  if (known == curves.end())
    curves.push_back(alone);
  else if (cost.taps > known->points.back().taps)
    known->points.push_back(cost);
}

/// Strategies under masks of rising sides.
void measure_masks(MeasuredCurves& measured, TunePoint& point,
                   std::vector<const Strategy*> strategies, const std::vector<int>& sides,
                   const std::function<Mask(int)>& mask_of, const Progress& progress) {
  for (const int side : sides) {
    point.problem.mask = mask_of(side);
    std::vector<std::pair<const Strategy*, double>> times;
    for (const Strategy* strategy : strategies) {
      if (!strategy->refusal(point.problem).empty()) continue;
      const std::string what = std::string(strategy->name) + ", " + to_string(point.problem);
      progress(what);
      try {
        const double ms = kernel_ms(point, *strategy);
        ++measured.points;
        add_point(measured.curves, point, *strategy, ms);
        times.emplace_back(strategy, ms);
      } catch (const DeviceMemoryError& error) {
        measured.left_out.push_back(what + ": " + error.what());
      } catch (const MissingLibraryError& error) {
        measured.left_out.push_back(what + ": " + error.what());
      } catch (const DeviceError& error) {
        throw DeviceError("measuring " + what + ": " + error.what());
      }
    }
    // An older device lacks the newest strategies, so each is held only against those that need no
    // newer device than itself.
    for (const auto& [strategy, ms] : times) {
      const bool hopeless =
          std::any_of(times.begin(), times.end(), [&, ms = ms, s = strategy](const auto& t) {
            return t.first->needs.major <= s->needs.major && ms > kHopeless * t.second;
          });
      if (hopeless) std::erase(strategies, strategy);
    }
  }
}

std::string rate_line(const char* what, double before, double now, const char* unit) {
  if (before > 0)
    return with_format("  %-22s %10.4g %-5s (before: %.4g)\n", what, now, unit, before);
  return with_format("  %-22s %10.4g %s\n", what, now, unit);
}

Mask full_rank(int side) {
  return random_mask(Weights::bits16, side, side);
}

Mask rank_1(int side) {
  return random_mask(Weights::rank1, side, side);
}

/// Calls f(size, depth, channels) for each.
template <class F>
void for_pictures(const TuneGrid& grid, F f) {
  for (const TuneGrid::Size& size : grid.sizes)
    for (const Depth depth : kDepths)
      for (const int channels : kChannels) f(size, depth, channels);
}

}  // namespace

TuneGrid tune_grid(bool quick) {
  TuneGrid grid;
  // A few multiprocessors' worth, the least that whole strips fit, what caches hold, and more.
  grid.sizes = {{640, 480}, {1024, 1024}, {2048, 2048}, {8192, 8192}};
  if (quick) {
    grid.squares = {3, 7, 15, 31, 63};
    grid.lines = {5, 15, 31, 63, 101};
    // The smaller mask is there to leave out what is hopeless, which would take longest with the
    // larger one.
    grid.transforms = {31, 63};
    grid.smooth = {101};
    grid.runs = 9;
    grid.budget_ms = 30;
  } else {
    // Kernels change at 31 to 33 and 63 to 65 taps, so both sides of these are measured.
    grid.squares = {3, 5, 7, 9, 15, 23, 25, 31, 33, 47, 63};
    grid.lines = {5, 9, 15, 31, 33, 47, 49, 55, 63, 65, 101, 127};
    grid.transforms = {31, 63, 127, 257};
    grid.smooth = {101, 257, 1025};
  }
  return grid;
}

CpuRates measure_cpu(const Machine& machine, bool quick, const Progress& progress) {
  const int side = quick ? 768 : 1536, runs = quick ? 5 : 9;
  CpuRates rates;
  rates.name = cpu::name();
  std::vector<CpuPoint> narrow, wide;
  for (const Depth depth : kDepths) {
    const Image picture = noise_picture(side, side, 1, depth);
    std::vector<CpuPoint>& points = depth == Depth::u8 ? narrow : wide;
    const auto add = [&](Family family, double taps, const Mask& mask) {
      progress("the CPU, " + std::string(name_of(depth)) + ", " + mask.name);
      if (const auto seconds = cpu_sample(machine, family, picture, mask, runs))
        points.push_back({taps, *seconds});
    };
    for (const int mask : {3, 7, 15}) add(Family::direct, double(mask) * mask, full_rank(mask));
    for (const int mask : {17, 63, 127}) add(Family::separable, 2.0 * mask, rank_1(mask));
  }
  if (narrow.empty() || wide.empty())
    throw DeviceError("no strategy runs on this CPU, so nothing can be measured");
  std::tie(rates.sample_u8, rates.multiply_add_u8) = fitted(narrow);
  std::tie(rates.sample_wide, rates.multiply_add_wide) = fitted(wide);
  progress("the CPU, a transform");
  const auto transform = cpu_sample(machine, Family::transform,
                                    noise_picture(side, side, 1, Depth::f32), full_rank(63), runs);
  rates.transform_sample = std::max(transform.value_or(0) - rates.sample_wide, rates.sample_wide);
  return rates;
}

GpuRates measure_gpu(const CudaDevice& device, std::chrono::steady_clock::time_point start,
                     const Machine& machine, const Progress& progress) {
  progress("the start of CUDA");
  time_device_copy(1, 1, device.ordinal);
  GpuRates rates{device.name, device.major, device.minor, device.multiprocessors};
  rates.context_seconds = ms_since(start) / 1e3;
  progress("copies");
  const double copy_ms = quartiles_of(time_device_copy(kCopiedBytes, 21, device.ordinal)).median;
  if (!(copy_ms > 0)) throw DeviceError("CUDA device " + device.name + ": a copy took no time");
  rates.copy_rate = 2e3 * double(kCopiedBytes) / copy_ms;

  const Problem problem = problem_of(2048, 2048, 3, Depth::f32, full_rank(3));
  const Strategy* strategy = cheapest(Family::direct, device, problem, machine, nullptr).strategy;
  if (!strategy) throw DeviceError("CUDA device " + device.name + ": no strategy runs there");
  const auto plan = strategy->prepare(problem, DeviceKind::cuda, {.device = device.ordinal});
  const Image in = noise_picture(problem.width, problem.height, problem.channels, problem.depth);
  Image out(problem.width, problem.height, problem.channels, problem.depth);
  std::vector<double> up, down;
  for (int k = 0; k < 5; ++k) {
    const Timing timing = plan->run(in.view(), out.view());
    if (k == 0) continue;  // the first run warms up
    up.push_back(timing.upload_ms);
    down.push_back(timing.download_ms);
  }
  const double bytes = double(problem.width) * problem.height * problem.channels * sizeof(float);
  rates.upload_rate = 1e3 * bytes / std::max(quartiles_of(up).median, 1e-6);
  rates.download_rate = 1e3 * bytes / std::max(quartiles_of(down).median, 1e-6);
  return rates;
}

std::string told_left_out(const MeasuredCurves& measured) {
  const std::size_t count = measured.left_out.size();
  if (count == 0) return "";
  return "left out " + std::to_string(count) + " of " +
         std::to_string(std::size_t(measured.points) + count) +
         (count > 1 ? " points; the first: " : " points: ") + measured.left_out.front();
}

MeasuredCurves measure_curves(const CudaDevice& device, const Machine& machine,
                              const TuneGrid& grid, const Progress& progress) {
  const auto all_of = [&](Family family) {
    std::vector<const Strategy*> found;
    for (const Strategy* strategy : machine.strategies)
      if (strategy->family == family && strategy->runs_on(DeviceKind::cuda) &&
          strategy->refusal_of(device).empty())
        found.push_back(strategy);
    return found;
  };
  std::vector<const Strategy*> transforms, smooth;
  for (const Strategy* strategy : all_of(Family::transform))
    (strategy->multiply_adds ? smooth : transforms).push_back(strategy);
  if (!machine.fft_missing().empty())
    std::erase_if(transforms, [](const Strategy* strategy) { return strategy->needs.fft; });

  MeasuredCurves measured;
  for_pictures(grid, [&](const TuneGrid::Size& size, Depth depth, int channels) {
    const Image picture = noise_picture(size.width, size.height, channels, depth);
    TunePoint point{device, grid, problem_of(size.width, size.height, channels, depth), picture};
    const auto gaussian = [](int side) { return gaussian_mask_of(side, side); };
    measure_masks(measured, point, all_of(Family::direct), grid.squares, full_rank, progress);
    measure_masks(measured, point, all_of(Family::separable), grid.lines, rank_1, progress);
    measure_masks(measured, point, transforms, grid.transforms, full_rank, progress);
    measure_masks(measured, point, smooth, grid.smooth, gaussian, progress);
  });
  std::ranges::stable_sort(measured.curves, {}, &CostCurve::place);
  return measured;
}

void keep_other_kernels(Profile& now, const Profile& before) {
  if (!now.gpu || !before.gpu || now.gpu->name != before.gpu->name) return;
  const std::vector<CostCurve> measured = now.curves;
  for (const CostCurve& curve : before.curves)
    if (!curve.kernel.empty() &&
        std::ranges::find(measured, curve.place(), &CostCurve::place) == measured.end())
      now.curves.push_back(curve);
}

std::string changes(const Profile* before, const Profile& now, const CudaDevice* device,
                    const Machine& machine) {
  const CpuRates old_cpu = before ? before->cpu : CpuRates{};
  std::string text = "CPU: " + now.cpu.name + "\n";
  const auto line = [&](const char* what, double CpuRates::*rate) {
    text += rate_line(what, 1e9 * (old_cpu.*rate), 1e9 * (now.cpu.*rate), "ns");
  };
  line("sample, u8", &CpuRates::sample_u8);
  line("sample, u16 and f32", &CpuRates::sample_wide);
  line("multiply-add, u8", &CpuRates::multiply_add_u8);
  line("multiply-add, others", &CpuRates::multiply_add_wide);
  line("sample of a transform", &CpuRates::transform_sample);
  if (!now.gpu) return text + "GPU: none was measured\n";
  const GpuRates old_gpu = before && before->gpu ? *before->gpu : GpuRates{};
  text += "GPU: " + now.gpu->name + "\n";
  text += rate_line("copy inside it", old_gpu.copy_rate / 1e12, now.gpu->copy_rate / 1e12, "TB/s");
  text += rate_line("upload", old_gpu.upload_rate / 1e9, now.gpu->upload_rate / 1e9, "GB/s");
  text += rate_line("download", old_gpu.download_rate / 1e9, now.gpu->download_rate / 1e9, "GB/s");
  text += rate_line("start of CUDA", 1e3 * old_gpu.context_seconds, 1e3 * now.gpu->context_seconds,
                    "ms");
  if (!device || !before) return text;

  constexpr int kShown = 8;
  int points = 0, changed = 0;
  std::string shown;
  const auto compare_choices = [&](Family family, const TuneGrid::Size& size, Depth depth,
                                   int channels, const Mask& mask) {
    const Problem problem = problem_of(size.width, size.height, channels, depth, mask);
    const Cheapest was = cheapest(family, *device, problem, machine, before);
    const Cheapest is = cheapest(family, *device, problem, machine, &now);
    if (!is.strategy) return;
    ++points;
    if (was.strategy == is.strategy) return;
    if (++changed > kShown) return;
    const auto slower = now.ms_of(*was.strategy, problem, *device);
    const std::string times =
        is.ms && slower ? with_format(" (%.3g ms, not %.3g)", *is.ms, *slower) : "";
    shown += "  " + to_string(problem) + ": " + std::string(is.strategy->name) + " instead of " +
             std::string(was.strategy->name) + times + "\n";
  };
  const TuneGrid grid = tune_grid(true);
  for_pictures(grid, [&](const TuneGrid::Size& size, Depth depth, int channels) {
    for (const int side : grid.squares)
      compare_choices(Family::direct, size, depth, channels, full_rank(side));
    for (const int side : grid.lines)
      compare_choices(Family::separable, size, depth, channels, rank_1(side));
  });
  text += "auto chooses otherwise at " + std::to_string(changed) + " of " + std::to_string(points) +
          " points" + (changed > kShown ? "; the first " + std::to_string(kShown) + ":" : "") +
          "\n" + shown;
  return text;
}

}  // namespace convfilt
