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

Extent extent_of(const std::ssub_match& width, const std::ssub_match& height) {
  return {std::stoi(width), height.matched ? std::stoi(height) : 0};
}

/// A parameter of the kernel.
struct Parameter {
  std::size_t at = 0;  ///< of its first character
  std::string type, name;

  bool is_pointer() const { return type.find('*') != type.npos; }
  bool is_const() const { return type.find("const") != type.npos; }
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return text;
}

bool matches(const std::string& name, const char* words) {
  return std::regex_match(lower(name), std::regex(words));
}

/// The parameters between the brackets that open at `begin`.
std::vector<Parameter> parameters_of(const std::string& code, std::size_t begin) {
  const std::size_t end = std::min(code.find(')', begin), code.size());
  std::vector<Parameter> parameters;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(code.find(',', at), end);
    const std::string words = code.substr(at, comma - at);
    static const std::regex kParameter(R"(\s*([\s\S]*?)(\w+)\s*(\[\s*\])?\s*)");
    std::smatch said;
    if (std::regex_match(words, said, kParameter))
      parameters.push_back({at + std::size_t(said.position(1)),
                            std::string(said[1]) + (said[3].matched ? "*" : ""), said[2]});
    at = comma + 1;
  }
  return parameters;
}

constexpr const char* kMaskWords = "m|f|k|d_?(m|f)|.*(mask|filter|kernel|weight|coef|tap).*";

/// What each parameter is given. Pointers: with three of them one is the mask, by its name, else
/// the last where it stands behind the numbers, else the middle one, as in the book. Numbers: by
/// name, else the next that is missing of width, height and the mask's side.
template <class Fail>
std::vector<KernelArgument> arguments_of(const std::vector<Parameter>& parameters,
                                         const Fail& fail) {
  using enum KernelArgument;
  std::vector<std::optional<KernelArgument>> roles(parameters.size());
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (!parameter.is_pointer()) continue;
    if (parameter.type.find("float") == std::string::npos)
      fail(parameter, "samples and weights are floats; write float* " + parameter.name);
    pointers.push_back(i);
  }
  const std::string documented = "float* in, float* out, int width, int height";
  if (pointers.size() == 3) {
    std::size_t mask = pointers[2] > pointers[1] + 1 ? 2 : 1;
    for (std::size_t k = 0; k < 3; ++k)
      if (matches(parameters[pointers[k]].name, kMaskWords)) mask = k;
    roles[pointers[mask]] = KernelArgument::mask;
    pointers.erase(pointers.begin() + std::ptrdiff_t(mask));
  }
  if (pointers.size() != 2)
    fail(parameters.empty() ? Parameter{} : parameters.front(),
         "a kernel takes " + documented + ", and a mask: a __constant__ array or a third float*");
  const Parameter &first = parameters[pointers[0]], &second = parameters[pointers[1]];
  const bool out_first =
      (second.is_const() && !first.is_const()) || (matches(first.name, ".*(out|dst|result).*") &&
                                                   !matches(second.name, ".*(out|dst|result).*"));
  roles[pointers[out_first ? 1 : 0]] = in;
  roles[pointers[out_first ? 0 : 1]] = out;

  const auto is_given = [&](KernelArgument role) { return std::ranges::count(roles, role) > 0; };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (roles[i]) continue;
    const std::string& name = parameters[i].name;
    if (matches(name, "r|.*radius.*"))
      roles[i] = radius;
    else if (matches(name, ".*(mask|filter|kernel|tap).*|[mfk]_?[hw]|ksize"))
      roles[i] = matches(name, ".*(height|rows|_h)|[mfk]h") ? mask_height : mask_width;
    else if (matches(name, ".*(height|rows)|h|height.*"))
      roles[i] = height;
    else if (matches(name, ".*(width|cols|columns)|w|width.*|stride"))
      roles[i] = width;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (roles[i]) continue;
    for (const KernelArgument role : {width, height, mask_width, mask_height})
      if (!roles[i] && !is_given(role)) roles[i] = role;
    if (!roles[i])
      fail(parameters[i], "nobody knows what " + in_quotes(parameters[i].name) +
                              " is given; a kernel takes " + documented);
  }
  for (const KernelArgument role : {width, height})
    if (!is_given(role))
      fail(parameters.front(), "the kernel is not told the picture's " +
                                   std::string(role == width ? "width" : "height") + "; it takes " +
                                   documented);
  std::vector<KernelArgument> arguments;
  for (const auto& role : roles) arguments.push_back(*role);
  return arguments;
}

}  // namespace

