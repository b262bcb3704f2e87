#include "src/picture/codecs/jpeg/device.hpp"

#include <utility>

#include "kernels/strategy.hpp"

namespace convfilt {

class DeviceJpeg::State {
 public:
  virtual ~State() = default;
  virtual std::vector<bool> decode(std::span<const Input> inputs, void* stream) = 0;
  virtual std::vector<std::vector<unsigned char>> encode(std::span<const Output> outputs,
                                                         void* stream) = 0;
  virtual void release() = 0;
};

DeviceJpeg::~DeviceJpeg() = default;

std::vector<bool> DeviceJpeg::decode(std::span<const Input> inputs, void* stream) {
  return state_->decode(inputs, stream);
}

std::vector<std::vector<unsigned char>> DeviceJpeg::encode(std::span<const Output> outputs,
                                                           void* stream) {
  return state_->encode(outputs, stream);
}

void DeviceJpeg::release() {
  state_->release();
}

bool DeviceJpeg::has(Subsampling subsampling) {
  const auto is_one_or_two = [](int factor) { return factor == 1 || factor == 2; };
  return is_one_or_two(subsampling.across) && is_one_or_two(subsampling.down);
}

}  // namespace convfilt

#ifdef CONVFILT_HAS_NVIMGCODEC
#include <dlfcn.h>
#include <nvimgcodec.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <set>
#include <type_traits>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/device_pools.hpp"
#include "kernels/backend/device_queue.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// The library's functions: our name for each, and the library's.
#define CONVFILT_FUNCTIONS(USE)                             \
  USE(get_properties, nvimgcodecGetProperties)              \
  USE(create_instance, nvimgcodecInstanceCreate)            \
  USE(create_extension, nvimgcodecExtensionCreate)          \
  USE(wait, nvimgcodecFutureWaitForAll)                     \
  USE(get_status, nvimgcodecFutureGetProcessingStatus)      \
  USE(destroy_future, nvimgcodecFutureDestroy)              \
  USE(create_image, nvimgcodecImageCreate)                  \
  USE(destroy_image, nvimgcodecImageDestroy)                \
  USE(create_source, nvimgcodecCodeStreamCreateFromHostMem) \
  USE(create_sink, nvimgcodecCodeStreamCreateToHostMem)     \
  USE(destroy_stream, nvimgcodecCodeStreamDestroy)          \
  USE(create_decoder, nvimgcodecDecoderCreate)              \
  USE(destroy_decoder, nvimgcodecDecoderDestroy)            \
  USE(decode, nvimgcodecDecoderDecode)                      \
  USE(create_encoder, nvimgcodecEncoderCreate)              \
  USE(destroy_encoder, nvimgcodecEncoderDestroy)            \
  USE(encode, nvimgcodecEncoderEncode)

struct Functions {
#define CONVFILT_DECLARE(name, function) decltype(&function) name;
  CONVFILT_FUNCTIONS(CONVFILT_DECLARE)
#undef CONVFILT_DECLARE
};

/// A structure of the library, which begins with its type and its size.
template <class Structure>
Structure structure(nvimgcodecStructureType_t type) {
  Structure made{};
  made.struct_type = type;
  made.struct_size = sizeof(Structure);
  return made;
}

constexpr const char* kRemedy =
    "install it (PyPI nvidia-nvimgcodec-cu13 and nvidia-nvjpeg, or NVIDIA's packages) and let "
    "CONVFILT_NVIMGCODEC name its folder, or use --codec=cpu";

/// The library, loaded once and never unloaded, since its threads outlive their owners.
class Library {
 public:
  static const Library& get() {
    static const auto& library = *new const Library;
    return library;
  }

  Functions call{};
  nvimgcodecInstance_t instance = nullptr;
  std::string missing, version;

 private:
  nvimgcodecExtensionDesc_t codecs_ =
      structure<nvimgcodecExtensionDesc_t>(NVIMGCODEC_STRUCTURE_TYPE_EXTENSION_DESC);
  nvimgcodecExtension_t extension_ = nullptr;

