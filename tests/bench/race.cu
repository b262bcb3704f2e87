// The race: each textbook strategy beside a plain kernel of the same name, as one writes it for a
// known radius: float weights in constant memory, float sums, ghost cells 0. Both filter the same
// noise on the same GPU in the same run.
//
//   convfilt_race [SIDE [CHANNELS]]    the pictures' sides in samples, by default 8192 and 1
//
// Prints a line a depth and a mask: times as multiples of a device copy of the picture's bytes,
// medians of 21 runs, ours (plain), where plain is the better of two blocks. In the end it names
// the largest ours / plain. The plain kernels filter planes, as ours do: with several channels both
// times have the same splitting and merging of interleaved samples. Pictures of up to 2048 samples
// a side are compared, too: it fails if a result differs by more than a step (floats: 1e-5).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/backend/cuda/check.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::cuda {
namespace basic {
extern const Strategy strategy;
}
namespace tiled_in {
extern const Strategy strategy;
}
namespace tiled_out {
extern const Strategy strategy;
}
namespace cached {
extern const Strategy strategy;
}
namespace unrolled {
extern const Strategy strategy;
}
namespace texture {
extern const Strategy strategy;
}
}  // namespace convfilt::cuda

namespace {

using namespace convfilt;

constexpr int kMostSide = 9;
__constant__ float F[kMostSide * kMostSide];

template <class T>
__device__ T to_sample(float sum) {
  if constexpr (sizeof(T) == 4) return sum;
  return T(fminf(fmaxf(rintf(sum), 0.f), sizeof(T) == 1 ? 255.f : 65535.f));
}

template <class T, int r, int kColumns, int kRows>
__global__ void plain_basic(const T* in, T* out, int width, int height) {
  const int x = blockIdx.x * kColumns + threadIdx.x, y = blockIdx.y * kRows + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = -r; j <= r; ++j)
    for (int i = -r; i <= r; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        sum += F[(j + r) * (2 * r + 1) + i + r] * in[(y + j) * width + x + i];
  out[y * width + x] = to_sample<T>(sum);
}

template <class T, int r, int kTile>
__global__ void plain_tiled_in(const T* in, T* out, int width, int height) {
  __shared__ T tile[kTile + 2 * r][kTile + 2 * r];
  const int col = threadIdx.x, row = threadIdx.y;
  const int x = blockIdx.x * kTile + col, y = blockIdx.y * kTile + row;
  const int in_x = x - r, in_y = y - r;
  tile[row][col] =
      in_x >= 0 && in_x < width && in_y >= 0 && in_y < height ? in[in_y * width + in_x] : T(0);
  __syncthreads();
  if (col >= kTile || row >= kTile || x >= width || y >= height) return;
  float sum = 0;
  for (int j = 0; j < 2 * r + 1; ++j)
    for (int i = 0; i < 2 * r + 1; ++i) sum += F[j * (2 * r + 1) + i] * tile[row + j][col + i];
  out[y * width + x] = to_sample<T>(sum);
}

template <class T, int r, int kTile>
__global__ void plain_tiled_out(const T* in, T* out, int width, int height) {
  constexpr int kIn = kTile + 2 * r;
  __shared__ T tile[kIn][kIn];
  for (int row = threadIdx.y; row < kIn; row += kTile)
    for (int col = threadIdx.x; col < kIn; col += kTile) {
      const int in_x = blockIdx.x * kTile + col - r, in_y = blockIdx.y * kTile + row - r;
      tile[row][col] =
          in_x >= 0 && in_x < width && in_y >= 0 && in_y < height ? in[in_y * width + in_x] : T(0);
    }
  __syncthreads();
  const int col = threadIdx.x, row = threadIdx.y;
  const int x = blockIdx.x * kTile + col, y = blockIdx.y * kTile + row;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = 0; j < 2 * r + 1; ++j)
    for (int i = 0; i < 2 * r + 1; ++i) sum += F[j * (2 * r + 1) + i] * tile[row + j][col + i];
  out[y * width + x] = to_sample<T>(sum);
}

template <class T, int r, int kTile>
__global__ void plain_cached(const T* in, T* out, int width, int height) {
  __shared__ T tile[kTile][kTile];
  const int col = threadIdx.x, row = threadIdx.y;
  const int x = blockIdx.x * kTile + col, y = blockIdx.y * kTile + row;
  tile[row][col] = x < width && y < height ? in[y * width + x] : T(0);
  __syncthreads();
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = 0; j < 2 * r + 1; ++j)
    for (int i = 0; i < 2 * r + 1; ++i) {
      const int tap_col = col - r + i, tap_row = row - r + j, tap_x = x - r + i, tap_y = y - r + j;
      if (tap_col >= 0 && tap_col < kTile && tap_row >= 0 && tap_row < kTile)
        sum += F[j * (2 * r + 1) + i] * tile[tap_row][tap_col];
      else if (tap_x >= 0 && tap_x < width && tap_y >= 0 && tap_y < height)
        sum += F[j * (2 * r + 1) + i] * in[tap_y * width + tap_x];
    }
  out[y * width + x] = to_sample<T>(sum);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Milliseconds, the median of 21 runs that follow each other without waiting.