std::string to_string(const Extent& extent) {
  return std::to_string(extent.width) +
         (extent.height > 0 ? "x" + std::to_string(extent.height) : "");
}

std::optional<Extent> parse_launch_sides(std::string_view word) {
  if (word.find('x') == word.npos) return parse_sides(std::string(word) + "x0");
  const std::optional<Extent> sides = parse_sides(word);
  return sides && sides->height > 0 ? sides : std::nullopt;
}

Extent LaunchSize::threads() const {
  return {block.width, std::max<std::int64_t>(block.height, 1)};
}

Extent LaunchSize::grid(int width, int height) const {
  const auto blocks = [](std::int64_t samples, std::int64_t each) {
    return (samples + each - 1) / each;
  };
  if (outputs.height == 0) return {blocks(std::int64_t{width} * height, outputs.width), 1};
  return {blocks(width, outputs.width), blocks(height, outputs.height)};
}

bool KernelFile::takes(KernelArgument argument) const {
  return std::ranges::count(arguments, argument) > 0;
}

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
  const std::size_t brackets = std::size_t(found->position() + found->length()) - 1;
  if (++found != none)
    fail_at(std::size_t(found->position(1)),
            "a second __global__ function; leave one, so that it is clear which is tried");
  if (const std::size_t launch = code.find("<<<"); launch != code.npos)
    fail_at(launch,
            "code for the host, which launches a kernel; leave the kernel alone in the file");

  kernel.arguments = arguments_of(parameters_of(code, brackets),
                                  [&](const Parameter& parameter, const std::string& why) {
                                    fail_at(parameter.at > 0 ? parameter.at : brackets, why);
                                  });
  static const std::regex kConstant(
      R"(__constant__\s+(?:static\s+)?(?:const\s+)?float\s+(\w+)\s*(?:\[[^\]]*\]\s*)+[;,])");
  std::sregex_iterator constant(code.begin(), code.end(), kConstant);
  if (!kernel.takes(KernelArgument::mask)) {
    if (constant == none)
      throw IoError(quoted_name(path) +
                    " has no place for the mask; write __constant__ float F[5][5]; before the "
                    "kernel, or give the kernel a parameter float* mask");
    kernel.constant_mask = (*constant)[1];
    if (++constant != none)
      fail_at(std::size_t(constant->position(1)),
              "a second __constant__ array; leave one, so that it is clear which holds the mask");
  }

  static const std::regex kBlock(R"(launch:[^\n]*?block\s+(\d{1,4})(?:\s*x\s*(\d{1,4}))?)");
  static const std::regex kOutputs(
      R"(launch:[^\n]*?for each\s+(\d{1,4})(?:\s*x\s*(\d{1,4}))?\s+outputs)");
  static const std::regex kShared(R"(launch:[^\n]*?(\d{1,6})\s+bytes of shared)");
  std::smatch said;
  if (wish.block)
    kernel.launch.block = *wish.block;
  else if (std::regex_search(kernel.text, said, kBlock))
    kernel.launch.block = extent_of(said[1], said[2]);
  else
    throw IoError(quoted_name(path) +
                  " does not say how it is launched; write a comment "
                  "'// launch: block 16x16' into it, or say --block 16x16");
  kernel.launch.outputs = kernel.launch.block;
  if (wish.outputs)
    kernel.launch.outputs = *wish.outputs;
  else if (!wish.block && std::regex_search(kernel.text, said, kOutputs))
    kernel.launch.outputs = extent_of(said[1], said[2]);
  if (wish.shared_bytes)
    kernel.launch.shared_bytes = *wish.shared_bytes;
  else if (std::regex_search(kernel.text, said, kShared))
    kernel.launch.shared_bytes = std::stoi(said[1]);
  const Extent threads = kernel.launch.threads();
  if (threads.width < 1 || threads.width * threads.height > 1024)
    throw UsageError("a block has 1 to 1024 threads, not " + to_string(kernel.launch.block));
  if (kernel.launch.outputs.width < 1) throw UsageError("a block computes one output or more");
  return kernel;
}

}  // namespace convfilt
