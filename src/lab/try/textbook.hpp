/// The textbook's strategies, beside which a student's kernel is counted and timed.
#pragma once

#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "src/lab/try/kernel_file.hpp"
#include "src/lab/try/program.hpp"

namespace convfilt {

/// The work of one block of a kernel, far from the edges.
struct BlockRow {
  std::string name;  ///< of a strategy, with its settings, or of the student's kernel
  BlockSides block, outputs;
  Counts counts;
  double reuse = 0;  ///< taps of the block's outputs for each read of global memory
};

/// How long a kernel takes on a large picture that lies on a GPU.
struct TimeRow {
  std::string name;
  double ms = 0;      ///< the median
  double copies = 0;  ///< of the picture's bytes on the device, that take as long
};

/// basic, tiled-in, tiled-out as it is and with one output a thread, and cached, as the emulator
/// counts a block of each. Those that refuse the mask are left out.
std::vector<BlockRow> count_textbook(const Mask& mask);

/// The same on CUDA device `ordinal`, on that picture. Throws DeviceError where the device fails.
std::vector<TimeRow> time_textbook(const Trial& trial, int ordinal, int repeats);

}  // namespace convfilt
