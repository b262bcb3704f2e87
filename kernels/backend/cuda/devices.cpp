#include "kernels/backend/devices.hpp"

#include <dlfcn.h>

#include "kernels/backend/cuda/owners.hpp"
#include "kernels/backend/device_queue.hpp"

namespace convfilt {
namespace {

CudaDevices ask_driver() {
  CudaDevices found;
  // CUDA's runtime would look for this library, too, but crashes where exit() is under way.
  if (!dlopen("libcuda.so.1", RTLD_NOW)) {
    found.missing = "no NVIDIA driver is installed; install one, or use --device=cpu";
    return found;
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    found.missing =
        driver == 0
            ? "the NVIDIA driver cannot be used here; check nvidia-smi, or use --device=cpu"
            : "the NVIDIA driver is too old for this build (CUDA " +
                  std::to_string(CUDART_VERSION / 1000) + "); update it, or use --device=cpu";
  } else if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    found.missing = "the NVIDIA driver finds no device; check nvidia-smi, or use --device=cpu";
  } else if (error != cudaSuccess) {
    found.missing = std::string("the CUDA driver fails: ") + cudaGetErrorString(error) +
                    "; check nvidia-smi, or use --device=cpu";
  }
  if (error != cudaSuccess) {
    cudaGetLastError();
    return found;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
    int kilohertz = 0;  // CUDA 13 does not have it among the properties
    CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, ordinal));
    int memory_kilohertz = 0, bus_bits = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&memory_kilohertz, cudaDevAttrMemoryClockRate, ordinal));
    CUDA_CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal));
    // The memory makes two transfers a clock cycle.
    const double memory_rate = 2e3 * memory_kilohertz * bus_bits / 8;
    found.devices.push_back({ordinal, properties.name, properties.major, properties.minor,
                             properties.multiProcessorCount, properties.totalGlobalMem,
                             1e3 * kilohertz, memory_rate});
  }
  return found;
}

}  // namespace

const CudaDevices& cuda_devices() {
  static const auto& found = *new const CudaDevices(ask_driver());
  return found;
}

bool has_warpgroups([[maybe_unused]] const CudaDevice& device) {
#ifdef CONVFILT_HAS_SM_90A
  return device.major == kWarpgroupMajor && device.minor == 0;
#else
  return false;
#endif
}

bool built_with_cuda() {
  return true;
}

std::vector<double> time_device_copy(std::size_t bytes, int repeats, int ordinal) {
  const cuda::Stream stream(PlanOptions{.device = ordinal});
  const cuda::DeviceBuffer from(bytes), to(bytes);
  CUDA_CHECK(cudaMemsetAsync(from.data(), 0x5a, bytes, stream.get()));
  // Copies follow each other without waiting, as runs do in DevicePlan::time_resident.
  constexpr std::size_t kWarmups = 3;
  const std::size_t runs = std::size_t(repeats) + kWarmups;
  std::vector<cuda::Event> starts(runs), stops(runs);
  for (std::size_t k = 0; k < runs; ++k) {
    starts[k].record(stream);
    CUDA_CHECK(
        cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream.get()));
    stops[k].record(stream);
  }
  std::vector<double> times;
  for (std::size_t k = kWarmups; k < runs; ++k) times.push_back(stops[k].ms_since(starts[k]));
  return times;
}

struct DeviceQueue::State {
  explicit State(int ordinal) : stream(PlanOptions{.device = ordinal}) {}

  cuda::Stream stream;
  cuda::DeviceBuffer memory;
};

DeviceQueue::DeviceQueue(int ordinal) : state_(std::make_unique<State>(ordinal)) {}

DeviceQueue::~DeviceQueue() {
  CUDA_IGNORE(cudaStreamSynchronize(state_->stream.get()));
}

void* DeviceQueue::stream() const {
  return state_->stream.get();
}

std::byte* DeviceQueue::reserve(std::size_t bytes) {
  state_->stream.make_current();
  if (state_->memory.size() < bytes) {
    release();
    state_->memory = cuda::DeviceBuffer(bytes);
  }
  return state_->memory.data();
}

void DeviceQueue::release() {
  synchronize();
  // The old memory goes before the new is taken, so that the two never lie side by side.
  state_->memory = cuda::DeviceBuffer();
}

void DeviceQueue::synchronize() const {
  state_->stream.make_current();
  state_->stream.synchronize();
}

}  // namespace convfilt
