/// The choice of strategy and device, with its reason.
///
/// When a GPU pays is estimated by one formula with the rates of a profile. Nothing is measured at
/// run time, so the same command always makes the same choice.
///
///   cpu  = (samples, multiply_adds and transformed, each times the cost of one) / threads
///   cuda = context + upload + kernels + download
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/machine.hpp"

namespace convfilt {

/// The user's request.
struct Request {
  std::string strategy = "auto";  ///< auto, or a name in the registry
  std::string device = "auto";    ///< auto, cpu, emulator, cuda or cuda:N
  int threads = 0;                ///< CPU threads; 0 = all cores
  Tuning tuning{};                ///< settings of the strategy named
  int pictures = 1;               ///< of the folder, which share a GPU's start and all cores
  int lane = 0;                   ///< which of those that share the CUDA devices among them
  std::vector<int> ordinals{};    ///< CUDA devices to share, where `device` names none; none = all
  std::string why{};              ///< why `device`, where the user has not asked for it
};

struct Choice {
  const Strategy* strategy = nullptr;
  DeviceKind device = DeviceKind::cpu;
  int ordinal = 0;     ///< CUDA only
  std::string why;     ///< half a sentence for -v
  std::string notice;  ///< to be told unless quiet; mostly empty
};

/// Throws UsageError, with the nearest name, for a misspelt strategy or device, or for a setting
/// that the strategy does not have. Takes no time.
void check_names(const Request& request, const Machine& machine);

/// Throws UsageError if the requested strategy does not have the setting.
void check_setting(const Request& request, Setting setting, const Machine& machine);

/// The meaning of --device.
struct Wanted {
  std::optional<DeviceKind> kind;  ///< none = auto
  int ordinal = 0;                 ///< CUDA only
};

/// Parses --device. Throws UsageError if it is misspelt, DeviceError for a CUDA device that is
/// missing.
Wanted wanted_device(const std::string& device, const Machine& machine);

/// Chooses for `runs` pictures of this problem's shape. With strategy auto the family comes from
/// the problem alone, and the strategy from cheapest() on a GPU and from first_in_order()
/// elsewhere. With device auto the device comes from the estimate. Throws UsageError if the
/// strategy refuses the problem or does not run on the requested device, DeviceError if the device
/// is missing or too old.
Choice choose(const Problem& problem, int runs, const Request& request, const Machine& machine);

/// A mask of a filter that has several, and how many pictures of the problem's shape it filters.
struct MaskJob {
  Problem problem;
  int runs = 1;
};

/// Why a GPU takes less time than the CPU for all masks of a filter together, half a sentence for
/// -v: a picture goes there once and comes back once, so many bytes each way, and what lies between
/// two masks stays there. Empty where it does not, or the user named a strategy or a device.
std::string gpu_pays_for_all(const std::vector<MaskJob>& masks, double bytes_in, double bytes_out,
                             const Request& request, const Machine& machine);

/// The CUDA devices that the lanes of such requests take in turn. If the request names none, these
/// are the machine's first device and those of the same model; with other models, a picture's
/// strategy would depend on its lane.
std::vector<int> shared_gpus(const Request& request, const Machine& machine);

/// The device of the request's lane. None if the request names another kind of device, or if there
/// is none.
std::optional<int> gpu_of(const Request& request, const Machine& machine);

/// The words of --strategy and --device, for help and hints.
std::vector<std::string> strategy_names(const Machine& machine);
std::vector<std::string> device_names();

/// Names of the device kinds a strategy runs on.
std::vector<std::string> devices_of(const Strategy& strategy);

/// The work of a job, on any machine.
struct Workload {
  Depth depth = Depth::u8;  ///< the depth of the arithmetic
  double samples = 0;
  double multiply_adds = 0;  ///< those done tap by tap
  double transformed = 0;    ///< samples that take a transform's time instead
  double bytes = 0;          ///< the pictures' going in; as many come out
};

/// The work of filtering `runs` pictures of this problem's shape. In the separable family a sample
/// takes width + height multiply-adds for each term of the mask, in the direct family width *
/// height. The transform family computes in floats at any depth, and counts a transform if that is
/// less work.
Workload workload_of(const Problem& problem, Family family, int runs = 1);

/// Estimated seconds on `threads` cores (at least 1), pixels in host memory before and after.
double cpu_seconds(const Workload& work, int threads, const CpuRates& rates);

/// Estimated seconds on a GPU whose kernels take `kernel_seconds`, in a process that has not used
/// CUDA yet. `pictures` such works share its start.
double cuda_seconds(const Workload& work, int pictures, const GpuRates& rates,
                    double kernel_seconds);

/// Estimated seconds in the emulator on `threads` cores.
double emulator_seconds(const Workload& work, int threads);

struct Cheapest {
  const Strategy* strategy = nullptr;  ///< null where no strategy of the family runs there
  std::optional<double> ms;            ///< its kernels' time, where the profile knows
};

/// Direct and separable strategies of a family give the same bytes, so the profile's fastest is
/// taken. Transforms may differ by a rounding, so the first in an order is taken that depends
/// on the problem alone; without cuFFT, the first that does not need it, if there is
/// one. Without a profile, or if it knows no strategy for the problem, the strategy that needs the
/// newest device is taken, and of these the last in the registry.
Cheapest cheapest(Family family, const CudaDevice& device, const Problem& problem,
                  const Machine& machine, const Profile* profile);

/// The first strategy of the family, in a fixed order that needs no profile, that runs on such a
/// device and takes the problem; else null.
const Strategy* first_in_order(Family family, DeviceKind kind, const Problem& problem,
                               const Machine& machine);

/// Why the strategy takes no problem of that depth at all with these settings; empty where it takes
/// some.
std::string never_takes(const Strategy& strategy, const Tuning& tuning = {},
                        Depth depth = Depth::u8);

/// The depths of pictures that the strategy takes, under a small mask or a smooth one.
std::vector<Depth> depths_of(const Strategy& strategy);

}  // namespace convfilt
