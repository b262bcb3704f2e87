/// A student's kernel as its file has it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/problem.hpp"
#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"
#include "src/lab/try/host_launch.hpp"

namespace convfilt {

/// Columns, rows and planes.
struct BlockSides : Extent {
  std::int64_t depth = 1;

  /// Its cells, where a height of 0 stands for a single row.
  std::int64_t count() const { return width * (height > 0 ? height : 1) * depth; }
};

/// How a kernel is launched: threads of a block, and the outputs that a block computes, which say
/// how many blocks there are. A height of 0 stands for threads or outputs in one row: blocks of a
/// grid of one row then take the picture's outputs one after the other, row after row.
struct LaunchSize {
  BlockSides block{{16, 16}};
  BlockSides outputs{{16, 16}};
  int shared_bytes = 0;         ///< dynamic shared memory
  bool clears_out = false;      ///< the host sets out to 0 before; else nobody knows what it holds
  int line = 0;                 ///< of the file, which says the outputs; 0 = none does
  bool has_rows_first = false;  ///< blocks lie along x as rows do, and along y as columns do

  BlockSides threads() const;  ///< of a block, in columns, rows and planes of at least one
  /// Blocks for so many outputs.
  BlockSides grid(std::int64_t width, std::int64_t height, std::int64_t depth = 1) const;
};

/// "16x16", "8x8x4", or "256" where the height is 0.
std::string to_string(const Extent& extent);
std::string to_string(const BlockSides& sides);

/// "16x16", "8x8x4" or "256"; nothing for other words.
std::optional<BlockSides> parse_launch_sides(std::string_view word);

/// The argument that a kernel is passed for one of its parameters.
enum class KernelArgument {
  in,
  out,
  mask,
  width,
  height,
  depth,
  mask_width,
  mask_height,
  mask_depth,
  out_width,
  out_height,
  out_depth,
  radius,
  channels
};

/// "mask_width" and so on.
const char* name_of(KernelArgument argument);

struct KernelFile {
  std::string path;                     ///< as the user named it
  std::string text;                     ///< as the file has it, with blanks for what is the host's
  std::string host_text;                ///< the same for the host compiler
  std::string kernel;                   ///< the function's name
  std::string scope;                    ///< the namespace that it stands in: "a::b", or empty
  std::string template_arguments;       ///< "<float, 2>" of a template, or empty
  int dimensions = 2;                   ///< of the picture, by its sides among the parameters
  std::vector<std::string> parameters;  ///< their names
  std::vector<KernelArgument> arguments;  ///< one for each parameter
  std::string constant_mask;              ///< the __constant__ array for the mask; empty = none
  LaunchSize launch;
  std::shared_ptr<const HostLaunch> host;  ///< where the file's own launch says it
  std::vector<LaunchSize> other_launches;  ///< which may be meant where that is wrong
  bool has_grid_exchanged = false;         ///< the file's grid has rows along x
  std::string assumed;                     ///< what the file's launch leaves open; empty = nothing
  std::string assumed_shared;              ///< likewise of the shared memory
  std::string guessed;                     ///< why wrong results say nothing of the kernel
  bool is_told_size = false;               ///< of the mask, and makes use of it
  bool is_closed = true;                   ///< its braces are
  /// First and last lines of the functions that run on the device.
  std::vector<std::pair<int, int>> device_lines;
  int shared_line = 0;        ///< where the first __shared__ stands
  int assembler_line = 0;     ///< where the first `asm` stands; 0 = nowhere
  bool has_channels = false;  ///< it goes through channels, as many as it is told
  bool has_short = false;     ///< a type of 16 bits
  bool looks_valid = false;   ///< it computes how many outputs lie where the mask does inside
  /// Parameters whose names say nothing, so that what they are given may have to be exchanged.
  std::vector<std::pair<std::size_t, std::size_t>> guesses;

  bool takes(KernelArgument argument) const;
  int line_at(std::size_t at) const;  ///< the line of that character
  /// Throws KernelRefused with the file's name, and that line where it is not 0.
  [[noreturn]] void refuse(const std::string& why, int line = 0, bool is_compilers = false) const;
};

/// There is nothing to try in a kernel's file, as it stands. what() has the place; `line` is 0
/// where there is none.
struct KernelRefused : IoError {
  KernelRefused(const std::string& message, int at_line, std::string why, bool is_compiler = false)
      : IoError(message), line(at_line), text(std::move(why)), is_compilers(is_compiler) {}
  int line;
  std::string text;   ///< why, without the place
  bool is_compilers;  ///< the compiler says so
};

inline constexpr int kMostShared = 48 << 10;  ///< bytes of shared memory of a block

/// A person's wishes for the launch, which win over the file's comment.
struct LaunchWish {
  std::optional<BlockSides> block, outputs;
  std::optional<int> shared_bytes;
  bool clears_out = false;
};

/// A person's wishes for the task.
struct LessonWish {
  std::optional<Mask> mask;           ///< this or the size, or none
  std::optional<Extent> size;         ///< of random weights
  std::optional<bool> is_valid = {};  ///< else it is found out
  /// Outputs may differ by `absolute` + `relative` times what they should be.
  double absolute = 0, relative = 0;
};

/// Reads a file with one __global__ function. A comment `launch: block 20x20, a block for each
/// 16x16 outputs, 1024 bytes of shared memory, out cleared` says how it is launched; its first part
/// is enough. Else a launch in a function for the host says it, or some usual block where that
/// cannot be computed. Parameters are known by their names; where these say nothing, the output is
/// what the kernel writes to, and two numbers are width and height, which is a guess; a kernel
/// without height has lines for pictures, one with a depth has volumes. The mask is a pointer or
/// the file's __constant__ array. Functions for the host, such as main(), count for nothing else.
/// Throws KernelRefused where there is no such function or several, where a parameter or the mask
/// cannot be told, where nobody says the block, or where the kernel does what nvcc refuses and the
/// host's compiler takes, as far as its words tell; NoVerdictError where there is no such file.
KernelFile read_kernel_file(const std::string& path, const LaunchWish& wish);

}  // namespace convfilt
