/// Measures a machine for `auto`: the profile that `convfilt tune` writes. It stands in this room
/// since measuring needs pictures and masks, which `auto` does without.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "src/auto/machine.hpp"
#include "src/lab/compare/measure.hpp"

namespace convfilt {

/// The measurements on a GPU: every depth, grey and in colour, at these sizes under these masks.
struct TuneGrid {
  struct Size {
    int width, height;
  };
  std::vector<Size> sizes;              ///< by rising pixels
  std::vector<int> squares;             ///< sides of masks of full rank, rising
  std::vector<int> lines;               ///< sides of masks of rank 1, rising
  std::vector<int> transforms, smooth;  ///< sides of masks for transforms, and for coarse grids
  int runs = 21;                        ///< that time a kernel, at most
  double budget_ms = 100;               ///< for them; but three
};

/// Some one and a half minutes on an H200; quick: about half of that.
TuneGrid tune_grid(bool quick);

/// Measures this machine's CPU on one core.
CpuRates measure_cpu(const Machine& machine, bool quick, const Progress& progress);

/// Measures what a GPU takes besides kernels. `start`: when CUDA was first asked for its devices,
/// which is where its start-up time begins. Throws DeviceError where the device fails.
GpuRates measure_gpu(const CudaDevice& device, std::chrono::steady_clock::time_point start,
                     const Machine& machine, const Progress& progress);

struct MeasuredCurves {
  std::vector<CostCurve> curves;
  int points = 0;                     ///< that were measured
  std::vector<std::string> left_out;  ///< points that were not, and why
};

/// "left out 2 of 30 points: ...", which names the first; empty where none was left out.
std::string told_left_out(const MeasuredCurves& measured);

/// Times the direct, separable and transform strategies that run on that device. A strategy that
/// takes four times as long as the best that an older device has is not measured with larger masks.
/// A point for which the device has too little memory, or the machine lacks a library, is left out;
/// where the device fails otherwise, throws DeviceError, which names the point.
MeasuredCurves measure_curves(const CudaDevice& device, const Machine& machine,
                              const TuneGrid& grid, const Progress& progress);

/// Keeps the curves of kernels that `now` lacks from an earlier profile of a GPU of the same name.
/// This device and build take other kernels there, but older devices go by this profile, too.
void keep_other_kernels(Profile& now, const Profile& before);

/// Compares the new profile with the one that spoke before, in lines: the rates, how many choices
/// of the grid change, and the first of these by name. `before` may be null.
std::string changes(const Profile* before, const Profile& now, const CudaDevice* device,
                    const Machine& machine);

}  // namespace convfilt
