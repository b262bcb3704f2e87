#include "src/lab/try/kernel_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <regex>

#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/try/host_launch.hpp"

namespace convfilt {
namespace {

using namespace tokens;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  ///< of a kernel's file
constexpr auto kNowhere = std::string_view::npos;
constexpr std::size_t kMostName = 60;  ///< characters of a name that says something

/// Throws KernelRefused at a place in the file.
using Fail = std::function<void(std::size_t at, const std::string& why)>;

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end && i < text.size(); ++i)
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
}

void blank(std::string& text, const Token& token) {
  blank(text, token.at, token.at + token.text.size());
}

/// Blanks lines that include a header whose name begins like that.
void blank_includes(std::string& text, const Code& code,
                    std::initializer_list<std::string_view> names) {
  for (const Tokens line : code.directives) {
    if (!is(line, 0, "include")) continue;
    const std::size_t end = std::min(text.find('\n', line[0].at), text.size());
    const std::string_view rest = std::string_view(text).substr(line[0].at, end - line[0].at);
    const std::string_view header = rest.substr(std::min(rest.find_first_of("<\""), rest.size()));
    if (std::ranges::any_of(names, [&](std::string_view name) {
          return header.size() > 1 && header.substr(1).starts_with(name);
        }))
      blank(text, text.rfind('#', line[0].at), end);
  }
}

/// A function, or its declaration, at the level of the file or of a namespace.
struct Function {
  std::size_t begin = 0, name = 0, open = 0;  ///< tokens; open: of its parameters
  std::size_t body = 0, end = 0;  ///< the tokens of its braces; body = end: a declaration
  std::string scope;

  /// The words before its name.
  Tokens before(Tokens all) const { return all.subspan(begin, name - begin); }
  Tokens in_braces(Tokens all) const { return all.subspan(body, end - body); }
};

/// The functions of a file. What a macro makes is not seen.
std::vector<Function> functions_of(Tokens tokens) {
  std::vector<Function> functions;
  std::vector<std::string> scopes;
  for (std::size_t begin = 0, i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    // A statement that is longer is none of these.
    constexpr std::size_t kMost = 200;
    const Tokens statement = tokens.subspan(begin, std::min(i - begin, kMost));
    // A template's parameters may have defaults.
    const bool is_set = has(
        is(statement, 0, "template") ? statement.subspan(index_of(statement, 0, ">")) : statement,
        "=");
    // `extern "C" {` has lost its string.
    const bool is_scope =
        has(statement, "namespace") || (statement.size() == 1 && statement[0].text == "extern");
    if (text == "}" || text == ";") {
      if (text == "}" && !scopes.empty()) scopes.pop_back();
      begin = i + 1;
    } else if (text == "{" && is_scope) {
      scopes.emplace_back();
      for (const Token& token : statement)
        if (token.text != "namespace" && token.text != "inline" && token.text != "extern")
          scopes.back() += token.text;
      begin = i + 1;
    } else if (text == "{") {
      // A struct, what is set at once, or a function that is declared in another way.
      i = closing(tokens, i);
      if (has(statement, "(") && !is_set) begin = i + 1;
    } else if (text == "(") {
      const std::size_t open = std::exchange(i, closing(tokens, i));
      const Tokens last = statement.last(std::min<std::size_t>(statement.size(), 1));
      if (i == tokens.size() || open - begin >= kMost || last.empty() || !last[0].is_name() ||
          last[0].text.starts_with("__launch_bounds__") || is_set || has(statement, "using") ||
          has_one(last, {"__align__", "alignas", "__attribute__", "decltype"}))
        continue;
      std::size_t next = i + 1;
      while (next < tokens.size() && tokens[next].is_name()) {
        ++next;  // such as noexcept, or __launch_bounds__(256)
        if (is(tokens, next, "(")) next = closing(tokens, next) + 1;
      }
      if (!is(tokens, next, "{") && !is(tokens, next, ";")) continue;
      i = is(tokens, next, "{") ? closing(tokens, next) : next;
      functions.push_back({begin, open - 1, open, next, i, ""});
      for (const std::string& scope : scopes)
        if (std::string& whole = functions.back().scope; !scope.empty())
          whole += (whole.empty() ? "" : "::") + scope;
      begin = i + 1;
    }
  }
  return functions;
}

/// The first of the names that stand before that token with nothing between.
std::size_t names_before(Tokens tokens, std::size_t i) {
  while (i > 0 && tokens[i - 1].is_name()) --i;
  return i;
}

struct Parameter {
  std::size_t at = 0;  ///< of its first character
  std::string name;
  std::vector<std::string> type;
  bool is_pointer = false, is_const = false;

  bool is_of(std::initializer_list<std::string_view> words) const {
    return std::ranges::any_of(
        type, [&](std::string_view word) { return std::ranges::count(words, word) > 0; });
  }
};

std::vector<Parameter> parameters_of(Tokens brackets) {
  std::vector<Parameter> parameters;
  for (const Tokens part : parts_of(brackets)) {
    if (part.empty()) continue;
    Parameter parameter{part[0].at, "", {}, has(part, "*") || has(part, "["), false};
    // A const behind the star belongs to the pointer.
    parameter.is_const = has(part.first(index_of(part, 0, "*")), "const");
    for (const Token& token : part.first(index_of(part, 0, "["))) {
      if (!token.is_name()) continue;
      if (!parameter.name.empty()) parameter.type.push_back(parameter.name);
      parameter.name = token.text;
    }
    if (!parameter.name.empty()) parameters.push_back(parameter);
  }
  return parameters;
}