  Library() {
    void* handle = open();
    if (!handle || !find_functions(handle)) return;
    auto properties = structure<nvimgcodecProperties_t>(NVIMGCODEC_STRUCTURE_TYPE_PROPERTIES);
    if (call.get_properties(&properties) != NVIMGCODEC_STATUS_SUCCESS) {
      fail("it does not say its version");
      return;
    }
    const auto words = [](unsigned number) {
      return std::to_string(number / 1000) + "." + std::to_string(number / 100 % 10) + "." +
             std::to_string(number % 100);
    };
    version = words(properties.version);
    if (!open_nvjpeg(properties.cudart_version / 1000)) return;
    auto info =
        structure<nvimgcodecInstanceCreateInfo_t>(NVIMGCODEC_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.load_builtin_modules = 1;
    // The library logs to std::cerr; nothing else does.
    std::cerr.rdbuf(nullptr);
    if (call.create_instance(&instance, &info) != NVIMGCODEC_STATUS_SUCCESS)
      fail("it makes no instance");
    else
      add_codecs();
  }

  /// Gives the instance its codecs of nvJPEG. They are an extension. If the library looked for
  /// extensions itself, those for other formats would write on standard error what they miss.
  void add_codecs() {
    const fs::path file = codecs_file();
    void* handle = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto entry = reinterpret_cast<nvimgcodecExtensionModuleEntryFunc_t>(
        handle ? dlsym(handle, "nvimgcodecExtensionModuleEntry") : nullptr);
    if (!entry || entry(&codecs_) != NVIMGCODEC_STATUS_SUCCESS ||
        call.create_extension(instance, &extension_, &codecs_) != NVIMGCODEC_STATUS_SUCCESS)
      fail(file.empty() ? "the folder 'extensions' beside it has no libnvjpeg_ext.so"
                        : "it does not take " + quoted_name(file.string()));
  }

  /// Empty where there is none.
  fs::path codecs_file() const {
    std::vector<fs::path> places = folders();
    Dl_info where{};
    if (dladdr(reinterpret_cast<const void*>(call.create_instance), &where) && where.dli_fname) {
      std::error_code ignored;
      places.insert(places.begin(), fs::canonical(where.dli_fname, ignored).parent_path());
      places.push_back(places.front().parent_path());
    }
    for (const fs::path& place : places) {
      std::error_code error;
      for (fs::directory_iterator file(place / "extensions", error), end; !error && file != end;
           file.increment(error))
        if (file->path().filename().string().starts_with("libnvjpeg_ext.so")) return file->path();
    }
    return {};
  }

  void fail(const std::string& why) {
    missing = "there is no nvImageCodec (" + why + "); " + kRemedy;
    version.clear();
  }

  /// Folders that may have its libraries: the one that the variable names, or the one of this
  /// build, with the wheel of nvJPEG beside it.
  static std::vector<fs::path> folders() {
    const char* named = std::getenv("CONVFILT_NVIMGCODEC");
    const fs::path folder = named && *named ? named : CONVFILT_NVIMGCODEC_DIR;
    std::vector<fs::path> found = {folder, folder / "lib64", folder / "lib"};
    for (const char* nvjpeg : {"cu13", "nvjpeg"})
      found.push_back(folder.lexically_normal().parent_path() / nvjpeg / "lib");
    return found;
  }

  static void* open(const std::string& name, std::string* why) {
    std::error_code ignored;
    for (const fs::path& folder : folders()) {
      if (!fs::exists(folder / name, ignored)) continue;
      if (void* handle = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* error = dlerror();
    if (why) *why = printable_name(error ? error : name);
    return nullptr;
  }

  void* open() {
    std::string why;
    void* handle = open("libnvimgcodec.so.0", &why);
    if (!handle) fail(why);
    return handle;
  }

  /// Its codecs look for nvJPEG by name alone, and take one that is loaded already.
  bool open_nvjpeg(unsigned major) {
    std::string why;
    const std::string name = "libnvjpeg.so." + std::to_string(major);
    if (open(name, &why)) return true;
    if (dlopen((CONVFILT_CUDA_LIBRARY_DIR "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return true;
    fail(why);
    return false;
  }

  bool find_functions(void* handle) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (!function && missing.empty()) fail(std::string("its library has no ") + name);
    };
#define CONVFILT_FIND(name, function) find(call.name, #function);
    CONVFILT_FUNCTIONS(CONVFILT_FIND)
#undef CONVFILT_FIND
#undef CONVFILT_FUNCTIONS
    return missing.empty();
  }
};

/// A handle of the library, which is destroyed with its owner.
template <class Handle>
class Owned {
 public:
  explicit Owned(nvimgcodecStatus_t (*destroy)(Handle)) : destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : destroy_(other.destroy_), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle_) destroy_(handle_);
  }

  Handle get() const { return handle_; }
  Handle* address() { return &handle_; }

 private:
  nvimgcodecStatus_t (*destroy_)(Handle);
  Handle handle_ = nullptr;
};

nvimgcodecChromaSubsampling_t sampling_of(Subsampling factors) {
  if (factors == Subsampling{1, 1}) return NVIMGCODEC_SAMPLING_444;
  if (factors == Subsampling{2, 1}) return NVIMGCODEC_SAMPLING_422;
  if (factors == Subsampling{1, 2}) return NVIMGCODEC_SAMPLING_440;
  return NVIMGCODEC_SAMPLING_420;
}

/// How a picture is turned first, counter-clockwise, and mirrored then.
struct Turn {
  int degrees, flip_x, flip_y;
};

/// By EXIF's orientation, 1..8.
constexpr Turn kTurns[] = {{0, 0, 0},  {0, 1, 0},   {180, 0, 0}, {0, 0, 1},
                           {90, 0, 1}, {270, 0, 0}, {270, 0, 1}, {90, 0, 0}};

nvimgcodecImageInfo_t info_of(PictureView<std::byte> pixels, int orientation, void* stream) {
  auto info = structure<nvimgcodecImageInfo_t>(NVIMGCODEC_STRUCTURE_TYPE_IMAGE_INFO);
  const bool grey = pixels.channels == 1;
  info.color_spec = grey ? NVIMGCODEC_COLORSPEC_GRAY : NVIMGCODEC_COLORSPEC_SRGB;
  info.chroma_subsampling = grey ? NVIMGCODEC_SAMPLING_GRAY : NVIMGCODEC_SAMPLING_NONE;
  info.sample_format = grey ? NVIMGCODEC_SAMPLEFORMAT_P_Y : NVIMGCODEC_SAMPLEFORMAT_I_RGB;
  info.orientation = structure<nvimgcodecOrientation_t>(NVIMGCODEC_STRUCTURE_TYPE_ORIENTATION);
  const Turn& turn = kTurns[orientation - 1];
  info.orientation.rotated = turn.degrees;
  info.orientation.flip_x = turn.flip_x;
  info.orientation.flip_y = turn.flip_y;
  info.num_planes = 1;
  nvimgcodecImagePlaneInfo_t& plane = info.plane_info[0];
  plane = structure<nvimgcodecImagePlaneInfo_t>(NVIMGCODEC_STRUCTURE_TYPE_IMAGE_PLANE_INFO);
  plane.width = unsigned(pixels.width);
  plane.height = unsigned(pixels.height);
  plane.row_stride = std::size_t(pixels.pitch);
  plane.num_channels = unsigned(pixels.channels);
  plane.sample_type = NVIMGCODEC_SAMPLE_DATA_TYPE_UINT8;
  info.buffer = pixels.data;
  info.buffer_kind = NVIMGCODEC_IMAGE_BUFFER_KIND_STRIDED_DEVICE;
  info.cuda_stream = static_cast<cudaStream_t>(stream);
  return info;
}

/// A file to try a decoder with: 64 by 64 pixels of one colour.
const std::vector<unsigned char>& trial_jpeg() {
  static const auto& file = *new const std::vector<unsigned char>([] {
    constexpr int kSide = 64;
    Header header;
    header.format = FormatId::jpeg;
    header.width = header.height = kSide;
    header.channels = 3;
    const std::vector<std::byte> pixels(3 * kSide * kSide, std::byte{128});
    MemorySink sink;
    const auto writer = kJpegCodec.create(sink, header, {});
    writer->write({pixels.data(), kSide, kSide, 3, 3 * kSide}, {});
    writer->finish();
    return sink.bytes();
  }());
  return file;
}

/// The kinds of decoders, the faster first.
struct Kind {
  const char* name;
  nvimgcodecBackendKind_t backend;
};
constexpr Kind kKinds[] = {{"hardware", NVIMGCODEC_BACKEND_KIND_HW_GPU_ONLY},
                           {"hybrid", NVIMGCODEC_BACKEND_KIND_HYBRID_CPU_GPU}};

/// The kind of all decoders of this process; null until the first is made, which decides.
std::atomic<const Kind*> common_kind{nullptr};

unsigned char* resize(void* file, std::size_t bytes) noexcept try {
  auto& vector = *static_cast<std::vector<unsigned char>*>(file);
  vector.resize(bytes);
  return vector.data();
} catch (const std::bad_alloc&) {
  return nullptr;
}

/// Pools as the library asks them: it wants 0 for success.
struct Allocators {
  explicit Allocators(int ordinal) : pools(ordinal) {
    device.device_malloc = [](void* context, void** memory, std::size_t bytes,
                              cudaStream_t stream) -> int {
      *memory = static_cast<DevicePools*>(context)->take_memory(bytes, stream);
      return *memory ? 0 : 1;
    };
    device.device_free = [](void* context, void* memory, std::size_t, cudaStream_t stream) -> int {
      return static_cast<DevicePools*>(context)->give_memory(memory, stream) ? 0 : 1;
    };
    device.device_ctx = &pools;
    pinned.pinned_malloc = [](void* context, void** memory, std::size_t bytes,
                              cudaStream_t) -> int {
      *memory = static_cast<DevicePools*>(context)->take_pinned(bytes);
      return *memory ? 0 : 1;
    };
    pinned.pinned_free = [](void* context, void* memory, std::size_t, cudaStream_t stream) -> int {
      return static_cast<DevicePools*>(context)->give_pinned(memory, stream) ? 0 : 1;
    };
    pinned.pinned_ctx = &pools;
  }

  DevicePools pools;
  nvimgcodecDeviceAllocator_t device =
      structure<nvimgcodecDeviceAllocator_t>(NVIMGCODEC_STRUCTURE_TYPE_DEVICE_ALLOCATOR);
  nvimgcodecPinnedAllocator_t pinned =
      structure<nvimgcodecPinnedAllocator_t>(NVIMGCODEC_STRUCTURE_TYPE_PINNED_ALLOCATOR);
};

/// A decoder and an encoder that use one kind of backend each. Where there are two, the library
/// shares a batch out among them by the sizes of earlier batches, and each rounds differently; the
/// bytes must not depend on load. For the same reason no codec on the host is among them.
class LibraryCodec : public DeviceJpeg::State {
 public:
  LibraryCodec(int device, int threads, const Kind& kind, DeviceJpeg::Memory memory) {
    auto how = structure<nvimgcodecExecutionParams_t>(NVIMGCODEC_STRUCTURE_TYPE_EXECUTION_PARAMS);
    how.device_id = device;
    how.max_num_cpu_threads = threads;
    if (memory == DeviceJpeg::Memory::pools && DevicePools::are_supported(device)) {
      allocators_ = std::make_unique<Allocators>(device);
      how.device_allocator = &allocators_->device;
      how.pinned_allocator = &allocators_->pinned;
    }
    auto backend = structure<nvimgcodecBackend_t>(NVIMGCODEC_STRUCTURE_TYPE_BACKEND);
    backend.params = structure<nvimgcodecBackendParams_t>(NVIMGCODEC_STRUCTURE_TYPE_BACKEND_PARAMS);
    backend.params.load_hint = 1;
    backend.params.load_hint_policy = NVIMGCODEC_LOAD_HINT_POLICY_FIXED;
    how.num_backends = 1;
    how.backends = &backend;
    backend.kind = kind.backend;
    // libjpeg-turbo smooths chroma in this way, too.
    check(call_.create_decoder(library_.instance, decoder_.address(), &how, ":fancy_upsampling=1"),
          "decoder");
    backend.kind = NVIMGCODEC_BACKEND_KIND_HYBRID_CPU_GPU;
    check(call_.create_encoder(library_.instance, encoder_.address(), &how, nullptr), "encoder");
  }

  std::vector<bool> decode(std::span<const DeviceJpeg::Input> inputs, void* stream) override {
    const std::uint64_t shortages = shortages_until_now();
    std::vector<bool> done(inputs.size(), false);
    auto how = structure<nvimgcodecDecodeParams_t>(NVIMGCODEC_STRUCTURE_TYPE_DECODE_PARAMS);
    how.apply_exif_orientation = 1;
    // The library's batches have one format.
    for (const int channels : {1, 3}) {
      Batch batch;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DeviceJpeg::Input& input = inputs[i];
        if (input.pixels.channels != channels) continue;
        const nvimgcodecImageInfo_t info = info_of(input.pixels, input.orientation, stream);
        add(batch, i, info, [&](nvimgcodecCodeStream_t* source) {
          return call_.create_source(library_.instance, source, input.file.data(),
                                     input.file.size(), nullptr);
        });
      }
      run(batch, done, [&](const auto& files, const auto& pictures, nvimgcodecFuture_t* future) {
        return call_.decode(decoder_.get(), files.data(), pictures.data(), int(files.size()), &how,
                            future);
      });
    }
    check_memory(done, shortages);
    return done;
  }

  std::vector<std::vector<unsigned char>> encode(std::span<const DeviceJpeg::Output> outputs,
                                                 void* stream) override {
    const std::uint64_t shortages = shortages_until_now();
    std::vector<std::vector<unsigned char>> encoded(outputs.size());
    std::vector<bool> done(outputs.size(), false);
    auto how = structure<nvimgcodecEncodeParams_t>(NVIMGCODEC_STRUCTURE_TYPE_ENCODE_PARAMS);
    how.quality_type = NVIMGCODEC_QUALITY_TYPE_QUALITY;
    // The library takes the quality for a batch, so a batch goes in groups of one quality.
    std::set<int> qualities;
    for (const DeviceJpeg::Output& output : outputs) qualities.insert(output.quality);
    for (const int quality : qualities) {
      how.quality_value = float(quality);
      Batch batch;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].quality != quality) continue;
        const nvimgcodecImageInfo_t info = info_of(outputs[i].pixels, 1, stream);
        nvimgcodecImageInfo_t coded = info;
        std::strncpy(coded.codec_name, "jpeg", sizeof coded.codec_name - 1);
        if (outputs[i].pixels.channels > 1) {
          coded.color_spec = NVIMGCODEC_COLORSPEC_SYCC;
          coded.chroma_subsampling = sampling_of(outputs[i].subsampling);
        }
        add(batch, i, info, [&](nvimgcodecCodeStream_t* sink) {
          return call_.create_sink(library_.instance, sink, &encoded[i], resize, &coded);
        });
      }
      run(batch, done, [&](const auto& files, const auto& pictures, nvimgcodecFuture_t* future) {
        return call_.encode(encoder_.get(), pictures.data(), files.data(), int(files.size()), &how,
                            future);
      });
    }
    for (std::size_t i = 0; i < encoded.size(); ++i)
      if (!done[i]) encoded[i].clear();
    check_memory(done, shortages);
    return encoded;
  }

  void release() override {
    if (allocators_) allocators_->pools.release();
  }

 private:
  /// The pictures of a batch that the library took, with their places in it.
  struct Batch {
    std::vector<Owned<nvimgcodecCodeStream_t>> files;
    std::vector<Owned<nvimgcodecImage_t>> pictures;
    std::vector<std::size_t> places;
  };

  static void check(nvimgcodecStatus_t status, const char* what) {
    if (status != NVIMGCODEC_STATUS_SUCCESS)
      throw DeviceError("it makes no " + std::string(what) + " (status " +
                        std::to_string(int(status)) + ")");
  }

  /// Throws where pictures have failed and memory was short meanwhile. The library itself tells
  /// that like any other failure.
  void check_memory(const std::vector<bool>& done, std::uint64_t shortages_before) const {
    if (shortages_until_now() != shortages_before && std::ranges::find(done, false) != done.end())
      throw DeviceMemoryError("nvImageCodec: too little memory on the device");
  }

  std::uint64_t shortages_until_now() const {
    return allocators_ ? allocators_->pools.shortages() : 0;
  }

  /// Adds a picture to a batch, unless the library refuses it. `make` makes its file.
  template <class Make>
  void add(Batch& batch, std::size_t place, const nvimgcodecImageInfo_t& info, Make make) const {
    Owned file(call_.destroy_stream);
    Owned picture(call_.destroy_image);
    if (make(file.address()) != NVIMGCODEC_STATUS_SUCCESS ||
        call_.create_image(library_.instance, picture.address(), &info) !=
            NVIMGCODEC_STATUS_SUCCESS)
      return;
    batch.files.push_back(std::move(file));
    batch.pictures.push_back(std::move(picture));
    batch.places.push_back(place);
  }

  /// Lets `begin` start the work on a batch, waits for its end, and notes what could be done.
  template <class Begin>
  void run(const Batch& batch, std::vector<bool>& done, Begin begin) const {
    if (batch.places.empty()) return;
    Owned future(call_.destroy_future);
    const nvimgcodecStatus_t status =
        begin(handles(batch.files), handles(batch.pictures), future.address());
    // Whatever was begun must have ended before its pixels and files go.
    if (future.get()) call_.wait(future.get());
    std::size_t count = batch.places.size();
    std::vector<nvimgcodecProcessingStatus_t> statuses(count);
    if (status != NVIMGCODEC_STATUS_SUCCESS || !future.get() ||
        call_.get_status(future.get(), statuses.data(), &count) != NVIMGCODEC_STATUS_SUCCESS)
      return;
    for (std::size_t i = 0; i < statuses.size(); ++i)
      done[batch.places[i]] = statuses[i] == NVIMGCODEC_PROCESSING_STATUS_SUCCESS;
  }

  template <class Handle>
  static std::vector<Handle> handles(const std::vector<Owned<Handle>>& owners) {
    std::vector<Handle> all;
    for (const Owned<Handle>& owner : owners) all.push_back(owner.get());
    return all;
  }

  const Library& library_ = Library::get();
  const Functions& call_ = library_.call;
  std::unique_ptr<Allocators> allocators_;  ///< null where the library brings its memory itself
  Owned<nvimgcodecDecoder_t> decoder_{call_.destroy_decoder};
  Owned<nvimgcodecEncoder_t> encoder_{call_.destroy_encoder};
};

}  // namespace

