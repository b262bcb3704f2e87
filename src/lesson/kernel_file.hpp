/// A student's kernel as its file has it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/base/sides.hpp"

namespace convfilt {

/// How a kernel is launched: threads of a block, and the outputs that a block computes, which say
/// how many blocks there are. A height of 0 stands for threads or outputs in one row: blocks of a
/// grid of one row then take the picture's outputs one after the other, row after row.
struct LaunchSize {
  Extent block{16, 16};
  Extent outputs{16, 16};
  int shared_bytes = 0;     ///< dynamic shared memory
  bool clears_out = false;  ///< the host sets out to 0 before; else nobody knows what it holds

  Extent threads() const;                    ///< of a block, in columns and rows of at least one
  Extent grid(int width, int height) const;  ///< blocks for a picture of that size
};

/// "16x16", or "256" where the height is 0.
std::string to_string(const Extent& extent);

/// "16x16" or "256"; nothing for other words.
std::optional<Extent> parse_launch_sides(std::string_view word);

/// What is passed to a kernel in the place of one of its parameters.
enum class KernelArgument {
  in,
  out,
  mask,
  width,
  height,
  mask_width,
  mask_height,
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
  std::vector<std::string> parameters;  ///< their names
  std::vector<KernelArgument> arguments;  ///< one for each parameter
  std::string constant_mask;              ///< the __constant__ array for the mask; empty = none
  LaunchSize launch;
  bool is_told_size = false;  ///< of the mask, and makes use of it
  bool is_closed = true;      ///< its braces are
  /// First and last lines of the functions that run on the device.
  std::vector<std::pair<int, int>> device_lines;
  int assembler_line = 0;  ///< where the first `asm` stands; 0 = nowhere
  /// Parameters whose names say nothing, so that what they are given may have to be exchanged.
  std::vector<std::pair<std::size_t, std::size_t>> guesses;

  bool takes(KernelArgument argument) const;
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

/// What a person says of the launch, which wins over the file's comment.
struct LaunchWish {
  std::optional<Extent> block, outputs;
  std::optional<int> shared_bytes;
  bool clears_out = false;
};

/// Reads a file with one __global__ function. A comment `launch: block 20x20, a block for each
/// 16x16 outputs, 1024 bytes of shared memory, out cleared` says how it is launched; its first part
/// is enough. Parameters are known by their names; where these say nothing, the output is what the
/// kernel writes to, and two numbers are width and height, which is a guess. The mask is a pointer
/// or the file's __constant__ array. Functions for the host, such as main(), count for nothing.
/// Throws KernelRefused where there is no such function or several, where a parameter or the mask
/// cannot be told, where nobody says the block, or where the kernel does what nvcc refuses and the
/// host's compiler takes, as far as its words tell; NoVerdictError where there is no such file.
KernelFile read_kernel_file(const std::string& path, const LaunchWish& wish);

}  // namespace convfilt