/// Whether a name is one of the words, whatever the case of its letters.
bool matches(const std::string& name, const char* words) {
  return name.size() <= kMostName && std::regex_match(lower_case(name), std::regex(words));
}

constexpr const char* kMaskWords = "m|f|k|d_?(m|f)|.*(mask|filter|kernel|weight|coef|tap).*";
constexpr const char* kOutWords = ".*(out|dst|dest|result).*";
constexpr const char* kInWords = "in|.*(input|src|source).*|in_.*|.*_in|d_?in";

/// Whether a name says one side of a picture: `width`, `imgW`, `Nx`, `ncols`.
bool says_side(const std::string& name, bool is_width) {
  const std::size_t n = name.size();
  // A capital at the end of a word in small letters: imgW.
  const bool is_camel =
      n > 1 && name[n - 1] == (is_width ? 'W' : 'H') && name[n - 2] >= 'a' && name[n - 2] <= 'z';
  if (is_camel) return true;
  return matches(name, is_width ? ".*width.*|w|.*_w|(n|num|no)?_?(of)?_?(cols?|columns?)(_?count)?|"
                                  ".*(stride|pitch).*|ld|(n|num|size|dim|len)_?x|x_?(size|dim|len)|"
                                  "(img|image|im|pic|in|out|n|src|dst)w|.*(cols|columns)"
                                : ".*height.*|h|.*_h|(n|num|no)?_?(of)?_?(rows?|lines?)(_?count)?|"
                                  "(n|num|size|dim|len)_?y|y_?(size|dim|len)|"
                                  "(img|image|im|pic|in|out|n|src|dst)h|.*rows");
}

std::optional<KernelArgument> number_of(const std::string& name) {
  using enum KernelArgument;
  if (matches(name, "r|.*radius.*")) return radius;
  if (matches(name, ".*(mask|filter|kernel|tap).*|[mfk]_?[hwd]|k|[mfk]_?s(i?ze?)?"))
    return matches(name, ".*(height|rows|_h)|[mfk]h")           ? mask_height
           : matches(name, ".*(depth|planes|slices|_d)|[mfk]d") ? mask_depth
                                                                : mask_width;
  if (matches(name, ".*(channels?|chan)(_?count)?|(n|num)?_?ch(_?count)?")) return channels;
  const bool is_out = matches(name, "(out|dst|result).*");
  if (matches(name, ".*(depth|planes|slices)|n_?z|(num|size|dim|len)_?z|z_?(size|dim|len)"))
    return is_out ? out_depth : depth;
  if (says_side(name, false)) return is_out ? out_height : height;
  if (says_side(name, true)) return is_out ? out_width : width;
  return std::nullopt;
}

/// Whether the kernel's body writes through that name: `P[i] = `, `*P = `, `P[i] += `, and
/// `atomicAdd(&P[i]`.
bool writes_to(Tokens all, std::string_view name) {
  constexpr std::size_t kMost = 500;  // tokens of an index
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].text != name) continue;
    const Tokens body = all.first(std::min(i + kMost, all.size()));
    const auto before = [&](std::size_t k) { return k <= i ? body[i - k].text : "("; };
    const std::size_t bracket = before(1) == "&" ? 2 : 1;
    if (before(bracket) == "(" && before(bracket + 1).starts_with("atomic")) return true;
    std::size_t next = i + 1;
    while (is(body, next, "[")) next = closing(body, next) + 1;
    const std::string_view left = before(2);
    const bool has_star = before(1) == "*" && left != "]" && left != ")" && !is_word(left[0]);
    if (next == i + 1 && !has_star) {
      // *(P + i) = ...
      if (i < 2 || before(1) != "(" || before(2) != "*") continue;
      next = closing(body, i - 1) + 1;
    }
    if (next < body.size() && std::string_view("+-*/").find(body[next].text[0]) != kNowhere) ++next;
    if (is(body, next, "=") && !is(body, next + 1, "=")) return true;
  }
  return false;
}

