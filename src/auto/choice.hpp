/// Which strategy, on which device, and why.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend/devices.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/profiles.hpp"

namespace convfilt {

/// What a person asks for.
struct Request {
  std::string strategy = "auto";  ///< auto, or a name in the registry
  std::string device = "auto";    ///< auto, cpu, emulator, cuda or cuda:N
  int threads = 0;                ///< of the CPU; 0 = all cores
  Tuning tuning{};                ///< settings of the strategy named
  bool finite = true;             ///< whether all samples are, for family_for()
};

/// What there is to choose from. A test puts its own in.
struct Machine {
  std::span<const Strategy* const> strategies;
  int cores = 1;
  bool built_with_cuda = false;
  std::function<const CudaDevices&()> cuda;  ///< slow: asked only when the answer matters
  std::function<std::string()> fft_missing;  ///< why CUDA has no FFT here; empty where it has
  std::function<const std::vector<Profile>&()> profiles = known_profiles;  ///< reads files
};

/// The registry and this machine. It costs nothing, since CUDA is not asked.
Machine this_machine();

struct Choice {
  const Strategy* strategy = nullptr;
  DeviceKind device = DeviceKind::cpu;
  int ordinal = 0;     ///< CUDA only
  std::string why;     ///< half a sentence for -v
  std::string notice;  ///< to be told unless quiet; mostly empty
};

/// Throws UsageError, with the nearest name, where a strategy or device is misspelt, or a
/// setting is not the strategy's. Costs nothing.
void check_names(const Request& request, const Machine& machine);

/// Throws UsageError where the strategy asked for has no such setting.
void check_setting(const Request& request, Setting setting, const Machine& machine);

/// What a core of this machine takes, by the profile of its processor, else by the first profile.
CpuRates cpu_rates(const Machine& machine);

/// What --device says.
struct Wanted {
  std::optional<DeviceKind> kind;  ///< none = auto
  int ordinal = 0;                 ///< CUDA only
};

/// Takes --device apart. Throws UsageError where it is misspelt, DeviceError where it is a CUDA
/// device that is not there.
Wanted wanted_device(const std::string& device, const Machine& machine);

/// Whether there is a CUDA device. Slow in a build with CUDA.
bool has_cuda(const Machine& machine);

/// CPU threads that a request makes use of: those beyond the cores make nothing faster.
int useful_threads(int wanted, const Machine& machine);

/// Chooses for `runs` pictures of this problem's shape. The family comes from the problem alone
/// (with strategy auto), the device from estimate.hpp (with device auto), the strategy on a GPU
/// from cheapest.hpp. Throws UsageError where the strategy refuses the problem or does not run on
/// the device asked for, DeviceError where that is missing or too old for it.
Choice choose(const Problem& problem, int runs, const Request& request, const Machine& machine);

/// What --strategy and --device accept, for help and hints.
std::vector<std::string> strategy_names(const Machine& machine);
std::vector<std::string> device_names();

/// Names of the device kinds a strategy runs on.
std::vector<std::string> devices_of(const Strategy& strategy);

/// What `auto` takes on the CPU and in the emulator: the first of these that accepts the problem.
/// On CUDA it takes what cheapest() says. The CPU has one direct strategy; the emulator is for
/// lessons, so it takes the textbook's best tile. Transforms have a fixed order, since bytes may
/// differ by a rounding between them.
inline constexpr std::string_view kDirectOnCpu[] = {"cpu"};
inline constexpr std::string_view kDirectInEmulator[] = {"tiled-out", "cached", "basic"};
inline constexpr std::string_view kSeparable[] = {"separable"};
inline constexpr std::string_view kTransform[] = {"coarse", "overlap-save", "fft"};
inline constexpr std::string_view kTransformOnCpu[] = {"coarse", "fft", "overlap-save"};

/// Up to this many outputs the CPU goes by kTransformOnCpu, beyond by kTransform. At 50 million
/// outputs, one transform of the whole picture takes up to 1.4 times as long as blocks. At 77
/// thousand to 12.6 million it takes as little as half as long.
inline constexpr double kMostWholeOutputs = 1 << 24;

}  // namespace convfilt
