/// Codecs that lie in shared libraries of their own, which are loaded when a picture asks for them.
///
/// A module is compiled with this header and exports module_of_convfilt(). What it shares with the
/// program are C++ objects, so both must come from one release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/picture/codec.hpp"

namespace convfilt {

/// Grows with each change of what program and modules share; the sizes tell of some that nobody
/// counted.
inline constexpr std::uint32_t kModuleInterface =
    5u << 24 ^
    std::uint32_t(sizeof(Header) << 12 ^ sizeof(WriteOptions) << 6 ^ sizeof(ReadContext));

/// What a module exports.
struct CodecModule {
  std::uint32_t interface;  ///< kModuleInterface of the module
  Codec codec;
};

/// The name of the exported function, which takes nothing and gives a const CodecModule*.
inline constexpr char kModuleEntry[] = "module_of_convfilt";

/// Loads libconvfilt_NAME.so of a folder; it stays loaded. Throws IoError that says what brings it
/// when it is missing, or of another version.
const CodecModule& load_module(const std::string& folder, const std::string& name);

/// The folder of the installed program's modules.
std::string installed_modules_folder();

/// Where modules are looked for: the folder that CONVFILT_MODULES names, else the installed one.
std::string modules_folder();

}  // namespace convfilt

/// Each module defines it; the program finds it by kModuleEntry.
extern "C" [[gnu::visibility("default")]] const convfilt::CodecModule* module_of_convfilt();