/// Chooses the argument for each parameter of the bracket at `open`, into the kernel.
void choose_arguments(KernelFile& kernel, const std::vector<Parameter>& parameters,
                      std::size_t open, Tokens body, const Fail& fail) {
  using enum KernelArgument;
  std::vector<std::optional<KernelArgument>> roles(parameters.size());
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (!parameter.is_pointer) continue;
    const bool is_other = parameter.is_of(
        {"char",     "int",   "short",  "long",    "unsigned", "signed",   "double",  "bool",
         "void",     "uchar", "uint",   "uint8_t", "int8_t",   "uint16_t", "int16_t", "int32_t",
         "uint32_t", "half",  "__half", "float2",  "float3",   "float4",   "uchar3",  "uchar4"});
    if (is_other && !parameter.is_of({"float"}))
      fail(parameter.at, "samples and weights are floats; write float* " + parameter.name);
    pointers.push_back(i);
  }
  const std::string documented = "float* in, float* out, int width, int height";
  if (pointers.size() != 2 && pointers.size() != 3)
    fail(parameters.empty() ? open : parameters.front().at,
         "a kernel takes " + documented + ", and a mask: a __constant__ array or a third float*");

  // The output is what is not const, what has such a name, or what the kernel writes to.
  const auto only = [&](const auto& is_it) -> std::optional<std::size_t> {
    return std::ranges::count_if(pointers, is_it) == 1
               ? std::optional(*std::ranges::find_if(pointers, is_it))
               : std::nullopt;
  };
  const auto name = [&](std::size_t i) { return parameters[i].name; };
  const bool has_mask = pointers.size() == 3;
  const auto may_be_out = [&](std::size_t i) { return !parameters[i].is_const; };
  std::optional<std::size_t> written = only(may_be_out);
  if (!written)
    written = only([&](std::size_t i) { return may_be_out(i) && matches(name(i), kOutWords); });
  if (!written && !has_mask)
    if (const auto read = only([&](std::size_t i) { return matches(name(i), kInWords); }))
      written = only([&](std::size_t i) { return i != *read; });
  if (!written)
    written = only([&](std::size_t i) { return may_be_out(i) && writes_to(body, name(i)); });

  bool is_mask_guessed = false;
  if (has_mask) {
    const auto is_free = [&](std::size_t i) { return !written || i != *written; };
    auto mask_at = only([&](std::size_t i) { return is_free(i) && matches(name(i), kMaskWords); });
    if (!mask_at) {
      // The last where it stands behind the numbers, else the middle one, as in the book.
      is_mask_guessed = true;
      mask_at = pointers[2] > pointers[1] + 1 && is_free(pointers[2]) ? pointers[2]
                : is_free(pointers[1])                                ? pointers[1]
                                                                      : pointers[2];
    }
    roles[*mask_at] = KernelArgument::mask;
    std::erase(pointers, *mask_at);
    if (is_mask_guessed && written)
      kernel.guesses.emplace_back(*mask_at, pointers[pointers[0] == *written ? 1 : 0]);
  }
  if (!written) kernel.guesses.emplace_back(pointers[0], pointers[1]);
  const bool out_first = written && *written == pointers[0];
  roles[pointers[out_first ? 1 : 0]] = in;
  roles[pointers[out_first ? 0 : 1]] = out;

  const auto is_given = [&](KernelArgument role) { return std::ranges::count(roles, role) > 0; };
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!roles[i]) roles[i] = number_of(parameters[i].name);
  // Two numbers whose names say nothing are width and height, as far as these are missing.
  std::vector<std::size_t> guessed;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (roles[i]) continue;
    for (const KernelArgument role : {width, height})
      if (!roles[i] && !is_given(role)) roles[i] = role;
    if (!roles[i] && !is_given(depth) && matches(parameters[i].name, "d")) {
      roles[i] = depth;
      continue;
    }
    if (!roles[i])
      fail(parameters[i].at,
           "nobody knows what " + in_quotes(parameters[i].name) +
               " is given; name it width, height, depth, mask_width, mask_height, "
               "mask_depth, radius or channels");
    guessed.push_back(i);
  }
  if (guessed.size() == 2) kernel.guesses.emplace_back(guessed[0], guessed[1]);
  // One side alone is that of a line, as far as the kernel has no rows.
  bool has_rows = is_given(height);
  for (std::size_t i = 0; i + 2 < body.size(); ++i)
    has_rows = has_rows || (body[i].text.ends_with("Idx") && body[i + 2].text == "y");
  for (const KernelArgument role : {width, height})
    if (!is_given(role) && (role == width || has_rows))
      fail(parameters.front().at, "the kernel is not told the picture's " +
                                      std::string(role == width ? "width" : "height") +
                                      "; it takes " + documented);
  kernel.dimensions = is_given(depth) ? 3 : has_rows ? 2 : 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    kernel.parameters.push_back(parameters[i].name);
    kernel.arguments.push_back(*roles[i]);
    const bool is_size = roles[i] == mask_width || roles[i] == mask_height ||
                         roles[i] == mask_depth || roles[i] == radius;
    // A size that is not made use of is that of the array, which is written down beside it.
    if (is_size && (has_mask || has(body, parameters[i].name))) kernel.is_told_size = true;
  }
}

/// The head of a template, and what its parameters are given: what the launch says, else their
/// defaults, and float for a type.
struct TemplateHead {
  std::size_t begin = 0, end = 0;  ///< tokens, the first and that behind the last
  std::string arguments;           ///< "<float, 2>"
  /// The same as declarations. The host's compiler puts a template's shared memory where nobody
  /// watches it, so there the kernel is none.
  std::string declarations;
};

TemplateHead template_head(Tokens all, std::size_t begin, const std::vector<std::string>& said,
                           const Fail& fail) {
  const std::size_t close = index_of(all, begin, ">");
  TemplateHead head{begin, close + 1, "", ""};
  std::size_t number = 0;
  for (std::size_t i = begin + 2, end; i < close; i = end + 1, ++number) {
    end = index_of(all.first(close), i, ",");
    const std::size_t equals = index_of(all.first(end), i, "=");
    const Token& name = all[equals - 1];
    const bool is_type = all[i].text == "typename" || all[i].text == "class";
    std::string value = "float", type;
    if (number < said.size())
      value = said[number];
    else if (equals + 1 < end)
      value = {all[equals + 1].text.data(), all[end - 1].text.data() + all[end - 1].text.size()};
    else if (!is_type)
      fail(name.at, "the template's parameter " + in_quotes(std::string(name.text)) +
                        " has no value; give it a default, or launch the kernel with it in main()");
    for (std::size_t k = i; k + 1 < equals; ++k) type += std::string(all[k].text) + " ";
    head.arguments += (number == 0 ? "<" : ", ") + value;
    head.declarations +=
        (is_type ? "using " : "constexpr " + type) + std::string(name.text) + " = " + value + "; ";
  }
  head.arguments += number == 0 ? "<>" : ">";
  return head;
}

/// The arrays that may hold the mask: floats, or what may be another name for them.
std::vector<const Token*> constant_arrays(Tokens tokens) {
  std::vector<const Token*> arrays;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "__constant__") continue;
    std::size_t end = i + 1;
    while (end < tokens.size() && std::string_view("[;=(").find(tokens[end].text) == kNowhere)
      ++end;
    if (!is(tokens, end, "[") || end == i + 1) continue;
    const std::size_t begin = names_before(tokens, i);
    if (!has_one(tokens.subspan(begin, end - 1 - begin),
                 {"int", "char", "short", "long", "unsigned", "double", "bool"}))
      arrays.push_back(&tokens[end - 1]);
  }
  return arrays;
}

