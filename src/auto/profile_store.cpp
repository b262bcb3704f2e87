#include "src/auto/profile_store.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/base/users_folder.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

void append(std::vector<Profile>& profiles, std::vector<Profile> more) {
  std::move(more.begin(), more.end(), std::back_inserter(profiles));
}

/// Empty if the environment has no place for the user's files.
std::string users_profiles() {
  const std::string cache = users_folder("XDG_CACHE_HOME", ".cache");
  return cache.empty() ? "" : cache + "/convfilt/profiles";
}

std::vector<Profile> shipped_profiles() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = program.parent_path() / CONVFILT_PROFILES_FROM_PROGRAM;
  if (!error && fs::is_directory(folder, error)) return profiles_in(folder, Origin::shipped);
  std::vector<Profile> profiles;
  for (const auto& [name, json] : kShippedProfiles)
    profiles.push_back(parse_profile(json, std::string(name)));
  return profiles;
}

std::vector<Profile> find_profiles() {
  if (const char* named = std::getenv("CONVFILT_PROFILES"); named && *named) {
    std::error_code error;
    if (!fs::is_directory(named, error))
      throw UsageError("CONVFILT_PROFILES: '" + printable_name(named) +
                       "' is not a folder; name a folder with profiles, or unset it");
    return profiles_in(named, Origin::named);
  }
  std::vector<Profile> profiles;
  if (const std::string users = users_profiles(); !users.empty())
    profiles = profiles_in(users, Origin::users);
  append(profiles, shipped_profiles());
  return profiles;
}

/// The faster memory's rate over the slower one's, of profile and device; 1 if the device's rate is
/// unknown.
double memory_ratio(const GpuRates& gpu, const CudaDevice& device) {
  if (device.memory_rate <= 0) return 1;
  const double ratio = gpu.copy_rate / device.memory_rate;
  return std::max(ratio, 1 / ratio);
}

std::string capability(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

const std::vector<Profile>& known_profiles() {
  static const auto& known = *new const std::vector<Profile>(find_profiles());
  return known;
}

std::vector<Profile> profiles_in(const std::string& folder, Origin origin) {
  std::vector<std::pair<fs::file_time_type, std::string>> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".json") continue;
    std::error_code gone;
    const fs::file_time_type time = entry->last_write_time(gone);
    files.emplace_back(gone ? fs::file_time_type::min() : time, entry->path().string());
  }
  std::sort(files.begin(), files.end(), [&](const auto& one, const auto& other) {
    if (origin == Origin::users && one.first != other.first) return one.first > other.first;
    return one.second < other.second;
  });
  std::vector<Profile> profiles;
  for (const auto& [time, path] : files) {
    try {
      profiles.push_back(load_profile(path));
      profiles.back().origin = origin;
    } catch (const IoError& broken) {
      log_warning(broken.what());
    }
  }
  return profiles;
}

std::string unread_because(const std::string& path) {
  const char* named = std::getenv("CONVFILT_PROFILES");
  std::error_code error;
  if (!named || !*named || fs::equivalent(named, folder_of(path), error)) return "";
  return "CONVFILT_PROFILES names " + printable_name(named) + ", so " + printable_name(path) +
         " is not read; unset it, or add --output " + printable_name(named) + "/FILE.json";
}

std::string users_profile_path(const std::string& name) {
  const std::string folder = users_profiles();
  if (folder.empty())
    throw UsageError(
        "neither XDG_CACHE_HOME nor HOME names a folder for the profile; add --output FILE");
  std::string file;
  for (const unsigned char c : name) {
    if (std::isalnum(c)) {
      file += char(std::tolower(c));
    } else if (!file.empty() && file.back() != '-') {
      file += '-';
    }
  }
  while (file.ends_with('-')) file.pop_back();
  return folder + "/" + (file.empty() ? "profile" : file) + ".json";
}

const Profile* profile_for(std::span<const Profile> profiles, const CudaDevice& device) {
  const auto distance = [&](const GpuRates& gpu) {
    return std::tuple(gpu.name != device.name, std::abs(gpu.major - device.major),
                      memory_ratio(gpu, device), std::abs(gpu.minor - device.minor));
  };
  const Profile* nearest = nullptr;
  for (const Profile& profile : profiles)
    if (profile.gpu && (!nearest || distance(*profile.gpu) < distance(*nearest->gpu)))
      nearest = &profile;
  return nearest;
}

const Profile* profile_for(std::span<const Profile> profiles, const std::string& processor) {
  for (const Profile& profile : profiles)
    if (profile.cpu.name == processor) return &profile;
  return profiles.empty() ? nullptr : &profiles.front();
}

const Profile* likely_profile(std::span<const Profile> profiles) {
  for (const Profile& profile : profiles)
    if (profile.gpu) return &profile;
  return nullptr;
}

CudaDevice device_of(const GpuRates& rates) {
  CudaDevice device;
  device.name = rates.name;
  device.major = rates.major;
  device.minor = rates.minor;
  device.multiprocessors = rates.multiprocessors;
  return device;
}

std::string told(const Profile& profile, const CudaDevice& device) {
  std::string text = profile.origin == Origin::users ? "your profile of " : "the profile of ";
  if (profile.origin == Origin::shipped) text = "the shipped profile of ";
  text += profile.name();
  if (profile.origin == Origin::named) text += " in CONVFILT_PROFILES";
  if (profile.gpu && profile.gpu->name != device.name) {
    text += ", the nearest to this " + device.name + " (compute capability " +
            capability(profile.gpu->major, profile.gpu->minor) + " for " +
            capability(device.major, device.minor);
    if (device.memory_rate > 0)
      text += with_format(", memory of %.1f for %.1f TB/s", profile.gpu->copy_rate / 1e12,
                          device.memory_rate / 1e12);
    text += ")";
  }
  if (profile.origin == Origin::shipped || profile.version == CONVFILT_VERSION) return text;
  return text + (profile.version.empty() ? ", measured by a version that it does not name"
                                         : ", measured by version " + profile.version);
}

}  // namespace convfilt