template <class Run>
double time_of(const cuda::Stream& stream, const Run& run) {
  constexpr int kWarmups = 5, kRuns = 21;
  std::vector<cudaEvent_t> events(2 * (kWarmups + kRuns));
  for (cudaEvent_t& event : events) CUDA_CHECK(cudaEventCreate(&event));
  for (int k = 0; k < kWarmups + kRuns; ++k) {
    CUDA_CHECK(cudaEventRecord(events[2 * k], stream.get()));
    run();
    CUDA_CHECK(cudaEventRecord(events[2 * k + 1], stream.get()));
  }
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<double> times;
  for (int k = kWarmups; k < kWarmups + kRuns; ++k) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, events[2 * k], events[2 * k + 1]));
    times.push_back(ms);
  }
  for (cudaEvent_t event : events) CUDA_CHECK(cudaEventDestroy(event));
  return median(times);
}

/// The point where ours takes longest beside plain.
struct Worst {
  const char* name;
  Depth depth;
  int side;
  double ratio;
} worst{};

struct Planes {
  cuda::DevicePlane in, out, in_planes, out_planes;
};

struct Racer {
  const char* name;
  const Strategy* ours;
  Tuning tuning;
};

Tuning tuning_of(Setting setting, int value) {
  Tuning tuning;
  tuning[setting] = value;
  return tuning;
}

const Racer kRacers[] = {
    {"basic", &cuda::basic::strategy, {}},
    {"tiled-in", &cuda::tiled_in::strategy, {}},
    {"tiled-out, one output", &cuda::tiled_out::strategy, tuning_of(Setting::outputs, 1)},
    {"cached", &cuda::cached::strategy, {}},
    {"tiled-out", &cuda::tiled_out::strategy, {}},
    {"basic, --cache none", &cuda::basic::strategy, tuning_of(Setting::cache, kPastL1)},
    {"basic, --mask-memory global", &cuda::basic::strategy,
     tuning_of(Setting::mask_memory, kGlobal)},
    {"unrolled", &cuda::unrolled::strategy, {}},
    {"texture", &cuda::texture::strategy, {}},
};

/// The times of the plain kernels with both blocks; empty where there is none. The picture is in
/// `in` and `out`, and its planes, if it has several channels, in `in_planes` and `out_planes`.
template <class T, int r>
std::vector<double> plain_times(const std::string& name, Depth depth, const Planes& p, int side,
                                int planes) {
  const cuda::Stream stream{PlanOptions{}};
  const T* const in = reinterpret_cast<const T*>((planes > 1 ? p.in_planes : p.in).data);
  T* const out = reinterpret_cast<T*>((planes > 1 ? p.out_planes : p.out).data);
  const auto blocks = [&](int columns, int rows) {
    return dim3((side + columns - 1) / columns, (side + rows - 1) / rows);
  };
  const auto timed = [&](auto kernel, dim3 grid, dim3 block) {
    return time_of(stream, [&] {
      if (planes > 1) cuda::split_channels(depth, p.in, planes, p.in_planes, stream);
      for (int plane = 0; plane < planes; ++plane) {
        const std::size_t first = std::size_t(plane) * side * side;
        kernel<<<grid, block, 0, stream.get()>>>(in + first, out + first, side, side);
      }
      if (planes > 1) cuda::merge_channels(depth, p.out_planes, p.out, planes, stream);
    });
  };
  const dim3 small(16, 16), large(32, 32), wide(32, 8), small_in(16 + 2 * r, 16 + 2 * r);
  if (name == "basic")
    return {timed(plain_basic<T, r, 16, 16>, blocks(16, 16), small),
            timed(plain_basic<T, r, 32, 8>, blocks(32, 8), wide)};
  if (name == "tiled-in") return {timed(plain_tiled_in<T, r, 16>, blocks(16, 16), small_in)};
  if (name == "tiled-out, one output")
    return {timed(plain_tiled_out<T, r, 32>, blocks(32, 32), large),
            timed(plain_tiled_out<T, r, 16>, blocks(16, 16), small)};
  if (name == "cached")
    return {timed(plain_cached<T, r, 32>, blocks(32, 32), large),
            timed(plain_cached<T, r, 16>, blocks(16, 16), small)};
  return {};
}