/// The text for the host compiler, which has the words of CUDA from elsewhere, and no memory that a
/// block is given when it is launched: an `extern __shared__` array is called what machine.cpp
/// calls that memory.
std::string text_for_host(const std::string& text, const Code& code, Tokens tokens,
                          const std::optional<TemplateHead>& head) {
  std::string host = text;
  // CUDA's headers, and those that courses have around them.
  blank_includes(host, code,
                 {"cuda", "cooperative_groups", "device_launch_parameters.h", "device_functions.h",
                  "vector_types.h", "helper_", "math_constants.h", "sm_"});
  // From the end, so that places before stay what they are.
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (head && i == head->begin) {
      blank(host, tokens[i].at, tokens[head->end - 1].at + 1);
      host.insert(tokens[i].at, head->declarations);
    }
    if (tokens[i].text != "__shared__" && tokens[i].text != "__constant__") continue;
    // Both words say static already, and the mask is written before the kernel runs.
    for (std::size_t k = names_before(tokens, i); k < tokens.size() && tokens[k].is_name(); ++k)
      if (tokens[k].text == "static" || tokens[k].text == "const") blank(host, tokens[k]);
    constexpr std::size_t kMost = 40;  // tokens of a declaration
    const std::size_t end = index_of(tokens.first(std::min(tokens.size(), i + kMost)), i, ";");
    const bool is_extern = (i > 0 && tokens[i - 1].text == "extern") || is(tokens, i + 1, "extern");
    if (is_extern && is(tokens, end, ";")) {
      host.insert(tokens[end].at, " __asm__(\"lesson_dynamic_shared\")");
      blank(host, tokens[i]);
    }
    if (is(tokens, i + 1, "alignas"))
      host.replace(tokens[i + 1].at, tokens[i + 1].text.size(), "__align__");
  }
  return host;
}

/// Whether these words before a function's name make it one of the host's alone, whatever macros
/// there are.
bool is_plainly_hosts(Tokens before) {
  constexpr std::string_view kWords[] = {"static", "inline", "extern", "__host__", "const",
                                         "float",  "double", "int",    "unsigned", "signed",
                                         "long",   "short",  "char",   "size_t",   "bool",
                                         "void",   "auto",   "*",      "&"};
  return !before.empty() && std::ranges::all_of(before, [&](const Token& token) {
    return std::ranges::count(kWords, token.text) > 0;
  });
}

/// Whether a name in a function's body is that of a function which is called, and no declaration.
bool is_call(Tokens body, std::size_t i) {
  if (!body[i].is_name() || !is(body, i + 1, "(") || i == 0) return false;
  const Token& before = body[i - 1];
  if (before.is_name()) return before.text == "return" || before.text == "else";
  return before.text != "." && before.text != ":" && !(before.text == ">" && is(body, i - 2, "-"));
}

/// Fails at code in the body of a function for the device that nvcc refuses, or no kernel can mean.
/// `hosts` are the host's functions; `uses_std` says that names of std stand alone.
void check_for_nvcc(Tokens body, const std::vector<std::string_view>& hosts, bool uses_std,
                    const Fail& fail) {
  constexpr std::string_view kStandard[] = {
      "vector", "string", "map",      "set",        "list",       "deque", "unordered_map",
      "cout",   "cerr",   "function", "unique_ptr", "shared_ptr", "queue", "stack"};
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i].text == "static") {
      const std::size_t begin = names_before(body, i),
                        end = std::min(index_of(body, i, ";"), index_of(body, i, "="));
      const Tokens statement = body.subspan(begin, end - begin);
      if (!has_one(statement, {"__shared__", "const", "constexpr"}))
        fail(body[i].at,
             "a static variable in a kernel is one for all threads of all blocks, which "
             "overwrite each other's values; leave out static, or write __shared__ for "
             "one of a block");
    }
    const bool is_standard =
        i >= 3 && body[i - 1].text == ":" && body[i - 2].text == ":" && body[i - 3].text == "std";
    if (std::ranges::count(kStandard, body[i].text) > 0 &&
        (is_standard || (uses_std && body[i].text == "vector" && is(body, i + 1, "<"))))
      fail(body[i].at, "std::" + std::string(body[i].text) +
                           " is for the host, and nvcc refuses it in a kernel");
    if (!is_call(body, i) || std::ranges::count(hosts, body[i].text) == 0) continue;
    // The name may be that of a variable here.
    bool is_own = false;
    for (std::size_t k = 1; k < body.size(); ++k)
      is_own = is_own || (body[k].text == body[i].text && body[k - 1].is_name() &&
                          body[k - 1].text != "return" && body[k - 1].text != "else");
    if (!is_own)
      fail(body[i].at, "nvcc allows no call of the __host__ function " + in_quotes(body[i].text) +
                           " from a kernel; write __device__ before that");
  }
}

/// Fails at the first initializer of shared memory, which nvcc refuses.
void check_shared(Tokens tokens, const Fail& fail) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "__shared__") continue;
    for (std::size_t k = i + 1; k < tokens.size(); ++k) {
      const std::string_view text = tokens[k].text;
      if (text == "[" || text == "(") k = closing(tokens, k);
      if (text == ";" || text == ")" || text == "struct" || text == "union" || text == "class")
        break;
      if (text == "=" || text == "{")
        fail(tokens[k].at,
             "nvcc allows no initializer for a __shared__ variable; let a thread set it, "
             "and a __syncthreads() follow");
    }
  }
}

