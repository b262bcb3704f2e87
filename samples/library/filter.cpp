// Filters pixels in host memory and, where there is a GPU, pixels on it in a stream of one's own.
#include <convfilt/convfilt.hpp>
#include <cstdio>
#ifdef HAS_CUDA
#include <cuda_runtime.h>
#endif

int main() try {
  constexpr int width = 640, height = 480, bytes = width * height;
  std::vector<std::byte> in(bytes), out(bytes), back(bytes);
  for (int k = 0; k < bytes; ++k) in[k] = std::byte(k % 251);
  const convfilt::Problem problem{
      .width = width, .height = height, .mask = convfilt::load_mask("gaussian5")};
  convfilt::make_plan(problem, {.device = "cpu"})
      ->run({in.data(), width, height, 1, width}, {out.data(), width, height, 1, width});
  std::printf("host: sample %d became %d\n", int(in[1000]), int(out[1000]));
#ifdef HAS_CUDA
  if (int gpus = 0; cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) return 0;
  cudaStream_t stream;
  std::byte *from, *to;
  cudaStreamCreate(&stream), cudaMalloc(&from, bytes), cudaMalloc(&to, bytes);
  const auto plan = convfilt::make_plan(problem, {.device = "cuda"});
  cudaMemcpyAsync(from, in.data(), bytes, cudaMemcpyHostToDevice, stream);
  plan->run_resident({from, width, height, 1, width}, {to, width, height, 1, width}, stream);
  cudaMemcpyAsync(back.data(), to, bytes, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("GPU: %s bytes\n", back == out ? "the same" : "other");
#endif
} catch (const convfilt::DeviceError& error) { return std::puts(error.what()), 0;  // e.g. a library without CUDA
} catch (const std::exception& error) { return std::puts(error.what()), 1; }
