#include <chrono>
#include <filesystem>
#include <span>
#include <string>

#include "app/commands.hpp"
#include "src/auto/profiles.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/base/source_text.hpp"
#include "src/compare/tune.hpp"

namespace convfilt {
namespace {

/// The user's folder of profiles may not be there yet.
void make_folder_of(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(folder_of(path), error);
  if (error)
    throw IoError(printable_name(folder_of(path)) + ": cannot be made: " + error.message() +
                  "; add --output FILE");
}

/// Nothing where no GPU is wanted, or there is none and nobody asked for one.
const CudaDevice* gpu_of(const TuneCommand& command, const Machine& machine) {
  if (command.device == name_of(DeviceKind::cpu)) return nullptr;
  const Wanted wanted = wanted_device(command.device, machine);
  if (!wanted.kind && !has_cuda(machine)) return nullptr;
  return &machine.cuda().devices.at(std::size_t(wanted.ordinal));
}

}  // namespace

void run(const TuneCommand& command) {
  set_loudness(command.loudness);
  if (!command.output.empty() && command.output != "-") check_writable(command.output);
  const Machine machine = this_machine();
  Profile profile;
  const CudaDevice* device = nullptr;
  {
    ProgressLine line(command.loudness != Loudness::quiet);
    const Progress progress = [&](const std::string& what) { line.show("measuring " + what); };
    // The start of CUDA is measured by asking for the device for the first time.
    const auto start = std::chrono::steady_clock::now();
    device = gpu_of(command, machine);
    if (device) profile.gpu = measure_gpu(*device, start, machine, progress);
    profile.cpu = measure_cpu(machine, command.quick, progress);
    if (device)
      profile.curves = measure_curves(*device, machine, tune_grid(command.quick), progress);
  }
  const std::vector<Profile>& known = machine.profiles();
  const Profile* before =
      device ? profile_for(known, *device) : profile_for(known, profile.cpu.name);
  if (before) keep_other_kernels(profile, *before);
  const std::string json = to_json(profile);
  if (command.output == "-") return print_result(json);
  const std::string path =
      command.output.empty() ? users_profile_path(profile.name()) : command.output;
  if (command.output.empty()) make_folder_of(path);
  print_result(changes(before, profile, device, machine));
  write_file(path, std::span(reinterpret_cast<const unsigned char*>(json.data()), json.size()));
  log_note("wrote the profile of " + profile.name() + " to " + printable_name(path));
}

}  // namespace convfilt