/// The lines of a file that speak of the launch, each from that word on.
std::vector<std::string_view> launch_lines(std::string_view text) {
  constexpr std::size_t kMost = 400;  // characters of a line
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; (at = text.find("launch:", at)) != text.npos;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, std::min(end - at, kMost)));
    at = end;
  }
  return lines;
}

/// Numbers behind the first such words in a line, or before them: "16x16", "16 x 16 x 1" or "256".
std::vector<int> numbers_at(std::string_view line, const std::string& before,
                            const std::string& behind = "") {
  const std::string number = "([0-9]{1,6})(?![0-9])", next = "(?:[ \\t]*x[ \\t]*" + number;
  std::vector<int> numbers;
  std::cmatch found;
  if (std::regex_search(line.data(), line.data() + line.size(), found,
                        std::regex(before + "[ \\t]*" + number + next + next + ")?)?" + behind)))
    for (std::size_t i = 1; i < found.size() && found[i].matched; ++i)
      numbers.push_back(std::stoi(found[i].str()));
  return numbers;
}

/// A file's bytes. Pipes and devices may never end.
std::string read_text(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status about = std::filesystem::status(path, error);
  if (exists(about) && !is_regular_file(about))
    throw NoVerdictError(quoted_name(path) + " is no file that holds a kernel");
  std::ifstream file(path, std::ios::binary);
  if (!exists(about) || !file)
    throw NoVerdictError("cannot read " + quoted_name(path) + "; check its name and folder");
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(std::size_t(file.gcount()));
  return text;
}

BlockSides sides_of(const HostLaunch::Sides& all, bool is_row) {
  return BlockSides{{all.of[0], is_row ? 0 : all.of[1]}, all.of[2]};
}

/// The outputs of a block by the grid for very large pictures, for which it makes no difference how
/// it is rounded; nothing where the grid does not depend on them.
std::optional<HostLaunch::Sides> outputs_of(KernelFile& kernel, const HostLaunch& host,
                                            const HostLaunch::Numbers& far, double far_side) {
  const auto grid = host.grid(far);
  if (!grid) return std::nullopt;
  const auto with_twice = [&](int which) {
    HostLaunch::Numbers numbers = far;
    for (std::size_t i = 0; i < host.arguments.size() && i < kernel.arguments.size(); ++i) {
      const int side = kernel.arguments[i] == KernelArgument::width    ? 0
                       : kernel.arguments[i] == KernelArgument::height ? 1
                       : kernel.arguments[i] == KernelArgument::depth  ? 2
                                                                       : -1;
      // One name may stand for several sides.
      if (side >= 0 && (which < 0 || side == which))
        numbers.sides[host.arguments[i]] = 2 * far_side;
    }
    return host.grid(numbers).value_or(*grid);
  };
  const HostLaunch::Sides twice = with_twice(-1), wide = with_twice(0), high = with_twice(1);
  HostLaunch::Sides outputs;
  outputs.is_number = grid->is_number;
  for (std::size_t i = 0; i < 3; ++i) {
    const double blocks = double(grid->of[i]), more = double(twice.of[i]);
    // Some grids have one block along an axis, or as many as the device has processors.
    if (more == blocks || blocks < 1) {
      if (blocks != 1 || i == 0) return std::nullopt;
      continue;
    }
    outputs.of[i] = std::llround((more > 3 * blocks ? far_side * far_side : far_side) / blocks);
    if (outputs.of[i] < 1) return std::nullopt;
    // Blocks in a row for a picture's rows, or its columns, alone.
    if (outputs.is_number && kernel.dimensions == 2 && more <= 3 * blocks) return std::nullopt;
  }
  const auto depends = [&](const HostLaunch::Sides& on, std::size_t axis) {
    return on.of[axis] != grid->of[axis];
  };
  kernel.has_grid_exchanged = depends(high, 0) && !depends(wide, 0) && !depends(high, 1);
  return outputs;
}

