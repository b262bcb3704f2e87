#include "src/picture/codecs/jpeg/device.hpp"

#include <utility>

#include "kernels/strategy.hpp"

namespace convfilt {

bool DeviceJpeg::has(Subsampling subsampling) {
  const auto is_one_or_two = [](int factor) { return factor == 1 || factor == 2; };
  return is_one_or_two(subsampling.across) && is_one_or_two(subsampling.down);
}

}  // namespace convfilt

#ifdef CONVFILT_HAS_NVIMGCODEC
#include <dlfcn.h>
#include <nvimgcodec.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/device_pools.hpp"
#include "kernels/backend/device_queue.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// The library's functions, by their names.
struct Functions {
  decltype(&nvimgcodecGetProperties) get_properties;
  decltype(&nvimgcodecInstanceCreate) create_instance;
  decltype(&nvimgcodecExtensionCreate) create_extension;
  decltype(&nvimgcodecFutureWaitForAll) wait;
  decltype(&nvimgcodecFutureGetProcessingStatus) get_status;
  decltype(&nvimgcodecFutureDestroy) destroy_future;
  decltype(&nvimgcodecImageCreate) create_image;
  decltype(&nvimgcodecImageDestroy) destroy_image;
  decltype(&nvimgcodecCodeStreamCreateFromHostMem) create_source;
  decltype(&nvimgcodecCodeStreamCreateToHostMem) create_sink;
  decltype(&nvimgcodecCodeStreamDestroy) destroy_stream;
  decltype(&nvimgcodecDecoderCreate) create_decoder;
  decltype(&nvimgcodecDecoderDestroy) destroy_decoder;
  decltype(&nvimgcodecDecoderDecode) decode;
  decltype(&nvimgcodecEncoderCreate) create_encoder;
  decltype(&nvimgcodecEncoderDestroy) destroy_encoder;
  decltype(&nvimgcodecEncoderEncode) encode;
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
    static const Library library;
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

  /// Where its libraries may be: in the folder that the variable names, or where they were when
  /// this was built, with the wheel of nvJPEG beside it.
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
    find(call.get_properties, "nvimgcodecGetProperties");
    find(call.create_instance, "nvimgcodecInstanceCreate");
    find(call.create_extension, "nvimgcodecExtensionCreate");
    find(call.wait, "nvimgcodecFutureWaitForAll");
    find(call.get_status, "nvimgcodecFutureGetProcessingStatus");
    find(call.destroy_future, "nvimgcodecFutureDestroy");
    find(call.create_image, "nvimgcodecImageCreate");
    find(call.destroy_image, "nvimgcodecImageDestroy");
    find(call.create_source, "nvimgcodecCodeStreamCreateFromHostMem");
    find(call.create_sink, "nvimgcodecCodeStreamCreateToHostMem");
    find(call.destroy_stream, "nvimgcodecCodeStreamDestroy");
    find(call.create_decoder, "nvimgcodecDecoderCreate");
    find(call.destroy_decoder, "nvimgcodecDecoderDestroy");
    find(call.decode, "nvimgcodecDecoderDecode");
    find(call.create_encoder, "nvimgcodecEncoderCreate");
    find(call.destroy_encoder, "nvimgcodecEncoderDestroy");
    find(call.encode, "nvimgcodecEncoderEncode");
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
  static const std::vector<unsigned char> file = [] {
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
  }();
  return file;
}

/// The kinds that there are, the faster first.
constexpr nvimgcodecBackendKind_t kDecoders[] = {NVIMGCODEC_BACKEND_KIND_HW_GPU_ONLY,
                                                 NVIMGCODEC_BACKEND_KIND_HYBRID_CPU_GPU};

/// The kind of all decoders of this process.
class DecoderKind {
 public:
  static DecoderKind& common() {
    static DecoderKind kind;
    return kind;
  }

  std::string name() {
    const std::lock_guard lock(mutex_);
    return kind_ ? name_of(*kind_) : "";
  }

  void keep_to(const std::string& name) {
    const std::lock_guard lock(mutex_);
    for (const nvimgcodecBackendKind_t kind : kDecoders)
      if (name == name_of(kind)) kind_ = kind;
  }

