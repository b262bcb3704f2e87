#include "src/lab/compare/device_limits.hpp"

#include <algorithm>
#include <thread>

#include "kernels/backend/devices.hpp"
#include "kernels/cpu/peak.hpp"
#include "src/lab/compare/quartiles.hpp"

namespace convfilt {
namespace {

constexpr int kMostCopies = 21;
constexpr double kCopyBudgetMs = 500;

}  // namespace

std::string name_of(const Location& location) {
  std::string name(name_of(location.kind));
  return location.kind == DeviceKind::cuda ? name + ":" + std::to_string(location.ordinal) : name;
}

const Peak& DeviceLimits::peak(const Location& location) {
  const auto known = peaks_.find(location);
  if (known != peaks_.end()) return known->second;
  Peak peak;
  if (location.kind == DeviceKind::cuda) {
    const CudaDevice& device = cuda_devices().devices.at(std::size_t(location.ordinal));
    peak = {device.name, 0, fp32_peak(device)};
  } else {
    const int cores = std::max(1, int(std::thread::hardware_concurrency()));
    peak = {cpu::name(), threads_ > 0 ? threads_ : cores, 0};
    if (location.kind == DeviceKind::cpu) peak.fp32 = cpu::measure_fp32_peak(threads_);
  }
  return peaks_.emplace(location, peak).first->second;
}

double DeviceLimits::copy_ms(const Location& location, std::size_t bytes) {
  if (location.kind == DeviceKind::emulator) return 0;
  const auto known = copies_.find({location, bytes});
  if (known != copies_.end()) return known->second;
  const std::vector<double> ms = times_within(kCopyBudgetMs, kMostCopies, [&](int runs) {
    return location.kind == DeviceKind::cuda ? time_device_copy(bytes, runs, location.ordinal)
                                             : cpu::time_copy(bytes, threads_, runs);
  });
  return copies_.emplace(std::pair{location, bytes}, quartiles_of(ms).median).first->second;
}

}  // namespace convfilt
