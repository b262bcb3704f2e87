#include "src/auto/choice.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "kernels/backend/devices.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"
#include "src/auto/family.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/mask/make.hpp"

namespace convfilt {
namespace {

/// From this many weights on, a transform is less work than going tap by tap.
constexpr double kTransformMultiplyAdds = 1700;

/// Seconds of one core for a multiply-add in the emulator, whose every read is counted and checked:
/// 3 (basic) to 20 (texture) nanoseconds at 15x15.
constexpr double kEmulatorMultiplyAdd = 8e-9;

}  // namespace

Workload workload_of(const Problem& problem, Family family, int runs) {
  const double samples = double(problem.width) * problem.height * problem.channels * runs;
  const double bytes = samples * double(size_of(problem.depth));
  const double weights = double(problem.mask.width) * problem.mask.height;
  if (family == Family::transform) {
    const bool transforms = weights >= kTransformMultiplyAdds;
    return {Depth::f32, samples, transforms ? 0 : samples * weights, transforms ? samples : 0,
            bytes};
  }
  const double taps = family == Family::separable ? separable_taps(problem) : weights;
  return {problem.depth, samples, samples * taps, 0, bytes};
}

double cpu_seconds(const Workload& work, int threads, const CpuRates& rates) {
  const bool narrow = work.depth == Depth::u8;
  const double seconds =
      work.samples * (narrow ? rates.sample_u8 : rates.sample_wide) +
      work.multiply_adds * (narrow ? rates.multiply_add_u8 : rates.multiply_add_wide) +
      work.transformed * rates.transform_sample;
  return seconds / std::max(threads, 1);
}

double cuda_seconds(const Workload& work, int pictures, const GpuRates& rates,
                    double kernel_seconds) {
  return rates.context_seconds / pictures + work.bytes / rates.upload_rate +
         work.bytes / rates.download_rate + kernel_seconds;
}

double emulator_seconds(const Workload& work, int threads) {
  return (work.multiply_adds + work.transformed * kTransformMultiplyAdds) * kEmulatorMultiplyAdd /
         std::max(threads, 1);
}

namespace {

double outputs_of(const Problem& problem) {
  return double(problem.out_width()) * problem.out_height();
}

/// Whether a GPU takes less time by one transform of the whole picture than by blocks.
bool whole_pays(const Problem& problem) {
  const double outputs = outputs_of(problem);
  const double weights = double(problem.mask.width) * problem.mask.height;
  // So small a picture has too few blocks to fill a GPU.
  if (outputs <= 0.5e6) return true;
  // Under a large mask blocks are larger, and so fewer.
  if (outputs <= 1e6 && weights >= 91 * 91) return true;
  // Under still larger masks most of each block is halo.
  return weights > 225 * 225;
}

/// Whether a GPU takes less time by coarse grids than by a transform.
bool coarse_pays_on_gpu(const Problem& problem) {
  const double samples = outputs_of(problem) * problem.channels;
  const double weights = double(problem.mask.width) * problem.mask.height;
  // Fewer samples do not fill a GPU.
  if (samples >= 2.2e6) return true;
  // Bytes gain earlier, since a transform moves them as floats.
  if (samples >= 1.5e6 && problem.depth == Depth::u8) return true;
  // At 257x257 an H200 takes 1.4 times as long by a transform of 1920x1080 samples.
  return samples >= 1.5e6 && weights > 225 * 225;
}

std::vector<std::string_view> order_of_transforms(DeviceKind kind, const Problem& problem) {
  bool whole = false, coarse = true;
  if (kind == DeviceKind::cuda) {
    whole = whole_pays(problem);
    coarse = coarse_pays_on_gpu(problem);
  }
  // At 50 million outputs one transform of all takes a CPU up to 1.4 times as long as blocks; at 77
  // thousand to 12.6 million as little as half.
  if (kind == DeviceKind::cpu && outputs_of(problem) <= 1 << 24) whole = true;
  const std::string_view first = whole ? "fft" : "overlap-save";
  const std::string_view second = whole ? "overlap-save" : "fft";
  if (coarse) return {"coarse", first, second};
  return {first, second, "coarse"};
}

/// Names, the first choice first: all on the CPU and in the emulator, and transforms everywhere,
/// since their bytes may differ by a rounding. They depend only on the problem and the kind of
/// device.
std::vector<std::string_view> order_of(Family family, DeviceKind kind, const Problem& problem) {
  if (family == Family::transform) return order_of_transforms(kind, problem);
  if (family == Family::separable) return {"separable"};
  // The CPU has one direct strategy; the emulator is for lessons, so it takes the textbook's best
  // tile.
  if (kind == DeviceKind::cpu) return {"cpu"};
  return {"tiled-out", "cached", "basic"};
}

/// The strategies of the family that run on the device and take the problem.
std::vector<const Strategy*> candidates(Family family, const CudaDevice& device,
                                        const Problem& problem, const Machine& machine) {
  std::vector<const Strategy*> found;
  const auto add = [&](const Strategy& strategy) {
    if (strategy.family == family && strategy.runs_on(DeviceKind::cuda) &&
        device.major >= strategy.needs.major && strategy.refusal(problem).empty())
      found.push_back(&strategy);
  };
  if (family != Family::transform) {
    for (const Strategy* strategy : machine.strategies) add(*strategy);
    return found;
  }
  for (const std::string_view name : order_of(family, DeviceKind::cuda, problem))
    if (const Strategy* strategy = machine.find(name)) add(*strategy);
  // cuFFT is asked for last: loading it takes long.
  if (found.empty() || !found.front()->needs.fft) return found;
  std::vector<const Strategy*> without;
  for (const Strategy* strategy : found)
    if (!strategy->needs.fft) without.push_back(strategy);
  return without.empty() || machine.fft_missing().empty() ? found : without;
}

}  // namespace

const Strategy* first_in_order(Family family, DeviceKind kind, const Problem& problem,
                               const Machine& machine) {
  for (const std::string_view name : order_of(family, kind, problem)) {
    const Strategy* strategy = machine.find(name);
    if (strategy && strategy->runs_on(kind) && strategy->refusal(problem).empty()) return strategy;
  }
  return nullptr;
}

Cheapest cheapest(Family family, const CudaDevice& device, const Problem& problem,
                  const Machine& machine, const Profile* profile) {
  const auto ms_of = [&](const Strategy& strategy) {
    return profile ? profile->ms_of(strategy, problem, device) : std::nullopt;
  };
  const std::vector<const Strategy*> found = candidates(family, device, problem, machine);
  if (found.empty()) return {};
  if (family == Family::transform) return {found.front(), ms_of(*found.front())};
  Cheapest best;
  for (const Strategy* strategy : found) {
    const auto ms = ms_of(*strategy);
    if (ms && (!best.ms || *ms < *best.ms)) best = {strategy, ms};
  }
  if (best.strategy) return best;
  for (const Strategy* strategy : found)
    if (!best.strategy || strategy->needs.major >= best.strategy->needs.major)
      best = {strategy, std::nullopt};
  return best;
}

namespace {

constexpr double kWorthSaying = 10;  // seconds; a longer wait is announced
constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda};

Wanted parse_device(std::string_view text) {
  if (text == "auto") return {};
  for (DeviceKind kind : kKinds)
    if (text == name_of(kind)) return {kind, 0};
  const std::string numbered = std::string(name_of(DeviceKind::cuda)) + ":";
  if (text.starts_with(numbered)) {
    const char* end = text.data() + text.size();
    int ordinal = -1;
    const auto [stop, error] = std::from_chars(text.data() + numbered.size(), end, ordinal);
    if (error == std::errc() && stop == end && ordinal >= 0) return {DeviceKind::cuda, ordinal};
    throw UsageError("--device=" + std::string(text) + ": after '" + numbered +
                     "' comes the number of a CUDA device, e.g. " + numbered + "0");
  }
  // By its letters alone "gpu" is nearer to "cpu".
  const std::string_view kind = text.substr(0, text.find(':'));
  const bool means_cuda = edit_distance(kind, "gpu") == 0;
  throw UsageError(means_cuda ? "unknown device " + in_quotes(text) + "; did you mean 'cuda'?"
                              : unknown_name("device", text, device_names()));
}

/// The strategy asked for; null = auto.
const Strategy* parse_strategy(std::string_view name, const Machine& machine) {
  if (name == "auto") return nullptr;
  if (const Strategy* strategy = machine.find(name)) return strategy;
  throw UsageError(unknown_name("strategy", name, strategy_names(machine)));
}

void require_setting(const Strategy* strategy, Setting setting) {
  if (strategy && strategy->has(setting)) return;
  const std::string name = "--" + std::string(info_of(setting).name);
  if (!strategy)
    throw UsageError(name + ": a setting belongs to a strategy; name one with --strategy");
  std::vector<std::string> own;
  for (Setting s : strategy->settings) own.push_back("--" + std::string(info_of(s).name));
  throw UsageError(name + ": strategy " + in_quotes(strategy->name) + " has no such setting" +
                   (own.empty() ? "; leave it out" : ", only " + listed(own)));
}

void check_settings(const Strategy* strategy, const Tuning& tuning) {
  for (Setting setting : kSettings)
    if (tuning[setting] != 0) require_setting(strategy, setting);
}

/// A GPU, as far as it is known, and the profile that is used for it.
struct Gpu {
  CudaDevice device;
  const Profile* profile;  ///< null without one
  bool asked;              ///< the driver said so
};

/// The best guess of the GPU before the driver is asked.
Gpu likely_gpu(const Machine& machine) {
  const Profile* profile = likely_profile(machine.profiles());
  if (profile) return {device_of(*profile->gpu), profile, false};
  CudaDevice device;
  device.major = kTensorCoreMajor;
  return {device, nullptr, false};
}

/// A CUDA device of this machine.
Gpu gpu_at(int ordinal, const Machine& machine) {
  const CudaDevice& device = machine.cuda().devices.at(std::size_t(ordinal));
  return {device, profile_for(machine.profiles(), device), true};
}

std::string told(const Gpu& gpu) {
  return told(*gpu.profile, gpu.device) +
         (gpu.asked ? "" : ", before asking which GPU this machine has");
}

/// The kernels' time, for -v.
std::string told_cost(const Gpu& gpu, std::optional<double> ms) {
  if (!gpu.profile) return ", without a profile";
  if (!ms) return ", no time of its kernels in " + told(gpu);
  return with_format(", some %.2g ms by ", *ms) + told(gpu);
}

/// This lane's CUDA device.
int ordinal_for(const Request& request, const Machine& machine) {
  const std::vector<int> shared = shared_gpus(request, machine);
  return shared[std::size_t(request.lane) % shared.size()];
}

/// Throws DeviceError unless CUDA device `ordinal` exists.
void require_cuda(const Machine& machine, int ordinal, const std::string& asked) {
  const CudaDevices& found = machine.cuda();
  if (found.devices.empty()) throw DeviceError("--device=" + asked + ": " + found.missing);
  const int count = int(found.devices.size());
  if (ordinal >= count)
    throw DeviceError("--device=" + asked + ": this machine has only cuda:0" +
                      (count > 1 ? " to cuda:" + std::to_string(count - 1) : ""));
}

std::string in_words(double seconds) {
  const double ms = std::ceil(seconds * 1e3);
  return ms < 10'000 ? std::to_string(long(ms)) + " ms"
                     : std::to_string(long(std::min(seconds, 1e15))) + " s";
}

std::string told_cpu(double seconds, int threads) {
  return "estimated " + in_words(seconds) + " on " + std::to_string(threads) +
         (threads == 1 ? " CPU thread" : " CPU threads");
}

/// Whether the CPU or a GPU gets the work if the user named neither.
struct Verdict {
  bool cuda = false;
  std::string why;
};

/// All cores work on a folder at once, and its pictures go to a GPU one after the other. A resumed
/// run must choose as the whole run did, whatever its threads.
int threads_for(const Request& request, const Machine& machine) {
  return request.pictures > 1 ? machine.cores : useful_threads(request.threads, machine);
}

/// `kernel_ms`: the time of that GPU's kernels for one picture. Without it the GPU's time is
/// unknown, and cannot decide.
Verdict weigh(const Problem& problem, Family family, int runs, const Gpu& gpu,
              std::optional<double> kernel_ms, const Request& request, const Machine& machine) {
  const int threads = threads_for(request, machine);
  const Workload work = workload_of(problem, family, runs);
  const double on_cpu = cpu_seconds(work, threads, cpu_rates(machine));
  const std::string estimate = told_cpu(on_cpu, threads);
  if (!gpu.profile) return {false, estimate + ", and no profile of a GPU"};
  const double least = cuda_seconds(work, request.pictures, *gpu.profile->gpu, 0);
  if (!kernel_ms) {
    if (request.strategy == "auto")
      return {false, estimate + ", and no time on a GPU in " + told(gpu)};
    // A user who names a strategy wants it to run where it is fast: a GPU loses only if its start
    // and transfers alone take longer.
    return {on_cpu > least, estimate + ", " + in_words(least) +
                                " for start and transfers on a GPU" + told_cost(gpu, kernel_ms)};
  }
  const double on_gpu = least + runs * *kernel_ms / 1e3;
  return {on_cpu > on_gpu, estimate + ", " + in_words(on_gpu) + " on a GPU (by " + told(gpu) + ")"};
}

/// First weighs the likely GPU, since asking CUDA takes longer than a small picture; if that would
/// pay, weighs the GPU of this machine. `ms_on` gives its kernels' time for one picture.
Verdict weigh(const Problem& problem, Family family, int runs,
              const std::function<std::optional<double>(const Gpu&)>& ms_on, const Request& request,
              const Machine& machine) {
  const auto weigh_on = [&](const Gpu& gpu) {
    return weigh(problem, family, runs, gpu, ms_on(gpu), request, machine);
  };
  const Verdict likely = weigh_on(likely_gpu(machine));
  if (!likely.cuda) return likely;
  if (!has_cuda(machine)) return {false, likely.why + ", but there is none"};
  return weigh_on(gpu_at(ordinal_for(request, machine), machine));
}

/// The reason for the family, and its effect on the bytes.
std::string reason_of(Problem problem, Family family) {
  if (family == Family::transform)
    return " by so large a mask, in which bytes may differ by a rounding from device to device; ";
  problem.contrast = 1;
  if (family_for(problem) != family)
    return ", since a transform would spread infinities, NaN and the largest samples; ";
  return " by the mask; ";
}

Choice choose_freely(const Problem& problem, int runs, const Request& request, Wanted wanted,
                     const Machine& machine) {
  // Without this check every strategy would refuse, and the message below would blame the device.
  for (const std::string& refusal : {arithmetic_refuses(problem), mode_refuses(problem)})
    if (!refusal.empty()) throw UsageError("mask " + in_quotes(problem.mask.name) + ": " + refusal);
  const Family family = family_for(problem);
  const std::string by_mask = "family " + std::string(name_of(family)) + reason_of(problem, family);
  const auto take = [&](DeviceKind kind, const std::string& why) -> Choice {
    const Strategy* strategy;
    std::string cost;
    if (kind == DeviceKind::cuda) {
      const Gpu gpu = gpu_at(wanted.ordinal, machine);
      const Cheapest found = cheapest(family, gpu.device, problem, machine, gpu.profile);
      strategy = found.strategy;
      // If the user did not name the GPU, the verdict has its time.
      if (wanted.kind) cost = told_cost(gpu, found.ms);
    } else {
      strategy = first_in_order(family, kind, problem, machine);
    }
    if (strategy) return {strategy, kind, wanted.ordinal, by_mask + why + cost, ""};
    std::vector<std::string> others;
    for (const Strategy* strategy : machine.strategies)
      if (strategy->runs_on(kind) && strategy->refusal(problem, request.tuning).empty())
        others.emplace_back(strategy->name);
    const std::string remedy = others.empty()
                                   ? "leave out --device"
                                   : "name a strategy that does: " + listed(others, "or");
    throw UsageError("--device=" + request.device + ": no strategy of the " +
                     std::string(name_of(family)) + " family, which this mask gets, runs there; " +
                     remedy);
  };
  if (wanted.kind == DeviceKind::cuda) require_cuda(machine, wanted.ordinal, request.device);
  if (wanted.kind) return take(*wanted.kind, request.why.empty() ? "device as asked" : request.why);
  // cuFFT is asked for only where a GPU pays, since loading it takes longer than filtering a small
  // picture.
  Machine with_fft = machine;
  with_fft.fft_missing = [] { return std::string(); };
  const auto cheapest_on = [&](const Gpu& gpu, const Machine& on) {
    return cheapest(family, gpu.device, problem, on, gpu.profile);
  };
  if (!cheapest_on(likely_gpu(machine), with_fft).strategy)
    return take(DeviceKind::cpu,
                machine.built_with_cuda ? "nothing of it runs on a GPU" : "this build has no CUDA");
  const Verdict verdict = weigh(
      problem, family, runs, [&](const Gpu& gpu) { return cheapest_on(gpu, with_fft).ms; }, request,
      machine);
  if (!verdict.cuda) return take(DeviceKind::cpu, verdict.why);
  wanted.ordinal = ordinal_for(request, machine);
  const Gpu gpu = gpu_at(wanted.ordinal, machine);
  if (cheapest_on(gpu, with_fft).strategy->needs.fft)
    if (const std::string missing = machine.fft_missing();
        !missing.empty() && cheapest_on(gpu, machine).strategy->needs.fft)
      return take(DeviceKind::cpu, verdict.why + ", but " + missing);
  return take(DeviceKind::cuda, verdict.why);
}

Choice choose_for(const Strategy& strategy, const Problem& problem, int runs,
                  const Request& request, const Wanted& wanted, const Machine& machine) {
  const std::string name(strategy.name);
  if (const std::string refusal = strategy.refusal(problem, request.tuning); !refusal.empty())
    throw UsageError("strategy '" + name + "': " + refusal);

  const bool on_cuda = strategy.runs_on(DeviceKind::cuda);
  if (wanted.kind) {
    // A build without CUDA does not know what would run there, only that nothing does.
    if (wanted.kind == DeviceKind::cuda && !machine.built_with_cuda)
      require_cuda(machine, wanted.ordinal, request.device);
    if (!strategy.runs_on(*wanted.kind))
      throw UsageError("strategy '" + name + "' does not run on --device=" + request.device +
                       ", only on " + listed(devices_of(strategy)) + "; leave one of the two out");
    if (wanted.kind == DeviceKind::cuda) {
      require_cuda(machine, wanted.ordinal, request.device);
      const CudaDevice& device = machine.cuda().devices[std::size_t(wanted.ordinal)];
      if (const std::string refusal = strategy.refusal_of(device); !refusal.empty())
        throw DeviceError("strategy '" + name + "': " + refusal +
                          "; name a later device, or leave out --device");
    }
    return {&strategy, *wanted.kind, wanted.ordinal, "as asked", ""};
  }
  if (strategy.runs_on(DeviceKind::cpu)) {
    if (!on_cuda) return {&strategy, DeviceKind::cpu, 0, "strategy as asked", ""};
    const Family family = strategy.family_of(request.tuning);
    const auto ms_on = [&](const Gpu& gpu) {
      return gpu.profile ? gpu.profile->ms_of(strategy, problem, gpu.device) : std::nullopt;
    };
    Verdict verdict = weigh(problem, family, runs, ms_on, request, machine);
    if (verdict.cuda && strategy.needs.fft && family == Family::transform)
      if (const std::string missing = machine.fft_missing(); !missing.empty())
        verdict = {false, verdict.why + ", but " + missing};
    return {&strategy, verdict.cuda ? DeviceKind::cuda : DeviceKind::cpu,
            verdict.cuda ? ordinal_for(request, machine) : 0, "strategy as asked; " + verdict.why,
            ""};
  }
  // A textbook kernel belongs on a GPU, even for a small picture.
  std::string missing = machine.cuda().missing;
  if (on_cuda && has_cuda(machine)) {
    std::vector<int> shared = shared_gpus(request, machine);
    const std::size_t own = std::size_t(request.lane) % shared.size();
    std::ranges::rotate(shared, shared.begin() + std::ptrdiff_t(own));
    for (const int ordinal : shared) {
      missing = strategy.refusal_of(machine.cuda().devices[std::size_t(ordinal)]);
      if (missing.empty())
        return {&strategy, DeviceKind::cuda, ordinal, "strategy as asked; it is made for a GPU",
                ""};
    }
  }
  if (!strategy.runs_on(DeviceKind::emulator))
    throw DeviceError("strategy '" + name + "' needs a CUDA device: " + missing);
  const double seconds =
      emulator_seconds(workload_of(problem, strategy.family_of(request.tuning), runs),
                       useful_threads(request.threads, machine));
  const std::string none = has_cuda(machine) ? "no CUDA device for it" : "no CUDA device";
  return {&strategy, DeviceKind::emulator, 0, "strategy as asked; there is " + none,
          none + " (" + missing + "); " + name +
              " runs in the emulator on the CPU: same bytes, not the speed" +
              (seconds > kWorthSaying ? "; this will take some " + in_words(seconds) : "")};
}

}  // namespace