template <class T, int r>
bool race(Depth depth, int side, int planes) {
  constexpr int k = 2 * r + 1;
  const std::size_t samples = std::size_t(side) * side * planes, bytes = samples * sizeof(T);
  std::mt19937 random(1);
  std::vector<T> noise(samples), result(samples), plain_result(samples);
  for (T& sample : noise) sample = sizeof(T) == 4 ? T(random() * 0x1p-32) : T(random());
  Problem problem;
  problem.width = problem.height = side;
  problem.channels = planes;
  problem.depth = depth;
  problem.border = Border::constant;
  problem.mask = Mask{"race", k, k, r, r, {}, 0, 0};
  std::vector<float> weights;
  for (int i = 0; i < k * k; ++i) {
    problem.mask.weights.push_back(1 + random() % 9);
    problem.mask.divisor += problem.mask.weights.back();
  }
  for (const double weight : problem.mask.weights)
    weights.push_back(float(weight / problem.mask.divisor));
  CUDA_CHECK(cudaMemcpyToSymbol(F, weights.data(), weights.size() * sizeof(float)));
  const std::ptrdiff_t pitch = std::ptrdiff_t(side) * planes * sizeof(T);
  const PictureView<const std::byte> in{reinterpret_cast<const std::byte*>(noise.data()), side,
                                        side, planes, pitch};
  const PictureView<std::byte> out{reinterpret_cast<std::byte*>(result.data()), side, side, planes,
                                   pitch};

  const std::size_t buffers = planes > 1 ? 4 : 2;
  std::byte* memory = nullptr;
  CUDA_CHECK(cudaMalloc(&memory, buffers * bytes));
  CUDA_CHECK(cudaMemcpy(memory, noise.data(), bytes, cudaMemcpyHostToDevice));
  const std::ptrdiff_t plane_pitch = pitch / planes;
  const Planes all{{memory, side, side, pitch},
                   {memory + bytes, side, side, pitch},
                   {memory + 2 * bytes, side, side * planes, plane_pitch},
                   {memory + 3 * bytes, side, side * planes, plane_pitch}};
  const cuda::Stream stream{PlanOptions{}};
  const double copy = time_of(stream, [&] {
    CUDA_CHECK(
        cudaMemcpyAsync(all.out.data, all.in.data, bytes, cudaMemcpyDeviceToDevice, stream.get()));
  });
  bool right = true;
  std::printf("| %s %dx%d |", std::string(name_of(depth)).c_str(), k, k);
  for (const Racer& racer : kRacers) {
    const std::vector<double> plain = plain_times<T, r>(racer.name, depth, all, side, planes);
    PlanOptions options;
    options.tuning = racer.tuning;
    const auto plan = racer.ours->make_plan(problem, options);
    const double ours = median(plan->time_resident(in, 21));
    std::printf(" %.2f", ours / copy);
    if (!plain.empty()) {
      const double best = *std::min_element(plain.begin(), plain.end());
      std::printf(" (%.2f)", best / copy);
      if (ours / best > worst.ratio) worst = {racer.name, depth, k, ours / best};
    }
    std::printf(" |");
    if (plain.empty() || side > 2048) continue;
    // The plain kernel that ran last left its result.
    plan->run(in, out);
    CUDA_CHECK(cudaMemcpy(plain_result.data(), all.out.data, bytes, cudaMemcpyDeviceToHost));
    double most = 0;
    for (std::size_t i = 0; i < samples; ++i)
      most = std::max(most, std::abs(double(result[i]) - double(plain_result[i])));
    if (!(most <= (sizeof(T) == 4 ? 1e-5 : 1))) {
      std::fprintf(stderr, "%s differs by %g\n", racer.name, most);
      right = false;
    }
  }
  std::puts("");
  CUDA_CHECK(cudaFree(memory));
  return right;
}

template <class T>
bool race_all(Depth depth, int side, int planes) {
  bool right = race<T, 1>(depth, side, planes);
  right = race<T, 2>(depth, side, planes) && right;
  right = race<T, 3>(depth, side, planes) && right;
  return race<T, 4>(depth, side, planes) && right;
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 8192, planes = argc > 2 ? std::atoi(argv[2]) : 1;
  std::printf("| %d x %d, channels: %d |", side, side, planes);
  for (const Racer& racer : kRacers) std::printf(" %s |", racer.name);
  std::printf("\n|---|");
  for ([[maybe_unused]] const Racer& racer : kRacers) std::printf("---:|");
  std::puts("");
  bool right = true;
  for (const Depth depth : kDepths)
    with_depth(depth, [&](auto tag) {
      right = race_all<typename decltype(tag)::type>(depth, side, planes) && right;
    });
  std::printf("\nThe largest ours / plain is %.2f: %s, %s %dx%d.\n", worst.ratio, worst.name,
              std::string(name_of(worst.depth)).c_str(), worst.side, worst.side);
  return right ? 0 : 1;
}
