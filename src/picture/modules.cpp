#include "src/picture/modules.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// Debian 13's libjxl and x265 write to stderr, and OpenCV to std::cerr, what they then return, or
/// what does not matter. From the first call on they find streams there that go nowhere. The
/// program's own messages keep the stream that they began with.
void quiet_errors() {
  static std::FILE* const nowhere = std::fopen("/dev/null", "we");
  std::cerr.rdbuf(nullptr);
  // Not every C library lets its stream be exchanged.
  [](auto& stream) {
    if constexpr (std::is_assignable_v<decltype(stream), std::FILE*>)
      if (nowhere) stream = nowhere;
  }(stderr);
}

/// The codec of libconvfilt_NAME.so, which stays loaded.
const Codec& module_codec(const std::string& name, FormatId format) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, const CodecModule*>;
  const std::scoped_lock lock(mutex);
  const CodecModule*& module = loaded[name];
  try {
    if (!module) module = &load_module(modules_folder(), name);
  } catch (const IoError& error) {
    throw IoError("no codec for " + std::string(name_of(format)) + ": " + error.what());
  }
  return module->codec;
}

/// The codec of a format that needs no module.
const Codec& own_codec(FormatId format) {
  switch (format) {
    case FormatId::jpeg: return kJpegCodec;
    case FormatId::png: return kPngCodec;
    case FormatId::tiff: return kTiffCodec;
    case FormatId::webp: return kWebpCodec;
    default: return kPnmCodec;
  }
}

/// OpenCV's reader of a format that the program has a codec for. That codec opens the file first:
/// it checks the header and the size, says how the picture is turned, and reports what it leaves
/// out. The rows come from OpenCV, so damage to them is found only as far as OpenCV finds it.
class WitnessReader : public RowReader {
 public:
  WitnessReader(ByteSource& source, ReadContext& context) {
    constexpr std::int64_t kOfSample = 3, kOfPixel = 12;  // bytes that OpenCV takes, at the most
    const FormatId format = format_of(source, context.name());
    const Header told = own_codec(format).open(source, context)->header();
    const std::int64_t bytes =
        std::max(kOfSample * bytes_of(told), kOfPixel * std::int64_t{told.width} * told.height) +
        std::int64_t(source.size());
    context.check_plausible(told, std::uint64_t(bytes), source.size());
    context.admit(bytes);
    reader_ = module_codec("opencv", format).open(source, context);
    header_ = reader_->header();
    header_.orientation = told.orientation;
    if (!told.metadata.empty())
      context.warn("OpenCV reads none of its metadata; leave out --loader=opencv to keep them");
  }

  void read(PictureView<std::byte> rows) override { reader_->read(rows); }
  std::int64_t held_bytes() const override { return reader_->held_bytes(); }

 private:
  std::unique_ptr<RowReader> reader_;
};

constexpr Codec kWitness{
    open_with<WitnessReader>,
    [](ByteSink& sink, const Header& header, const WriteOptions& options) {
      return module_codec("opencv", header.format).create(sink, header, options);
    }};

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
  const std::string shown = quoted_name(path.string());
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
  if (module && module->interface == kModuleInterface) {
    quiet_errors();
    if (module->parallel_for) *module->parallel_for = cpu::parallel_for;
    return *module;
  }
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
  const std::string module(format_of(format).module);
  if (!module.empty()) return module_codec(module, format);
  return loader == Loader::opencv ? kWitness : own_codec(format);
}

}  // namespace convfilt