Wanted wanted_device(const std::string& device, const Machine& machine) {
  const Wanted wanted = parse_device(device);
  if (wanted.kind == DeviceKind::cuda) require_cuda(machine, wanted.ordinal, device);
  return wanted;
}

void check_names(const Request& request, const Machine& machine) {
  check_settings(parse_strategy(request.strategy, machine), request.tuning);
  parse_device(request.device);
}

void check_setting(const Request& request, Setting setting, const Machine& machine) {
  require_setting(parse_strategy(request.strategy, machine), setting);
}

Choice choose(const Problem& problem, int runs, const Request& request, const Machine& machine) {
  const Strategy* strategy = parse_strategy(request.strategy, machine);
  check_settings(strategy, request.tuning);
  Wanted wanted = parse_device(request.device);
  if (request.device == name_of(DeviceKind::cuda) && has_cuda(machine))
    wanted.ordinal = ordinal_for(request, machine);
  return strategy ? choose_for(*strategy, problem, runs, request, wanted, machine)
                  : choose_freely(problem, runs, request, wanted, machine);
}

std::string gpu_pays_for_all(const std::vector<MaskJob>& masks, double bytes_in, double bytes_out,
                             const Request& request, const Machine& machine) {
  if (parse_strategy(request.strategy, machine) || parse_device(request.device).kind) return "";
  const int threads = threads_for(request, machine);
  double on_cpu = 0;
  for (const MaskJob& mask : masks)
    on_cpu += cpu_seconds(workload_of(mask.problem, family_for(mask.problem), mask.runs), threads,
                          cpu_rates(machine));
  const auto why_on = [&](const Gpu& gpu, const Machine& on) -> std::string {
    if (!gpu.profile) return "";
    const GpuRates& rates = *gpu.profile->gpu;
    double on_gpu = rates.context_seconds / request.pictures + bytes_in / rates.upload_rate +
                    bytes_out / rates.download_rate;
    for (const MaskJob& mask : masks) {
      const Cheapest found =
          cheapest(family_for(mask.problem), gpu.device, mask.problem, on, gpu.profile);
      if (!found.ms) return "";
      on_gpu += mask.runs * *found.ms / 1e3;
    }
    if (on_cpu <= on_gpu) return "";
    return "all masks together: " + told_cpu(on_cpu, threads) + ", " + in_words(on_gpu) +
           " on a GPU (by " + told(gpu) + ")";
  };
  Machine with_fft = machine;
  with_fft.fft_missing = [] { return std::string(); };
  if (why_on(likely_gpu(machine), with_fft).empty() || !has_cuda(machine)) return "";
  return why_on(gpu_at(ordinal_for(request, machine), machine), machine);
}

