/// Codecs in shared libraries, which are loaded when a picture needs them.
///
/// A module is compiled with this header and exports module_of_convfilt(). It shares C++ objects
/// with the program, so both must come from one release.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/backend/host/parallel.hpp"
#include "src/picture/codec.hpp"

namespace convfilt {

/// Changes with everything that program and modules share. The sizes catch changes for which the
/// number was not raised.
inline constexpr std::uint32_t kModuleInterface =
    7u << 24 ^
    std::uint32_t(sizeof(Header) << 12 ^ sizeof(WriteOptions) << 6 ^ sizeof(ReadContext));

/// A module's export.
struct CodecModule {
  std::uint32_t interface;  ///< kModuleInterface of the module
  Codec codec;
  /// Where the module wants the program's parallel_for(), for loops on the program's threads.
  decltype(&cpu::parallel_for)* parallel_for = nullptr;
};

/// The name of the exported function, which takes nothing and gives a const CodecModule*.
inline constexpr char kModuleEntry[] = "module_of_convfilt";

/// Loads libconvfilt_NAME.so of a folder; it stays loaded. If it is missing or of another version,
/// throws an IoError that names its package.
const CodecModule& load_module(const std::string& folder, const std::string& name);

/// The folder of the installed program's modules.
std::string installed_modules_folder();

/// The folder of modules: the one that CONVFILT_MODULES names, else the installed one.
std::string modules_folder();

}  // namespace convfilt

/// Each module defines it; the program finds it by kModuleEntry.
extern "C" [[gnu::visibility("default")]] const convfilt::CodecModule* module_of_convfilt();