/// Takes the block, its outputs and its shared memory from the file's own launch into the kernel;
/// and what else may be meant, where the launch is wrong or leaves something open.
void take_launch(KernelFile& kernel, HostLaunch& host, std::optional<BlockSides>& block,
                 std::optional<BlockSides>& outputs, std::optional<int>& shared) {
  constexpr int kUsual = 5;         // side of a mask whose size the launch is told
  constexpr double kSide = 720720;  // of a picture so large that its last blocks do not matter
  HostLaunch::Numbers far, none;
  std::vector<std::size_t> side_arguments;
  for (std::size_t i = 0; i < std::min(kernel.arguments.size(), host.arguments.size()); ++i) {
    using enum KernelArgument;
    const KernelArgument argument = kernel.arguments[i];
    if (argument == width || argument == height || argument == depth) {
      far.sides[host.arguments[i]] = kSide;
      side_arguments.push_back(i);
    }
    const bool is_radius = argument == radius;
    if (is_radius || argument == mask_width || argument == mask_height || argument == mask_depth)
      far.given.emplace(host.arguments[i], is_radius ? kUsual / 2 : kUsual);
  }
  far.sides.erase("");
  none.given = far.given;
  host.check_sides(side_arguments, far.sides);
  const bool is_plane = kernel.dimensions > 1;
  auto threads = host.block(none);
  const std::string why = host.failed();
  const auto large = host.block(far), small = host.grid(none), largest = host.grid(far);
  // <<<block, grid>>>: the second grows with the picture, or is no block.
  const bool grows = large && (large->product() > 1024) && largest && small &&
                     largest->of == small->of && small->product() > 1 && small->product() <= 1024;
  if (grows || (threads && threads->product() > 1024 && small && small->product() <= 1024)) {
    host.exchange();
    threads = host.block(none);
  }
  auto each = outputs_of(kernel, host, far, kSide);
  if (const auto bytes = host.shared_bytes(none); bytes && !shared)
    shared = int(std::clamp<std::int64_t>(*bytes, -1, 1 << 30));
  else if (!shared)
    kernel.assumed_shared = "the bytes of shared memory cannot be computed, since " +
                            in_quotes(host.failed()) + " is not known here; " +
                            std::to_string(kMostShared) +
                            " are assumed, and --shared says another number";
  if (!shared) shared = kMostShared;
  const auto add = [&](const BlockSides& of_block, const BlockSides& of_outputs, bool rows_first) {
    kernel.other_launches.push_back({of_block, of_outputs});
    kernel.other_launches.back().has_rows_first = rows_first;
  };
  const auto turned = [](const BlockSides& sides) {
    return BlockSides{{sides.height, sides.width}, sides.depth};
  };
  if (!threads) {
    kernel.assumed = "the block of " + host.function + " cannot be computed, since " +
                     in_quotes(why) + " is not known here";
    kernel.guessed = kernel.assumed +
                     ", and the results are wrong under the blocks that are usual; "
                     "--block says the block, and --outputs what it computes";
    for (const char* usual : {"16x16", "32x32", "32x8", "8x8", "32x16", "16x8", "64x4", "32x4",
                              "256", "128", "512", "1024", "64", "32", "8x8x8", "4x4x4", "8x8x4"}) {
      const BlockSides sides = *parse_launch_sides(usual);
      const int dimensions = sides.height == 0 ? 1 : sides.depth == 1 ? 2 : 3;
      const bool is_row = dimensions == 1 && kernel.dimensions < 3;
      if (dimensions != kernel.dimensions && !is_row) continue;
      if (!block) block = sides;
      add(sides, each ? sides_of(*each, is_row) : sides, false);
    }
    return;
  }
  // Numbers in both places are for threads in a row.
  const bool is_row =
      !is_plane ? threads->of[1] == 1 : threads->is_number && (!each || each->is_number);
  if (each && each->is_number && is_plane && !is_row) each.reset();
  // Threads along z may be for channels.
  if ((!each && !outputs) || (is_plane && kernel.dimensions < 3 && threads->of[2] > 1))
    kernel.guessed = "its results are wrong if a block of " + host.function + " computes " +
                     to_string(sides_of(*threads, is_row)) +
                     " outputs, which is a guess, since the grid does not tell; --outputs tells "
                     "how many a block computes";
  block = sides_of(*threads, is_row);
  const BlockSides said = each ? sides_of(*each, is_row) : *block;
  if (outputs) return;
  if (each) outputs = said;
  // A grid in numbers does not say how wide the halo is that a block's other threads load.
  for (const int halo : {8, 6, 4, 2})
    if (!each && block->width > halo && (block->height == 0 || block->height > halo))
      add(*block,
          {{block->width - halo, std::max<std::int64_t>(block->height - halo, 0)},
           std::max<std::int64_t>(block->depth - halo, 1)},
          false);
  if (is_row || !is_plane) return;
  if (kernel.has_grid_exchanged) {
    add(*block, turned(said), false);
    add(*block, said, false);
    outputs = turned(said);
    kernel.launch.has_rows_first = true;
  }
  if (block->width != block->height) {
    for (const BlockSides& of_outputs : {said, turned(said)})
      add(turned(*block), of_outputs, false);
    add(*block, turned(said), true);
  }
}

}  // namespace

const char* name_of(KernelArgument argument) {
  constexpr const char* kNames[] = {
      "in",          "out",        "mask",      "width",      "height",    "depth",  "mask_width",
      "mask_height", "mask_depth", "out_width", "out_height", "out_depth", "radius", "channels"};
  static_assert(std::size(kNames) == std::size_t(KernelArgument::channels) + 1);
  return kNames[std::size_t(argument)];
}

std::string to_string(const Extent& extent) {
  return std::to_string(extent.width) +
         (extent.height > 0 ? "x" + std::to_string(extent.height) : "");
}

std::string to_string(const BlockSides& sides) {
  return to_string(static_cast<const Extent&>(sides)) +
         (sides.depth > 1 ? "x" + std::to_string(sides.depth) : "");
}

std::optional<BlockSides> parse_launch_sides(std::string_view word) {
  const std::size_t first = word.find('x'), last = word.rfind('x');
  const auto sides = parse_sides(first == word.npos ? std::string(word) + "x0"
                                 : first == last    ? std::string(word)
                                                    : std::string(word.substr(0, last)));
  if (!sides || (first != word.npos && sides->height == 0)) return std::nullopt;
  if (first == last) return BlockSides{*sides};
  const auto planes = parse_sides(std::string(word.substr(last + 1)) + "x0");
  return planes && planes->width > 0 ? std::optional(BlockSides{*sides, planes->width})
                                     : std::nullopt;
}

BlockSides LaunchSize::threads() const {
  return {{block.width, std::max<std::int64_t>(block.height, 1)}, block.depth};
}

BlockSides LaunchSize::grid(std::int64_t width, std::int64_t height, std::int64_t depth) const {
  const auto blocks = [](std::int64_t samples, std::int64_t each) {
    return (samples + each - 1) / each;
  };
  if (outputs.height == 0) return {{blocks(width * height * depth, outputs.width), 1}};
  const BlockSides grid{{blocks(width, outputs.width), blocks(height, outputs.height)},
                        blocks(depth, outputs.depth)};
  return has_rows_first ? BlockSides{{grid.height, grid.width}, grid.depth} : grid;
}

