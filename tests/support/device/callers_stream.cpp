#include "tests/support/device/callers_stream.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#ifdef CONVFILT_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace convfilt::test {

#ifdef CONVFILT_HAS_CUDA
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

}  // namespace

struct CallersStream::State {
  cudaStream_t stream = nullptr;
  std::vector<void*> memory;

  State() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~State() {
    for (void* one : memory) cudaFree(one);
    cudaStreamDestroy(stream);
  }
  std::byte* allocate(std::size_t bytes) {
    void* one = nullptr;
    check(cudaMalloc(&one, bytes));
    memory.push_back(one);
    return static_cast<std::byte*>(one);
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  }
  void delay() {
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
    check(cudaLaunchHostFunc(stream, sleep, nullptr));
  }
  void wait() { check(cudaStreamSynchronize(stream)); }
};

std::size_t free_device_memory() {
  std::size_t free = 0, all = 0;
  check(cudaMemGetInfo(&free, &all));
  return free;
}
#else
struct CallersStream::State {
  void* stream = nullptr;
  std::byte* allocate(std::size_t) { throw std::runtime_error("this build has no CUDA"); }
  void copy(void*, const void*, std::size_t) {}
  void delay() {}
  void wait() {}
};

std::size_t free_device_memory() {
  return 0;
}
#endif

CallersStream::CallersStream(DeviceKind device)
    : gpu_(device == DeviceKind::cuda ? new State : nullptr) {}

CallersStream::~CallersStream() = default;

void* CallersStream::get() const {
  return gpu_ ? gpu_->stream : nullptr;
}

std::byte* CallersStream::allocate(std::size_t bytes) {
  if (gpu_) return gpu_->allocate(bytes);
  return memory_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
}

void CallersStream::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (gpu_) return gpu_->copy(to, from, bytes);
  std::memcpy(to, from, bytes);
}

void CallersStream::delay() {
  if (gpu_) gpu_->delay();
}

void CallersStream::wait() {
  if (gpu_) gpu_->wait();
}

}  // namespace convfilt::test
