#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/lab/commands.hpp"
#include "kernels/cpu/peak.hpp"
#include "src/auto/profile_store.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/base/terminal.hpp"
#include "src/lab/tune/tune.hpp"

namespace convfilt {
namespace {

/// The GPU to measure; null where none is wanted, or there is none and nobody asked for one.
const CudaDevice* gpu_of(const TuneCommand& command, const Machine& machine) {
  if (command.device == name_of(DeviceKind::cpu)) return nullptr;
  const Wanted wanted = wanted_device(command.device, machine);
  if (!wanted.kind && !has_cuda(machine)) return nullptr;
  return &machine.cuda().devices.at(std::size_t(wanted.ordinal));
}

/// Where the profile goes. Throws before minutes are spent if it could not be written. Makes the
/// user's folder of profiles where it is not there yet.
std::string place_for(const TuneCommand& command, const CudaDevice* device) {
  if (command.output == "-") return "-";
  std::string path = command.output;
  if (path.empty()) {
    path = users_profile_path(device ? device->name : cpu::name());
    const std::string folder = folder_of(path);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      throw IoError(printable_name(folder) + ": cannot be made: " + error.message() +
                    "; add --output FILE");
  }
  check_writable(path);
  return path;
}

}  // namespace

void TuneCommand::run() {
  const Machine machine = this_machine();
  // Read before minutes are spent: CONVFILT_PROFILES may name no folder.
  const std::vector<Profile>& known = machine.profiles();
  Profile profile;
  profile.version = CONVFILT_VERSION;
  const CudaDevice* device = nullptr;
  std::string path, left_out;
  {
    ProgressLine line(loudness != Loudness::quiet);
    const Progress progress = [&](const std::string& what) { line.show("measuring " + what); };
    // The start of CUDA is measured by asking for the device for the first time.
    const auto start = std::chrono::steady_clock::now();
    device = gpu_of(*this, machine);
    path = place_for(*this, device);
    if (path != "-")
      if (const std::string why = unread_because(path); !why.empty()) log_warning(why);
    if (device) profile.gpu = measure_gpu(*device, start, machine, progress);
    profile.cpu = measure_cpu(machine, quick, progress);
    if (device) {
      MeasuredCurves measured = measure_curves(*device, machine, tune_grid(quick), progress);
      left_out = told_left_out(measured);
      profile.curves = std::move(measured.curves);
    }
  }
  if (!left_out.empty()) log_note(left_out);
  const Profile* before =
      device ? profile_for(known, *device) : profile_for(known, profile.cpu.name);
  if (before) keep_other_kernels(profile, *before);
  const std::string json = to_json(profile);
  write_result(path, json);
  if (path == "-") return;
  log_note("wrote the profile of " + profile.name() + " to " + printable_name(path));
  print_text(changes(before, profile, device, machine));
}

}  // namespace convfilt