  bool may_be(nvimgcodecBackendKind_t kind) {
    const std::lock_guard lock(mutex_);
    return !kind_ || *kind_ == kind;
  }

  /// The first that asks decides. False where another kind was decided on meanwhile.
  bool is_now(nvimgcodecBackendKind_t kind) {
    const std::lock_guard lock(mutex_);
    if (!kind_) kind_ = kind;
    return *kind_ == kind;
  }

 private:
  static std::string name_of(nvimgcodecBackendKind_t kind) {
    return kind == NVIMGCODEC_BACKEND_KIND_HW_GPU_ONLY ? "hardware" : "hybrid";
  }

  std::mutex mutex_;
  std::optional<nvimgcodecBackendKind_t> kind_;
};

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

}  // namespace

struct DeviceJpeg::State {
  using Stream = Owned<nvimgcodecCodeStream_t>;
  using Picture = Owned<nvimgcodecImage_t>;

  const Library& library = Library::get();
  const Functions& call = library.call;
  std::unique_ptr<Allocators> allocators;  ///< null where the library brings its memory itself
  Owned<nvimgcodecDecoder_t> decoder{call.destroy_decoder};
  Owned<nvimgcodecEncoder_t> encoder{call.destroy_encoder};

  /// Makes a decoder and an encoder that use one kind of backend each. Where there are two, the
  /// library shares a batch out among them by the sizes of earlier batches, and each rounds in its
  /// own way; the bytes must not depend on load. For the same reason no codec on the host is among
  /// them.
  State(int device, int threads, nvimgcodecBackendKind_t decoders, Memory memory) {
    auto how = structure<nvimgcodecExecutionParams_t>(NVIMGCODEC_STRUCTURE_TYPE_EXECUTION_PARAMS);
    how.device_id = device;
    how.max_num_cpu_threads = threads;
    if (memory == Memory::pools && DevicePools::are_supported(device)) {
      allocators = std::make_unique<Allocators>(device);
      how.device_allocator = &allocators->device;
      how.pinned_allocator = &allocators->pinned;
    }
    auto backend = structure<nvimgcodecBackend_t>(NVIMGCODEC_STRUCTURE_TYPE_BACKEND);
    backend.params = structure<nvimgcodecBackendParams_t>(NVIMGCODEC_STRUCTURE_TYPE_BACKEND_PARAMS);
    backend.params.load_hint = 1;
    backend.params.load_hint_policy = NVIMGCODEC_LOAD_HINT_POLICY_FIXED;
    how.num_backends = 1;
    how.backends = &backend;
    backend.kind = decoders;
    // libjpeg-turbo smooths chroma in this way, too.
    check(call.create_decoder(library.instance, decoder.address(), &how, ":fancy_upsampling=1"),
          "decoder");
    backend.kind = NVIMGCODEC_BACKEND_KIND_HYBRID_CPU_GPU;
    check(call.create_encoder(library.instance, encoder.address(), &how, nullptr), "encoder");
  }

  static void check(nvimgcodecStatus_t status, const char* what) {
    if (status != NVIMGCODEC_STATUS_SUCCESS)
      throw DeviceError("it makes no " + std::string(what) + " (status " +
                        std::to_string(int(status)) + ")");
  }

  /// Throws where pictures have failed and memory was short meanwhile. The library itself tells
  /// that like any other failure.
  void check_memory(bool any_failed) const {
    const bool was_short = allocators && allocators->pools.was_short();
    if (any_failed && was_short)
      throw DeviceMemoryError("nvImageCodec: too little memory on the device");
  }

  /// What became of each picture of a batch, once all are done.
  std::vector<bool> results(nvimgcodecStatus_t status, nvimgcodecFuture_t pending,
                            std::size_t count) const {
    Owned<nvimgcodecFuture_t> future(call.destroy_future);
    *future.address() = pending;
    std::vector<bool> done(count, false);
    // Whatever was begun must have ended before its pixels and files go.
    if (pending) call.wait(pending);
    if (status != NVIMGCODEC_STATUS_SUCCESS || !pending) return done;
    std::vector<nvimgcodecProcessingStatus_t> statuses(count);
    std::size_t size = count;
    if (call.get_status(pending, statuses.data(), &size) != NVIMGCODEC_STATUS_SUCCESS) return done;
    for (std::size_t i = 0; i < count; ++i)
      done[i] = statuses[i] == NVIMGCODEC_PROCESSING_STATUS_SUCCESS;
    return done;
  }