std::vector<int> shared_gpus(const Request& request, const Machine& machine) {
  const Wanted wanted = parse_device(request.device);
  const bool names_one =
      wanted.kind == DeviceKind::cuda && request.device != name_of(DeviceKind::cuda);
  if (names_one) return {wanted.ordinal};
  if (!request.ordinals.empty()) return request.ordinals;
  std::vector<int> shared;
  const std::vector<CudaDevice>& devices = machine.cuda().devices;
  for (const CudaDevice& device : devices)
    if (device.name == devices.front().name) shared.push_back(device.ordinal);
  return shared;
}

std::optional<int> gpu_of(const Request& request, const Machine& machine) {
  const std::optional<DeviceKind> kind = parse_device(request.device).kind;
  if ((kind && kind != DeviceKind::cuda) || !has_cuda(machine)) return std::nullopt;
  return ordinal_for(request, machine);
}

std::vector<std::string> strategy_names(const Machine& machine) {
  std::vector<std::string> names = {"auto"};
  for (const Strategy* strategy : machine.strategies) names.emplace_back(strategy->name);
  return names;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names = {"auto"};
  for (DeviceKind kind : kKinds) names.emplace_back(name_of(kind));
  names.push_back(std::string(name_of(DeviceKind::cuda)) + ":N");
  return names;
}

std::vector<std::string> devices_of(const Strategy& strategy) {
  std::vector<std::string> names;
  for (DeviceKind kind : kKinds)
    if (strategy.runs_on(kind)) names.emplace_back(name_of(kind));
  return names;
}

std::string never_takes(const Strategy& strategy, const Tuning& tuning, Depth depth) {
  constexpr int kProbeSide = 256;   // of a picture that every strategy takes
  constexpr int kSmoothSide = 101;  // of a mask smooth enough for coarse
  std::string reason;
  for (const int side : {3, 1, 5, kSmoothSide}) {
    Problem problem;
    problem.width = problem.height = kProbeSide;
    problem.depth = depth;
    problem.mask = gaussian_mask_of(side, side);
    const std::string refusal = strategy.refusal(problem, tuning);
    if (refusal.empty()) return "";
    if (reason.empty()) reason = refusal;
  }
  return reason;
}

std::vector<Depth> depths_of(const Strategy& strategy) {
  std::vector<Depth> depths;
  for (const Depth depth : kDepths)
    if (never_takes(strategy, {}, depth).empty()) depths.push_back(depth);
  return depths;
}

}  // namespace convfilt
