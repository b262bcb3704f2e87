/// Which profiles there are, and which of them speaks for a device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/auto/profile.hpp"

namespace convfilt {

/// The user's profiles, the newest first; then those shipped with the program: beside the installed
/// filters, else as they were when the program was built. Where CONVFILT_PROFILES names a folder,
/// those in it alone. Read once. A broken file is warned of and
/// left out. Throws UsageError where CONVFILT_PROFILES names no folder.
const std::vector<Profile>& known_profiles();

/// Those in a folder: the user's with the newest file first, so that what was measured last speaks;
/// others by file name. A broken file is warned of and left out.
std::vector<Profile> profiles_in(const std::string& folder, Origin origin);

/// Why known_profiles() would not read a profile at that path, since CONVFILT_PROFILES names
/// another folder; empty where it would, or where that is not set.
std::string unread_because(const std::string& path);

/// Where `tune` writes the profile of a device or processor of that name: in
/// $XDG_CACHE_HOME/convfilt/profiles, or below ~/.cache. Throws UsageError where there is no such
/// place.
std::string users_profile_path(const std::string& name);

/// The profile for a GPU: one of its name, else the nearest. That goes by the first number of the
/// compute capability, then by the rate of the memory, then by the second number, which are all
/// known without measuring. The first of equals is taken. Null where no profile has a GPU.
const Profile* profile_for(std::span<const Profile> profiles, const CudaDevice& device);

/// The profile for a processor: one of its name, else the first. Null where there is none.
const Profile* profile_for(std::span<const Profile> profiles, const std::string& processor);

/// The profile of the GPU that is most likely here as long as nobody asked the driver: the first
/// that has one. Null where none has.
const Profile* likely_profile(std::span<const Profile> profiles);

/// A device as its profile knows it.
CudaDevice device_of(const GpuRates& rates);

/// "your profile of NVIDIA H200", or "the shipped profile of NVIDIA H200, the nearest to this
/// NVIDIA A100 (compute capability 9.0 for 8.0, memory of 4.1 for 2.0 TB/s)". Where another version
/// of the program measured it, that is said, too.
std::string told(const Profile& profile, const CudaDevice& device);

}  // namespace convfilt