  /// Those of a batch that the library took, with their places in it.
  struct Batch {
    std::vector<Stream> streams;
    std::vector<Picture> pictures;
    std::vector<std::size_t> places;

    template <class Handle>
    static std::vector<Handle> handles(const std::vector<Owned<Handle>>& owners) {
      std::vector<Handle> all;
      for (const Owned<Handle>& owner : owners) all.push_back(owner.get());
      return all;
    }

    void add(Stream stream, Picture picture, std::size_t place) {
      streams.push_back(std::move(stream));
      pictures.push_back(std::move(picture));
      places.push_back(place);
    }
  };

  /// Adds those of that many channels.
  void add_inputs(std::span<const Input> inputs, int channels, void* stream, Batch& batch) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Input& input = inputs[i];
      if (input.pixels.channels != channels) continue;
      Stream source(call.destroy_stream);
      Picture picture(call.destroy_image);
      const nvimgcodecImageInfo_t info = info_of(input.pixels, input.orientation, stream);
      if (call.create_source(library.instance, source.address(), input.file.data(),
                             input.file.size(), nullptr) == NVIMGCODEC_STATUS_SUCCESS &&
          call.create_image(library.instance, picture.address(), &info) ==
              NVIMGCODEC_STATUS_SUCCESS)
        batch.add(std::move(source), std::move(picture), i);
    }
  }

  void decode(const Batch& batch, std::vector<bool>& done) const {
    auto how = structure<nvimgcodecDecodeParams_t>(NVIMGCODEC_STRUCTURE_TYPE_DECODE_PARAMS);
    how.apply_exif_orientation = 1;
    const auto streams = Batch::handles(batch.streams);
    const auto pictures = Batch::handles(batch.pictures);
    nvimgcodecFuture_t future = nullptr;
    const nvimgcodecStatus_t status = call.decode(decoder.get(), streams.data(), pictures.data(),
                                                  int(streams.size()), &how, &future);
    const std::vector<bool> could = results(status, future, streams.size());
    for (std::size_t i = 0; i < could.size(); ++i) done[batch.places[i]] = could[i];
  }
};

const std::string& DeviceJpeg::missing() {
  return Library::get().missing;
}

const std::string& DeviceJpeg::version() {
  return Library::get().version;
}

std::string DeviceJpeg::decoders() {
  return DecoderKind::common().name();
}

void DeviceJpeg::keep_to(const std::string& decoders) {
  DecoderKind::common().keep_to(decoders);
}

DeviceJpeg::DeviceJpeg(int device, int threads, Memory memory) {
  if (!missing().empty()) throw DeviceError(missing());
  constexpr int kSide = 64;
  DeviceQueue queue(device);
  const Input input{
      trial_jpeg(), 1, {queue.reserve(3 * kSide * kSide), kSide, kSide, 3, 3 * kSide}};
  DecoderKind& common = DecoderKind::common();
  std::string why = "it decodes nothing";
  // Not every device decodes in hardware, and the library says so only when it is asked to.
  for (const nvimgcodecBackendKind_t kind : kDecoders) {
    if (!common.may_be(kind)) {
      why =
          "it has no decoder of the kind that read this run's other pictures, and kinds round "
          "differently";
      continue;
    }
    bool could = false;
    try {
      state_ = std::make_unique<State>(device, threads, kind, memory);
      could = decode({&input, 1}, queue.stream()).front();
    } catch (const DeviceMemoryError&) {
      throw;
    } catch (const DeviceError& error) {
      why = error.what();
    }
    queue.synchronize();
    if (could && common.is_now(kind)) return;
  }
  throw DeviceError("nvImageCodec on cuda:" + std::to_string(device) + ": " + why +
                    "; try --codec=cpu");
}

DeviceJpeg::~DeviceJpeg() = default;

