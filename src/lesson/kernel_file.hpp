/// A student's kernel as its file has it.
#pragma once

#include <optional>
#include <string>

#include "src/base/sides.hpp"

namespace convfilt {

/// How a kernel is launched: threads of a block, and the outputs that a block computes, which say
/// how many blocks there are.
struct LaunchSize {
  Extent block{16, 16};
  Extent outputs{16, 16};
  int shared_bytes = 0;  ///< dynamic shared memory
};

struct KernelFile {
  std::string path;    ///< as the user named it
  std::string text;    ///< as it is compiled; its lines are those of the file
  std::string kernel;  ///< the function's name
  LaunchSize launch;
};

/// What a person says of the launch, which wins over the file's comment.
struct LaunchWish {
  std::optional<Extent> block, outputs;
  std::optional<int> shared_bytes;
};

/// Reads a file with one __global__ function. A comment `launch: block 20x20, a block for each
/// 16x16 outputs, 1024 bytes of shared memory` says how it is launched; its first part is enough.
/// Throws IoError, with the line, where there is no such function or several, where there is host
/// code that launches one, or where nobody says the block.
KernelFile read_kernel_file(const std::string& path, const LaunchWish& wish);

}  // namespace convfilt
