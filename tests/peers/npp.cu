// NPP's generic filter beside a device copy, in one run: what convfilt's kernel times are compared
// with. Built by tests/gpu.sh on a machine with a GPU and NPP:
//   nvcc -O3 -std=c++17 -arch=native npp.cu -lnppif -lnppc -o npp && ./npp [SIDE]

#include <cuda_runtime.h>
#include <npp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

namespace {

constexpr int kRepeats = 21;
constexpr int kSides[] = {3, 5, 9, 15};

template <class Status>
void check(Status status, const char* what) {
  if (int(status) == 0) return;
  std::fprintf(stderr, "npp: %s fails with %d\n", what, int(status));
  std::exit(1);
}
#define CHECK(call) check((call), #call)

double median_ms(const std::function<void()>& work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int k = 0; k < kRepeats + 3; ++k) {
    CHECK(cudaEventRecord(start));
    work();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (k >= 3) times.push_back(ms);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

NppStreamContext context() {
  NppStreamContext c{};
  CHECK(cudaGetDevice(&c.nCudaDeviceId));
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, c.nCudaDeviceId));
  c.nMultiProcessorCount = p.multiProcessorCount;
  c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
  c.nSharedMemPerBlock = p.sharedMemPerBlock;
  c.nCudaDevAttrComputeCapabilityMajor = p.major;
  c.nCudaDevAttrComputeCapabilityMinor = p.minor;
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::max(256, std::atoi(argv[1])) : 8192;
  const std::size_t bytes = std::size_t(side) * side;
  std::vector<unsigned char> noise(bytes);
  std::mt19937 random(1);
  for (auto& sample : noise) sample = static_cast<unsigned char>(random());
  unsigned char *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, noise.data(), bytes, cudaMemcpyHostToDevice));
  const double copy =
      median_ms([&] { CHECK(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice)); });
  std::printf("| NPP FilterBorder |");
  const NppStreamContext stream = context();
  for (int mask_side : kSides) {
    std::vector<float> weights(mask_side * mask_side, 1.0f / (mask_side * mask_side));
    float* mask;
    CHECK(cudaMalloc(&mask, weights.size() * sizeof(float)));
    CHECK(cudaMemcpy(mask, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
    const double ms = median_ms([&] {
      CHECK(nppiFilterBorder32f_8u_C1R_Ctx(
          in, side, {side, side}, {0, 0}, out, side, {side, side}, mask, {mask_side, mask_side},
          {mask_side / 2, mask_side / 2}, NPP_BORDER_REPLICATE, stream));
    });
    std::printf(" %.2f |", ms / copy);
    CHECK(cudaFree(mask));
  }
  std::printf(" not checked | no |\n");
}