bool KernelFile::takes(KernelArgument argument) const {
  return std::ranges::count(arguments, argument) > 0;
}

int KernelFile::line_at(std::size_t at) const {
  return int(1 + std::ranges::count(std::string_view(text).substr(0, at), '\n'));
}

void KernelFile::refuse(const std::string& why, int line, bool is_compilers) const {
  const std::string place =
      line > 0 ? printable_name(path) + ":" + std::to_string(line) : quoted_name(path);
  throw KernelRefused(place + ": " + why, line, why, is_compilers);
}

KernelFile read_kernel_file(const std::string& path, const LaunchWish& wish) {
  KernelFile kernel;
  kernel.path = path;
  kernel.text = read_text(path);
  const auto refuse = [&](const std::string& why) {
    throw KernelRefused(quoted_name(path) + " " + why, 0, why);
  };
  if (kernel.text.size() > kMostBytes) refuse("has more than 1 MiB, which is no student's kernel");
  if (kernel.text.starts_with("\xff\xfe") || kernel.text.starts_with("\xfe\xff"))
    refuse("is UTF-16; save it as UTF-8");
  // Complaints show lines of this text.
  std::string shown = kernel.text;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    char& c = shown[i];
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (is_control && std::string_view("\t\n\r\f\v").find(c) == kNowhere) refuse("is no text");
    const bool is_line_end = c == '\r' && (i + 1 == shown.size() || shown[i + 1] == '\n');
    if (is_control && c != '\t' && c != '\n' && !is_line_end) c = ' ';
  }
  const SourceText source(shown, path);
  const auto line_at = [&](std::size_t at) { return kernel.line_at(at); };
  const auto fail_at = [&](std::size_t at, const std::string& why) {
    throw KernelRefused(source.pointing_at(std::string_view(shown).substr(at, 1), why), line_at(at),
                        why);
  };

  const auto code = std::make_shared<const Code>(kernel.text);
  // For the host part of homework, which is not here.
  blank_includes(kernel.text, *code, {"wb.h", "gputk.h"});
  std::vector<Token> all = code->tokens;
  const Tokens tokens(all);
  const auto is_kernels = [&](const Token& token) {
    return token.text == "__global__" ||
           std::ranges::any_of(code->directives, [&](const Tokens line) {
             return is(line, 0, "define") && is(line, 1, token.text) && has(line, "__global__");
           });
  };
  const Function* found = nullptr;
  const std::vector<Function> functions = functions_of(tokens);
  for (const Function& function : functions) {
    const Tokens before = function.before(tokens);
    if (std::ranges::none_of(before, is_kernels)) {
      // Some of the host's functions would not compile without CUDA.
      const Tokens body = function.in_braces(tokens);
      bool is_hosts = tokens[function.name].text == "main" && function.body != function.end;
      for (std::size_t i = 0; i < body.size() && !has(before, "__device__"); ++i)
        is_hosts = is_hosts || is_sign(body, i, "<<<") || body[i].text.starts_with("cuda") ||
                   body[i].text.starts_with("wb");
      if (is_hosts && function.end < tokens.size()) {
        blank(kernel.text, tokens[function.begin].at, tokens[function.end].at + 1);
        for (std::size_t i = function.begin; i <= function.end; ++i) all[i].text = " ";
      }
      continue;
    }
    if (function.body == function.end) continue;
    if (found)
      fail_at(tokens[function.name].at,
              "a second __global__ function; leave one, so that it is clear which is tried");
    found = &function;
  }
  if (!found && std::ranges::any_of(tokens, is_kernels))
    refuse(
        "has a __global__ function that is not understood: a brace is missing before it, or it "
        "stands in a class");
  if (!found)
    refuse(
        "has no __global__ function; write one: __global__ void filter(float* in, float* out, int "
        "width, int height)");
  kernel.kernel = tokens[found->name].text;
  kernel.scope = found->scope;
  const std::shared_ptr<HostLaunch> host = HostLaunch::find(code, kernel.kernel);
  std::optional<TemplateHead> head;
  if (is(tokens, found->begin, "template")) {
    head = template_head(tokens.first(found->name), found->begin,
                         host ? host->template_arguments : std::vector<std::string>(), fail_at);
    kernel.template_arguments = head->arguments;
  }
  kernel.is_closed = found->end < tokens.size();
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i)
    if (is_sign(tokens, i, "<<<") && tokens[i + 2].at == tokens[i].at + 2)
      fail_at(tokens[i].at,
              "code for the host, which launches a kernel; leave the kernel alone in the file");

  const Tokens body = found->in_braces(tokens);
  choose_arguments(kernel, parameters_of(inside(tokens, found->open)), tokens[found->open].at, body,
                   fail_at);
  if (!kernel.takes(KernelArgument::mask)) {
    const std::vector<const Token*> arrays = constant_arrays(tokens);
    if (arrays.empty())
      refuse(
          "has no place for the mask; write __constant__ float F[5][5]; before the kernel, or give "
          "the kernel a parameter float* mask");
    kernel.constant_mask = arrays.front()->text;
    if (arrays.size() > 1)
      fail_at(arrays[1]->at,
              "a second __constant__ array; leave one, so that it is clear which holds the mask");
  }

  std::vector<std::string_view> hosts;
  for (const bool is_plain : {true, false})
    for (const Function& function : functions) {
      if (is_plainly_hosts(function.before(tokens)) != is_plain) continue;
      if (is_plain)
        hosts.push_back(tokens[function.name].text);
      else
        std::erase(hosts, tokens[function.name].text);
    }
  bool uses_std = false;
  for (std::size_t i = 2; i < tokens.size(); ++i)
    uses_std = uses_std || (tokens[i].text == "std" && tokens[i - 1].text == "namespace" &&
                            tokens[i - 2].text == "using");
  check_shared(tokens, fail_at);
  for (const Function& function : functions) {
    const Tokens before = function.before(tokens);
    const bool is_for_device = &function == found || has(before, "__device__");
    if (!is_for_device || function.end >= tokens.size()) continue;
    kernel.device_lines.emplace_back(line_at(tokens[function.begin].at),
                                     line_at(tokens[function.end].at));
    // nvcc only warns of what is for both.
    if (!has(before, "__host__"))
      check_for_nvcc(function.in_braces(tokens), hosts, uses_std, fail_at);
  }
  const auto first_line = [&](std::size_t i) {
    return i < tokens.size() ? line_at(tokens[i].at) : 0;
  };
  kernel.assembler_line =
      first_line(std::min(index_of(tokens, 0, "asm"), index_of(tokens, 0, "__asm__")));
  kernel.shared_line = first_line(index_of(tokens, 0, "__shared__"));
  kernel.has_short = has_one(tokens, {"short", "int16_t", "uint16_t", "ushort"});
  for (std::size_t i = 0; i + 2 < body.size(); ++i) {
    const auto parameter = std::ranges::find(kernel.parameters, body[i].text);
    if (parameter == kernel.parameters.end()) continue;
    const KernelArgument given =
        kernel.arguments[std::size_t(parameter - kernel.parameters.begin())];
    const bool is_side =
        given == KernelArgument::mask_width || given == KernelArgument::mask_height;
    // input_cols - kernel_cols + 1
    kernel.looks_valid = kernel.looks_valid || (is_side && is(body, i - 1, "-") &&
                                                is(body, i + 1, "+") && is(body, i + 2, "1"));
    // k < channels, x < width * channels, i % channels
    for (std::size_t k = i;
         k-- > 0 && std::string_view(";{})&?").find(body[k].text[0]) == kNowhere;)
      kernel.has_channels = kernel.has_channels || (given == KernelArgument::channels &&
                                                    (body[k].text == "<" || body[k].text == "%"));
  }
  kernel.host_text = text_for_host(kernel.text, *code, tokens, head);

  std::optional<BlockSides> block = wish.block, outputs = wish.outputs;
  std::optional<int> shared = wish.shared_bytes;
  bool clears_out = wish.clears_out;
  std::size_t said_at = 0, shared_at = 0;
  for (const std::string_view line : launch_lines(shown)) {
    const auto at = std::size_t(line.data() - shown.data());
    const auto sides_behind = [&](const std::string& words) -> std::optional<BlockSides> {
      std::vector<int> sides = numbers_at(line, words);
      if (sides.empty()) return std::nullopt;
      if (sides.size() > 2 && sides[2] != 1 && kernel.dimensions != 3)
        fail_at(at, "a block of three dimensions, and the kernel is not told a depth");
      const bool is_row = sides.size() == 1;
      sides.resize(3, 1);
      return BlockSides{{sides[0], is_row ? 0 : sides[1]}, sides[2]};
    };
    if (!wish.block && !block) {
      block = sides_behind("block ");
      if (block) said_at = at;
    }
    if (!wish.block && !outputs) {
      outputs = sides_behind("for each ");
      if (outputs) kernel.launch.line = line_at(at);
    }
    if (const auto bytes = numbers_at(line, "(?:^|[^0-9])", " bytes of shared");
        bytes.size() == 1 && !shared) {
      shared = bytes[0];
      shared_at = at;
    }
    clears_out = clears_out || line.find("out cleared") != line.npos;
  }
  if (!block && host) {
    take_launch(kernel, *host, block, outputs, shared);
    kernel.host = host;
    said_at = shared_at = host->at;
    if (outputs) kernel.launch.line = line_at(host->at);
  }
  if (!block)
    refuse(
        "does not say how it is launched; write a comment into it, '// launch: block 16x16' (256 "
        "for lines, 8x8x8 for volumes; behind it may stand ', a block for each 12x12 outputs', "
        "', 1600 bytes of shared memory' and ', out cleared'), or main() with dim3 block(16, 16) "
        "and a launch <<<grid, block>>>, or say --block 16x16");
  kernel.launch.block = *block;
  kernel.launch.outputs = outputs.value_or(*block);
  kernel.launch.shared_bytes = shared.value_or(0);
  kernel.launch.clears_out = clears_out;
  for (LaunchSize& other : kernel.other_launches) {
    other.shared_bytes = kernel.launch.shared_bytes;
    other.clears_out = clears_out;
    other.line = kernel.launch.line;
  }
  const auto refuse_launch = [&](const std::string& why, const char* option, bool is_wish) {
    if (is_wish) throw UsageError(std::string(option) + ": " + why);
    fail_at(said_at, why);
  };
  if (const int bytes = kernel.launch.shared_bytes; bytes < 0 || bytes > kMostShared) {
    const std::string why = "a block has 0 to " + std::to_string(kMostShared) +
                            " bytes of shared memory, not " + std::to_string(bytes);
    if (wish.shared_bytes) throw UsageError("--shared: " + why);
    fail_at(shared_at, why);
  }
  const BlockSides threads = kernel.launch.threads();
  if (threads.width < 1 || threads.depth < 1 ||
      threads.width * threads.height * threads.depth > 1024)
    refuse_launch("a block has 1 to 1024 threads, not " + to_string(kernel.launch.block), "--block",
                  wish.block.has_value());
  if (kernel.launch.outputs.width < 1)
    refuse_launch("a block computes one output or more", "--outputs", wish.outputs.has_value());
  return kernel;
}

}  // namespace convfilt
