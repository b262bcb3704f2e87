#include "src/picture/modules.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

struct Module {
  std::string name;
  std::mutex mutex;
  const CodecModule* loaded = nullptr;
};

Module opencv{.name = "opencv", .mutex = {}};
Module gif{.name = "gif", .mutex = {}};
Module heif{.name = "heif", .mutex = {}};
Module jxl{.name = "jxl", .mutex = {}};

const Codec& module_codec(Module& module, FormatId format) {
  const std::scoped_lock lock(module.mutex);
  try {
    if (!module.loaded) module.loaded = &load_module(modules_folder(), module.name);
  } catch (const IoError& error) {
    throw IoError("no codec for " + std::string(name_of(format)) + ": " + error.what());
  }
  const Codec* codec = module.loaded->codec(format);
  if (!codec) {
    throw IoError("no codec for " + std::string(name_of(format)) + ": the module " + module.name +
                  " has none");
  }
  return *codec;
}

}  // namespace

const CodecModule& load_module(const std::string& folder, const std::string& name) {
  const std::string package = "convfilt-" + name;
  // CMake says which modules it found libraries for.
  const std::string built = std::string(" ") + CONVFILT_MODULES_BUILT + " ";
  const std::string remedy = built.find(" " + name + " ") != built.npos
                                 ? "install the package " + package
                                 : "install the package " + package +
                                       ", or, where you built this program, lib" + name +
                                       "-dev, and build again";
  const fs::path path = fs::path(folder) / ("libconvfilt_" + name + ".so");
  const std::string shown = "'" + printable_name(path.string()) + "'";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw IoError("there is no " + shown + "; " + remedy);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* error = dlerror();
    throw IoError("cannot load " + shown + " (" + printable_name(error ? error : "") + "); " +
                  remedy);
  }
  const auto entry = reinterpret_cast<const CodecModule* (*)()>(dlsym(library, kModuleEntry));
  const CodecModule* module = entry ? entry() : nullptr;
  if (module && module->interface == kModuleInterface) return *module;
  dlclose(library);
  throw IoError(shown +
                (entry ? " belongs to another version of convfilt" : " is no module of convfilt") +
                "; install the packages convfilt and " + package + " of one version");
}

std::string installed_modules_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / CONVFILT_MODULES_FROM_PROGRAM).lexically_normal().string();
}

std::string modules_folder() {
  const char* named = std::getenv("CONVFILT_MODULES");
  return named != nullptr && *named != '\0' ? named : installed_modules_folder();
}

const Codec& codec_for(FormatId format, Loader loader) {
  switch (format) {
    case FormatId::gif: return module_codec(gif, format);
    case FormatId::heic:
    case FormatId::avif: return module_codec(heif, format);
    case FormatId::jxl: return module_codec(jxl, format);
    default: break;
  }
  if (loader == Loader::opencv) return module_codec(opencv, format);
  switch (format) {
    case FormatId::jpeg: return kJpegCodec;
    case FormatId::png: return kPngCodec;
    case FormatId::tiff: return kTiffCodec;
    case FormatId::webp: return kWebpCodec;
    case FormatId::pnm:
    case FormatId::pam:
    case FormatId::pfm: return kPnmCodec;
    default: return module_codec(opencv, format);
  }
}

}  // namespace convfilt
