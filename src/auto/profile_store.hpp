/// The known profiles, and the one that is used for a device.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/auto/profile.hpp"

namespace convfilt {

/// The user's profiles, the newest first; then the shipped profiles: beside the installed filters,
/// else those built into the program. If CONVFILT_PROFILES names a folder, only the profiles there.
/// They are read once. A broken file is skipped with a warning. Throws UsageError if
/// CONVFILT_PROFILES is set and is no folder.
const std::vector<Profile>& known_profiles();

/// Name and JSON of each shipped profile, for a program without its share folder. CMake writes the
/// file with them.
extern const std::span<const std::pair<std::string_view, std::string_view>> kShippedProfiles;

/// The profiles in a folder: the user's by age, so that the last measurement comes first; others by
/// file name. A broken file is skipped with a warning.
std::vector<Profile> profiles_in(const std::string& folder, Origin origin);

/// Empty if known_profiles() reads a profile at that path; else the reason: CONVFILT_PROFILES names
/// another folder.
std::string unread_because(const std::string& path);

/// The path where `tune` writes the profile of a device or processor of that name: in
/// $XDG_CACHE_HOME/convfilt/profiles, or below ~/.cache. Throws UsageError if there is neither.
std::string users_profile_path(const std::string& name);

/// The profile for a GPU: one of its name, else the nearest, by the first number of the compute
/// capability, then the rate of the memory, then the second number. All are known without
/// measuring. The first of equals is taken. Null if no profile has a GPU.
const Profile* profile_for(std::span<const Profile> profiles, const CudaDevice& device);

/// The profile for a processor: one of its name, else the first. Null if there is none.
const Profile* profile_for(std::span<const Profile> profiles, const std::string& processor);

/// The first profile that has a GPU: the best guess before the driver is asked. Null if none has.
const Profile* likely_profile(std::span<const Profile> profiles);

/// A device as its profile knows it.
CudaDevice device_of(const GpuRates& rates);

/// "your profile of NVIDIA H200", or "the shipped profile of NVIDIA H200, the nearest to this
/// NVIDIA A100 (compute capability 9.0 for 8.0, memory of 4.1 for 2.0 TB/s)". If another version of
/// the program measured it, the text says so.
std::string told(const Profile& profile, const CudaDevice& device);

}  // namespace convfilt
