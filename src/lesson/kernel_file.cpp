#include "src/lesson/kernel_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

/// The text with blanks for comments and strings, so that words in them count for nothing.
std::string code_alone(const std::string& text) {
  std::string code = text;
  enum { code_text, line_comment, comment, string } state = code_text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    switch (state) {
      case code_text:
        if (c == '/' && next == '/')
          state = line_comment;
        else if (c == '/' && next == '*')
          state = comment;
        else if (c == '"')
          state = string;
        break;
      case line_comment:
        if (c == '\n') state = code_text;
        break;
      case comment:
        if (c == '*' && next == '/') {
          code[i] = code[i + 1] = ' ';
          ++i;
          state = code_text;
          continue;
        }
        break;
      case string:
        if (c == '\\')
          code[i++] = ' ';
        else if (c == '"')
          state = code_text;
        break;
    }
    if (state != code_text && c != '\n') code[i] = ' ';
  }
  return code;
}

Extent extent_of(const std::smatch& found, std::size_t group) {
  return {std::stoi(found[group]), std::stoi(found[group + 1])};
}

}  // namespace

KernelFile read_kernel_file(const std::string& path, const LaunchWish& wish) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot read " + quoted_name(path) + "; check its name and folder");
  KernelFile kernel;
  kernel.path = path;
  kernel.text.assign(std::istreambuf_iterator<char>(file), {});
  const SourceText source(kernel.text, path);
  const std::string code = code_alone(kernel.text);
  const auto fail_at = [&](std::size_t at, const std::string& why) {
    source.fail(std::string_view(kernel.text).substr(at, 1), why);
  };

  static const std::regex kKernel(R"(__global__[\s\w()]*?\bvoid\s+(\w+)\s*\()");
  std::sregex_iterator found(code.begin(), code.end(), kKernel), none;
  if (found == none)
    throw IoError(quoted_name(path) +
                  " has no __global__ function; write one: __global__ void "
                  "filter(float* in, float* out, int width, int height)");
  kernel.kernel = (*found)[1];
  if (++found != none)
    fail_at(std::size_t(found->position(1)),
            "a second __global__ function; leave one, so that it is clear which is tried");
  if (const std::size_t launch = code.find("<<<"); launch != code.npos)
    fail_at(launch,
            "code for the host, which launches a kernel; leave the kernel alone in the file");

  static const std::regex kBlock(R"(launch:[^\n]*?block\s+(\d{1,4})\s*x\s*(\d{1,4}))");
  static const std::regex kOutputs(
      R"(launch:[^\n]*?for each\s+(\d{1,4})\s*x\s*(\d{1,4})\s+outputs)");
  static const std::regex kShared(R"(launch:[^\n]*?(\d{1,6})\s+bytes of shared)");
  std::smatch said;
  if (wish.block)
    kernel.launch.block = *wish.block;
  else if (std::regex_search(kernel.text, said, kBlock))
    kernel.launch.block = extent_of(said, 1);
  else
    throw IoError(quoted_name(path) +
                  " does not say how it is launched; write a comment "
                  "'// launch: block 16x16' into it, or say --block 16x16");
  kernel.launch.outputs = kernel.launch.block;
  if (wish.outputs)
    kernel.launch.outputs = *wish.outputs;
  else if (!wish.block && std::regex_search(kernel.text, said, kOutputs))
    kernel.launch.outputs = extent_of(said, 1);
  if (wish.shared_bytes)
    kernel.launch.shared_bytes = *wish.shared_bytes;
  else if (std::regex_search(kernel.text, said, kShared))
    kernel.launch.shared_bytes = std::stoi(said[1]);
  const Extent& block = kernel.launch.block;
  if (block.width < 1 || block.height < 1 || block.width * block.height > 1024)
    throw UsageError("a block has 1 to 1024 threads, not " + std::to_string(block.width) + "x" +
                     std::to_string(block.height));
  if (kernel.launch.outputs.width < 1 || kernel.launch.outputs.height < 1)
    throw UsageError("a block computes one output or more");

  // The words of CUDA come from elsewhere here.
  static const std::regex kHeader(
      R"(#\s*include\s*[<"](cuda\w*|device_launch_parameters|device_functions)\.h[>"])");
  kernel.text = std::regex_replace(kernel.text, kHeader, "");
  // The host compiler has no memory that a block is given when it is launched.
  static const std::regex kDynamic(R"(extern\s+__shared__\s+([\w\s]+?)\s*(\w+)\s*\[\s*\])");
  kernel.text =
      std::regex_replace(kernel.text, kDynamic, "$1* $2 = ($1*)convfilt::lesson::dynamic_shared()");
  return kernel;
}

}  // namespace convfilt
