/// A student's kernel as a program for a GPU, compiled by nvcc, which runs in a process of its own.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/strategy.hpp"
#include "src/lab/try/program.hpp"

namespace convfilt {

/// Where nvcc is: what NVCC names, else the one in PATH, else in /usr/local/cuda/bin. Empty where
/// there is none.
std::string find_nvcc();

/// nvcc is there and does not work, whatever the kernel. The message says why.
struct CompilerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class GpuProgram {
 public:
  /// Compiles the kernel for that device. Throws KernelRefused with nvcc's first words where it
  /// complains of the kernel's file, CompilerError where it complains of anything else.
  GpuProgram(const KernelFile& kernel, const CudaDevice& device, const std::string& nvcc);

  /// Runs the kernel on each picture, for so long at most, since kernels on small pictures take no
  /// time, and a process that opens a GPU takes up to some seconds; then that many times more to
  /// time it. Where it crashes, the pictures behind are tried by another process; where it does not
  /// end, they are left out, so that the answer has fewer runs. Throws DeviceError where the device
  /// fails before the kernel runs.
  std::vector<TrialRun> run(std::span<const Trial> trials, double seconds = 20,
                            int repeats = 0) const;

 private:
  KernelFile kernel_;
  CudaDevice device_;
  ScratchFolder folder_;
};

}  // namespace convfilt
