/// The choice of strategy and device, with its reason.
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
  bool finite = true;             ///< whether all samples are, for family_for()
  int pictures = 1;               ///< of the folder, which share a GPU's start and all cores
  int lane = 0;                   ///< which of those that share the CUDA devices among them
  std::vector<int> ordinals{};    ///< CUDA devices to share, where `device` names none; none = all
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

/// Chooses for `runs` pictures of this problem's shape. The family comes from the problem alone
/// (with strategy auto), the device from estimate.hpp (with device auto), the strategy on a GPU
/// from cheapest.hpp, elsewhere from order.hpp. Throws UsageError if the strategy refuses the
/// problem or does not run on the requested device, DeviceError if the device is missing or too
/// old.
Choice choose(const Problem& problem, int runs, const Request& request, const Machine& machine);

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

/// Why the strategy takes no problem of that depth at all with these settings; empty where it takes
/// some.
std::string never_takes(const Strategy& strategy, const Tuning& tuning = {},
                        Depth depth = Depth::u8);

/// The depths of pictures that the strategy takes, under a small mask or a smooth one.
std::vector<Depth> depths_of(const Strategy& strategy);

}  // namespace convfilt