const std::string& DeviceJpeg::missing() {
  return Library::get().missing;
}

const std::string& DeviceJpeg::version() {
  return Library::get().version;
}

std::string DeviceJpeg::decoders() {
  const Kind* const kind = common_kind;
  return kind ? kind->name : "";
}

void DeviceJpeg::keep_to(const std::string& decoders) {
  for (const Kind& kind : kKinds)
    if (decoders == kind.name) common_kind = &kind;
}

DeviceJpeg::DeviceJpeg(int device, int threads, Memory memory) {
  if (!missing().empty()) throw DeviceError(missing());
  constexpr int kSide = 64;
  DeviceQueue queue(device);
  const Input input{
      trial_jpeg(), 1, {queue.reserve(3 * kSide * kSide), kSide, kSide, 3, 3 * kSide}};
  std::string why = "it decodes nothing";
  // Not every device decodes in hardware, and the library says so only when it is asked to.
  for (const Kind& kind : kKinds) {
    if (const Kind* const common = common_kind; common && common != &kind) {
      why =
          "it has no decoder of the kind that read this run's other pictures, and kinds round "
          "differently";
      continue;
    }
    bool could = false;
    try {
      state_ = std::make_unique<LibraryCodec>(device, threads, kind, memory);
      could = decode({&input, 1}, queue.stream()).front();
    } catch (const DeviceMemoryError&) {
      throw;
    } catch (const DeviceError& error) {
      why = error.what();
    }
    queue.synchronize();
    // Another kind may have been decided on meanwhile.
    const Kind* before = nullptr;
    if (could && (common_kind.compare_exchange_strong(before, &kind) || before == &kind)) return;
  }
  throw DeviceError("nvImageCodec on cuda:" + std::to_string(device) + ": " + why +
                    "; try --codec=cpu");
}

}  // namespace convfilt

#else

namespace convfilt {

const std::string& DeviceJpeg::missing() {
  static const auto& why = *new const std::string(
      "this build has no nvImageCodec; build it where nvimgcodec.h and CUDA are found, or use "
      "--codec=cpu");
  return why;
}

const std::string& DeviceJpeg::version() {
  static const auto& none = *new const std::string;
  return none;
}

std::string DeviceJpeg::decoders() {
  return "";
}

void DeviceJpeg::keep_to(const std::string&) {}

DeviceJpeg::DeviceJpeg(int, int, Memory) {
  throw DeviceError(missing());
}

}  // namespace convfilt

#endif
