/// Which strategy, on which device, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/machine.hpp"

namespace convfilt {

/// What a person asks for.
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

/// Throws UsageError, with the nearest name, where a strategy or device is misspelt, or a
/// setting is not the strategy's. Costs nothing.
void check_names(const Request& request, const Machine& machine);

/// Throws UsageError where the strategy asked for has no such setting.
void check_setting(const Request& request, Setting setting, const Machine& machine);

/// What --device says.
struct Wanted {
  std::optional<DeviceKind> kind;  ///< none = auto
  int ordinal = 0;                 ///< CUDA only
};

/// Takes --device apart. Throws UsageError where it is misspelt, DeviceError where it is a CUDA
/// device that is not there.
Wanted wanted_device(const std::string& device, const Machine& machine);

/// Chooses for `runs` pictures of this problem's shape. The family comes from the problem alone
/// (with strategy auto), the device from estimate.hpp (with device auto), the strategy on a GPU
/// from cheapest.hpp, elsewhere from order.hpp. Throws UsageError where the strategy refuses the
/// problem or does not run on the device asked for, DeviceError where that is missing or too old
/// for it.
Choice choose(const Problem& problem, int runs, const Request& request, const Machine& machine);

/// The CUDA devices that the lanes of such requests take in turn. Where the request names none,
/// these are the machine's first and its like, since with others it would depend on the lane what
/// a picture gets.
std::vector<int> shared_gpus(const Request& request, const Machine& machine);

/// The one that the request's lane takes for pictures that take one. None where another kind of
/// device was asked for, or where there is none.
std::optional<int> gpu_of(const Request& request, const Machine& machine);

/// What --strategy and --device accept, for help and hints.
std::vector<std::string> strategy_names(const Machine& machine);
std::vector<std::string> device_names();

/// Names of the device kinds a strategy runs on.
std::vector<std::string> devices_of(const Strategy& strategy);

}  // namespace convfilt