std::vector<bool> DeviceJpeg::decode(std::span<const Input> inputs, void* stream) {
  std::vector<bool> done(inputs.size(), false);
  // The library's batches have one format.
  for (const int channels : {1, 3}) {
    State::Batch batch;
    state_->add_inputs(inputs, channels, stream, batch);
    if (!batch.places.empty()) state_->decode(batch, done);
  }
  state_->check_memory(std::ranges::find(done, false) != done.end());
  return done;
}

std::vector<std::vector<unsigned char>> DeviceJpeg::encode(std::span<const Output> outputs,
                                                           void* stream) {
  const Functions& call = state_->call;
  std::vector<std::vector<unsigned char>> files(outputs.size());
  // The library takes the quality for a batch, so a batch goes in groups of one quality.
  std::vector<bool> taken(outputs.size(), false);
  for (std::size_t first = 0; first < outputs.size(); ++first) {
    if (taken[first]) continue;
    const int quality = outputs[first].quality;
    State::Batch batch;
    for (std::size_t i = first; i < outputs.size(); ++i) {
      if (outputs[i].quality != quality) continue;
      taken[i] = true;
      State::Stream sink(call.destroy_stream);
      State::Picture picture(call.destroy_image);
      const nvimgcodecImageInfo_t info = info_of(outputs[i].pixels, 1, stream);
      nvimgcodecImageInfo_t encoded = info;
      std::strncpy(encoded.codec_name, "jpeg", sizeof encoded.codec_name - 1);
      if (outputs[i].pixels.channels > 1) {
        encoded.color_spec = NVIMGCODEC_COLORSPEC_SYCC;
        encoded.chroma_subsampling = sampling_of(outputs[i].subsampling);
      }
      if (call.create_image(state_->library.instance, picture.address(), &info) ==
              NVIMGCODEC_STATUS_SUCCESS &&
          call.create_sink(state_->library.instance, sink.address(), &files[i], resize, &encoded) ==
              NVIMGCODEC_STATUS_SUCCESS)
        batch.add(std::move(sink), std::move(picture), i);
    }
    if (batch.places.empty()) continue;
    auto how = structure<nvimgcodecEncodeParams_t>(NVIMGCODEC_STRUCTURE_TYPE_ENCODE_PARAMS);
    how.quality_type = NVIMGCODEC_QUALITY_TYPE_QUALITY;
    how.quality_value = float(quality);
    const auto streams = State::Batch::handles(batch.streams);
    const auto pictures = State::Batch::handles(batch.pictures);
    nvimgcodecFuture_t future = nullptr;
    const nvimgcodecStatus_t status = call.encode(
        state_->encoder.get(), pictures.data(), streams.data(), int(streams.size()), &how, &future);
    const std::vector<bool> results = state_->results(status, future, streams.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!results[i]) files[batch.places[i]].clear();
  }
  state_->check_memory(std::ranges::any_of(files, [](const auto& file) { return file.empty(); }));
  return files;
}

void DeviceJpeg::release() {
  if (state_->allocators) state_->allocators->pools.release();
}

}  // namespace convfilt

#else

namespace convfilt {

struct DeviceJpeg::State {};

const std::string& DeviceJpeg::missing() {
  static const std::string why =
      "this build has no nvImageCodec; build it where nvimgcodec.h and CUDA are found, or use "
      "--codec=cpu";
  return why;
}

const std::string& DeviceJpeg::version() {
  static const std::string none;
  return none;
}

std::string DeviceJpeg::decoders() {
  return "";
}

void DeviceJpeg::keep_to(const std::string&) {}

DeviceJpeg::DeviceJpeg(int, int, Memory) {
  throw DeviceError(missing());
}

DeviceJpeg::~DeviceJpeg() = default;

std::vector<bool> DeviceJpeg::decode(std::span<const Input> inputs, void*) {
  return std::vector<bool>(inputs.size(), false);
}

std::vector<std::vector<unsigned char>> DeviceJpeg::encode(std::span<const Output> outputs, void*) {
  return std::vector<std::vector<unsigned char>>(outputs.size());
}

void DeviceJpeg::release() {}

}  // namespace convfilt

#endif
