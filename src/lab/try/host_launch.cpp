#include "src/lab/try/host_launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace convfilt {

using namespace tokens;

namespace {

/// Types and their bytes; 0 = not told. Those of whole numbers come first.
constexpr std::pair<std::string_view, int> kTypes[] = {
    {"int", 4},    {"unsigned", 4}, {"signed", 0}, {"long", 0},    {"short", 2},   {"uint", 0},
    {"char", 1},   {"bool", 1},     {"size_t", 8}, {"uint8_t", 1}, {"int32_t", 4}, {"uint32_t", 4},
    {"float", 4},  {"double", 8},   {"const", 0},  {"auto", 0},    {"std", 0},     {"dim3", 0},
    {"float2", 8}, {"float4", 16},  {"half", 2},   {"uchar", 1}};
constexpr std::size_t kWholeTypes = 12, kCastTypes = 18;

bool is_one_of(std::string_view word, std::size_t types) {
  return word.ends_with("_t") || std::ranges::count(std::span(kTypes).first(types), word,
                                                    &std::pair<std::string_view, int>::first) > 0;
}

bool is_type(std::string_view word) {
  return is_one_of(word, kCastTypes);
}

/// Whether these tokens are a type and nothing else.
bool is_type(Tokens all) {
  return !all.empty() && std::ranges::all_of(all, [](const Token& token) {
    return is_type(token.text) || token.text == ":";
  });
}

/// "width" of `width` or `(int)width`, "picture.width" of `picture->width`; "" of other
/// expressions.
std::string path_of(Tokens all) {
  while (all.size() > 2 && (is(all, 0, "(") || is_type(all[0].text) || is(all, 0, "static_cast"))) {
    const std::size_t open = index_of(all, 0, "(");
    if (open == all.size()) return "";
    const Tokens part = inside(all, open);
    const std::size_t close = closing(all, open);
    const bool is_cast = open == 0 && is_type(part);
    if (!is_cast && close + 1 != all.size()) return "";
    all = is_cast ? all.subspan(close + 1) : part;
  }
  std::string path;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_sign(all, i, "->")) ++i;
    const bool is_dot = is(all, i, ".") || is(all, i, ">");
    if (is_sign(all, i, "()") && i + 2 == all.size()) return path + "()";
    const bool wants_name = path.empty() || path.ends_with(".");
    if (is_dot == wants_name || (!is_dot && !all[i].is_name())) return "";
    path += is_dot ? "." : all[i].text;
  }
  return path;
}

/// Where the statement begins in which that token stands, or the bracket around it.
std::size_t begin_of_statement(Tokens all, std::size_t at) {
  int depth = 0;
  for (; at > 0; --at) {
    const std::string_view before = all[at - 1].text;
    depth += int(before == ")" || before == "]") - int(before == "(" || before == "[");
    if (depth < 0 || (depth == 0 && (before == ";" || before == "{" || before == "}"))) break;
  }
  return at;
}

/// "const float" of `const float w = width, h = height`, for both names; empty: the name is only
/// set there.
Tokens declared_at(Tokens all, std::size_t name) {
  const std::size_t begin = begin_of_statement(all, name);
  std::size_t end = begin;
  while (end < name && (all[end].is_name() || is(all, end, ":")) && !is(all, end + 1, "=") &&
         !is(all, end + 1, ",") && !is(all, end + 1, "(") && !is(all, end + 1, "["))
    ++end;
  return all.subspan(begin, end - begin);
}

/// Thrown where the value of an expression is unknown.
struct Unknown {};

}  // namespace

/// Computes expressions; a copy of the reader computes each inner one. Throws Unknown.
class HostLaunch::Reader {
 public:
  /// `steps` counts the expressions that all copies have begun.
  Reader(const HostLaunch& launch, const Numbers& with, int& steps)
      : launch_(launch), with_(with), steps_(steps) {}

  Number value_of(Tokens expression) const try {
    constexpr int kMostDepth = 60, kMostSteps = 10000;
    Reader inner = *this;
    if (++inner.depth_ > kMostDepth || ++steps_ > kMostSteps) throw Unknown();
    inner.all_ = expression;
    inner.at_ = 0;
    const Number number = inner.condition();
    if (inner.at_ != expression.size()) throw Unknown();
    return number;
  } catch (const Unknown&) {
    if (launch_.failed_.empty()) launch_.failed_ = text_of(expression);
    throw;
  }

 private:
  bool take(std::string_view sign) {
    const bool is_there = is_sign(all_, at_, sign);
    at_ += is_there ? sign.size() : 0;
    return is_there;
  }

  /// The text inside the bracket that begins here.
  Tokens take_bracket() {
    if (closing(all_, at_) >= all_.size()) throw Unknown();
    return all_.subspan(std::exchange(at_, closing(all_, at_) + 1) + 1, inside(all_, at_).size());
  }

  Number condition() {
    const Number test = binary(0);
    if (!take("?")) return test;
    const Number yes = condition();
    if (!take(":")) throw Unknown();
    const Number no = condition();
    return test.value != 0 ? yes : no;
  }

  struct Operator {
    std::string_view sign;
    int level;  ///< those of a lower one bind more loosely
  };

  /// Longer signs come before those that begin them.
  const Operator* operator_here() const {
    static constexpr Operator kAll[] = {{"||", 0}, {"&&", 1}, {"==", 2}, {"!=", 2}, {"<=", 3},
                                        {">=", 3}, {"<<", 4}, {">>", 4}, {"<", 3},  {">", 3},
                                        {"+", 5},  {"-", 5},  {"*", 6},  {"/", 6},  {"%", 6}};
    const auto* found = std::ranges::find_if(
        kAll, [&](const Operator& one) { return is_sign(all_, at_, one.sign); });
    return found == std::end(kAll) ? nullptr : found;
  }

  Number binary(int least) {
    Number left = factor();
    for (const Operator* one = operator_here(); one && one->level >= least; one = operator_here()) {
      at_ += one->sign.size();
      left = result_of(left, one->sign, binary(one->level + 1));
    }
    return left;
  }

  static Number result_of(const Number& left, std::string_view sign, const Number& right) {
    const double a = left.value, b = right.value;
    const bool is_whole = left.is_whole && right.is_whole;
    if (sign == "+") return {a + b, is_whole};
    if (sign == "-") return {a - b, is_whole};
    if (sign == "*") return {a * b, is_whole};
    if (sign == "/" || sign == "%") {
      if (b == 0) throw Unknown();
      return {sign == "%" ? std::fmod(a, b) : is_whole ? std::trunc(a / b) : a / b, is_whole};
    }
    if (sign == "<<") return {std::ldexp(a, int(b)), true};
    if (sign == ">>") return {std::floor(std::ldexp(a, -int(b))), true};
    const bool is_true = sign == "||"   ? a != 0 || b != 0
                         : sign == "&&" ? a != 0 && b != 0
                         : sign == "==" ? a == b
                         : sign == "!=" ? a != b
                         : sign == "<=" ? a <= b
                         : sign == ">=" ? a >= b
                         : sign == "<"  ? a < b
                                        : a > b;
    return {double(is_true), true};
  }

  static Number as(Number number, Tokens type) {
    if (has(type, "auto") || type.empty()) return number;
    if (has(type, "float") || has(type, "double")) return {number.value, false};
    if (has(type, "bool")) return {double(number.value != 0), true};
    if (std::ranges::none_of(type, [](auto& word) { return is_one_of(word.text, kWholeTypes); }))
      throw Unknown();
    return {std::trunc(number.value), true};
  }

  Number factor() {
    if (take("+")) return factor();
    if (take("-")) {
      const Number number = factor();
      return {-number.value, number.is_whole};
    }
    if (take("!")) return {double(factor().value == 0), true};
    if (is(all_, at_, "(")) {
      const Tokens part = take_bracket();
      return is_type(part) ? as(factor(), part) : value_of(part);
    }
    if (at_ == all_.size()) throw Unknown();
    const Token token = all_[at_++];
    if (is_digit(token.text[0]) || (token.text.size() > 1 && token.text[0] == '.'))
      return literal(std::string(token.text));
    if (!token.is_name()) throw Unknown();
    if (token.text == "static_cast" && take("<")) {
      const std::size_t begin = at_;
      at_ = index_of(all_, at_, ">");
      const Tokens type = all_.subspan(begin, at_ - begin);
      if (!take(">")) throw Unknown();
      return as(factor(), type);
    }
    if (token.text == "std" && take("::")) return factor();
    if (token.text == "true" || token.text == "false") return {double(token.text == "true"), true};
    if (is(all_, at_, "(") && !is(all_, at_ + 1, ")")) return call(token.text);
    std::size_t end = at_;
    while (is(all_, end, ".") || is_sign(all_, end, "->")) end += is(all_, end, ".") ? 2 : 3;
    if (is_sign(all_, end, "()")) end += 2;
    end = std::min(end, all_.size());
    const Tokens whole = all_.subspan(at_ - 1, end - at_ + 1);
    at_ = end;
    return named(token.text, path_of(whole), whole.back().text);
  }

  static Number literal(const std::string& text) {
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (!is_hexadecimal && text.find_first_of("eEbB'") != text.npos) throw Unknown();
    if (text.find('.') != text.npos) return {std::atof(text.c_str()), false};
    return {double(std::strtoll(text.c_str(), nullptr, 0)), true};
  }

  Number named(std::string_view name, const std::string& path, std::string_view last) {
    if (parameters_)
      if (const auto found = parameters_->find(path); found != parameters_->end())
        return found->second;
    if (const auto found = with_.sides.find(path); found != with_.sides.end())
      return {found->second, true};
    if (launch_.changed_.contains(name)) throw Unknown();
    if (path != name) {
      const auto found = launch_.sides_.find(name);
      const std::size_t axis = std::size_t(last[0] - 'x');
      if (found == launch_.sides_.end() || axis > 2) throw Unknown();
      return axis < found->second.size() ? value_of(found->second[axis]) : Number{1, true};
    }
    const auto given = with_.given.find(name);
    if (const auto found = launch_.numbers_.find(name); found != launch_.numbers_.end()) {
      // A name that stands for itself, as in n = n * 2, is not known.
      if (std::ranges::count(open_, name) > 0) throw Unknown();
      Reader inner = *this;
      inner.open_.push_back(name);
      inner.parameters_ = nullptr;
      try {
        return as(inner.value_of(found->second.value), found->second.type);
      } catch (const Unknown&) {
      }
    }
    if (given == with_.given.end()) throw Unknown();
    return {given->second, true};
  }

  /// Bytes of `float` or `float[5][5]`; those of variables are not known.
  Number size_of(Tokens type) {
    if (is(type, 0, "const")) type = type.subspan(1);
    if (is(type, 0, "unsigned") && type.size() > 1) type = type.subspan(1);
    double bytes = 0;
    for (const auto& [name, of_type] : kTypes)
      if (is(type, 0, name)) bytes = of_type;
    for (std::size_t i = 1; i < type.size() && bytes > 0; i = closing(type, i) + 1) {
      if (!is(type, i, "[") || closing(type, i) >= type.size()) throw Unknown();
      bytes *= value_of(inside(type, i)).value;
    }
    if (bytes == 0) throw Unknown();
    return {bytes, true};
  }

  Number call(std::string_view name) {
    const Tokens type = all_.subspan(at_ - 1, 1), part = take_bracket();
    if (name == "sizeof") return size_of(part);
    std::vector<Number> numbers;
    for (const Tokens one : parts_of(part)) numbers.push_back(value_of(one));
    const auto found = launch_.functions_.find(name);
    if (found != launch_.functions_.end() && !found->second.value.empty())
      return value_of(found->second, numbers);
    const std::size_t count = numbers.size();
    const double first = count > 0 ? numbers[0].value : 0;
    if (count == 1 && name.starts_with("ceil")) return {std::ceil(first), false};
    if (count == 1 && name.starts_with("floor")) return {std::floor(first), false};
    if (count == 1 && is_type(name)) return as(numbers[0], type);
    if (count != 2 || numbers[1].value == 0) throw Unknown();
    if (name == "min" || name == "max")
      return (first < numbers[1].value) == (name == "min") ? numbers[0] : numbers[1];
    // Such as cdiv(width, TILE), in whatever name, of a header.
    if (found == launch_.functions_.end() && first > numbers[1].value)
      for (const std::string_view word :
           {"div", "ceil", "block", "up", "Div", "Ceil", "Block", "Up"})
        if (name.find(word) != name.npos) return {std::ceil(first / numbers[1].value), true};
    throw Unknown();
  }

  /// The result of a function of the file for these numbers.
  Number value_of(const Definition& function, const std::vector<Number>& numbers) {
    if (function.parameters.size() != numbers.size()) throw Unknown();
    std::map<std::string_view, Number> parameters;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Tokens whole = function.parameters[i];
      if (whole.empty()) throw Unknown();
      parameters[whole.back().text] = as(numbers[i], whole.first(whole.size() - 1));
    }
    Reader inner = *this;
    inner.parameters_ = &parameters;
    return as(inner.value_of(function.value), function.type);
  }

  const HostLaunch& launch_;
  const Numbers& with_;
  Tokens all_;
  std::size_t at_ = 0;
  const std::map<std::string_view, Number>* parameters_ = nullptr;  ///< of a function
  std::vector<std::string_view> open_;  ///< names whose values are being computed
  int depth_ = 0;
  int& steps_;
};

std::optional<HostLaunch::Number> HostLaunch::value_of(Tokens expression,
                                                       const Numbers& with) const {
  int steps = 0;
  try {
    return Reader(*this, with, steps).value_of(expression);
  } catch (const Unknown&) {
    return std::nullopt;
  }
}

std::vector<Tokens> HostLaunch::components_of(Tokens expression) const {
  if (expression.size() == 1) {
    const auto found = sides_.find(expression[0].text);
    if (found != sides_.end()) return found->second;
  } else if (is(expression, 0, "dim3") && expression.size() > 2) {
    return parts_of(expression.subspan(2, expression.size() - 3));
  } else if (is(expression, 0, "{")) {
    return parts_of(expression.subspan(1, expression.size() - 2));
  }
  return {expression};
}

void HostLaunch::check_sides(const std::vector<std::size_t>& places, const Values& sides) {
  const std::set<std::string_view> of_grid = names_behind(components_of(sizes_[0]), sides);
  for (const std::size_t i : places) {
    if (i >= passed_.size() || is_constant(i)) continue;
    std::set<std::string_view> names;
    const auto number = numbers_.find(arguments[i]);
    if (arguments[i].empty())
      names = {""};
    else if (number != numbers_.end())
      names = names_behind({number->second.value}, sides);
    for (const std::string_view name : names)
      if (name.empty() || sides.contains(name) ||
          (numbers_.contains(name) && of_grid.contains(name) && !constants_.contains(name)))
        unclear_ = name.empty() ? text_of(passed_[i]) : std::string(name);
  }
}

std::optional<HostLaunch::Sides> HostLaunch::sides_of(std::size_t which,
                                                      const Numbers& numbers) const {
  failed_.clear();
  if (which >= sizes_.size()) return std::nullopt;
  const Tokens expression = sizes_[which];
  const std::vector<Tokens> parts = components_of(expression);
  if (which == 0 && !numbers.sides.empty()) failed_ = unclear_;
  if (!failed_.empty() || parts.empty() || parts.size() > 3) return std::nullopt;
  if (expression.size() == 1 && changed_.contains(expression[0].text)) {
    failed_ = text_of(expression) + ", which is set more than once";
    return std::nullopt;
  }
  Sides sides;
  sides.is_number = parts.size() == 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = value_of(parts[i], numbers);
    if (!number) return std::nullopt;
    sides.of[i] = std::int64_t(number->value);
  }
  return sides;
}

std::optional<std::int64_t> HostLaunch::shared_bytes(const Numbers& numbers) const {
  failed_.clear();
  if (sizes_.size() < 3) return 0;
  const auto number = value_of(sizes_[2], numbers);
  return number ? std::optional(std::int64_t(number->value)) : std::nullopt;
}

std::optional<double> HostLaunch::argument(std::size_t i) const {
  const auto number = i < passed_.size() ? value_of(passed_[i], {}) : std::nullopt;
  return number ? std::optional(number->value) : std::nullopt;
}

bool HostLaunch::is_constant(std::size_t i) const {
  return i < passed_.size() && std::ranges::all_of(passed_[i], [&](const Token& token) {
           return !token.is_name() || is_type(token.text) || constants_.contains(token.text);
         });
}

std::set<std::string_view> HostLaunch::names_behind(std::vector<Tokens> parts,
                                                    const Values& sides) const {
  std::set<std::string_view> names;
  while (!parts.empty()) {
    const Tokens part = parts.back();
    parts.pop_back();
    for (const Token& token : part) {
      if (!token.is_name() || !names.insert(token.text).second || sides.contains(token.text))
        continue;
      for (const Definitions* all : {&numbers_, &functions_})
        if (const auto found = all->find(token.text); found != all->end())
          parts.push_back(found->second.value);
      if (const auto found = sides_.find(token.text); found != sides_.end())
        parts.insert(parts.end(), found->second.begin(), found->second.end());
    }
  }
  return names;
}

bool HostLaunch::has_ceil(std::size_t axis) const {
  std::vector<Tokens> parts = components_of(sizes_[0]);
  if (axis < parts.size()) parts = {parts[axis]};
  const std::set<std::string_view> names = names_behind(parts, {});
  return names.contains("ceil") || names.contains("ceilf");
}

std::size_t HostLaunch::grid_at() const {
  const std::vector<Tokens> parts = components_of(sizes_[0]);
  return parts.empty() || parts[0].empty() ? at : parts[0][0].at;
}

std::shared_ptr<HostLaunch> HostLaunch::find(std::shared_ptr<const Code> code,
                                             std::string_view kernel) {
  const std::shared_ptr<HostLaunch> found(new HostLaunch);
  HostLaunch& launch = *found;
  launch.code_ = std::move(code);
  const Tokens all = launch.all_ = launch.code_->tokens;
  std::size_t name = 0, open = 0;
  for (std::size_t i = 1; i + 3 < all.size(); ++i) {
    if (!is_sign(all, i, "<<<")) continue;
    std::size_t at = i - 1;
    if (is(all, at, ">"))
      while (at > 0 && !is(all, at, "<")) --at;
    if (at > 0 && !is(all, at, kernel)) --at;
    if (!is(all, at, kernel)) continue;
    ++launch.times;
    // A launch of one block, to warm up, says little.
    if (open > 0 && !(is(all, open, "1") && is(all, open + 1, ","))) continue;
    name = at;
    open = i + 3;
  }
  std::size_t close = open;
  while (close + 2 < all.size() && !is_sign(all, close, ">>>")) ++close;
  if (open == 0 || close == open) return nullptr;
  launch.at = all[name].at;
  launch.sizes_ = parts_of(all.subspan(open, close - open));
  if (is(all, close + 3, "(")) launch.passed_ = parts_of(inside(all, close + 3));
  for (const Tokens part : launch.passed_) launch.arguments.push_back(path_of(part));
  launch.find_macros();
  launch.find_functions();
  launch.find_numbers(name);
  if (is(all, name + 1, "<") && !is(all, name + 2, "<"))
    for (const Tokens part : parts_of(all.subspan(name + 2, open - 4 - name - 2))) {
      const auto number = launch.value_of(part, {});
      std::string text;
      for (const Token& token : part) text += (text.empty() ? "" : " ") + std::string(token.text);
      launch.template_arguments.push_back(number ? std::to_string(std::int64_t(number->value))
                                                 : text);
    }
  return found;
}

/// `#define NAME value` and `#define NAME(a, b) value`. A name with several values, such as those
/// behind #if and #else, is not known.
void HostLaunch::find_macros() {
  for (const Tokens line : code_->directives) {
    if (line.size() < 2) continue;
    const std::string name(line[1].text);
    if (is(line, 0, "undef")) {
      functions_.erase(name);
      numbers_.erase(name);
    }
    if (!is(line, 0, "define")) continue;
    if (numbers_.contains(name) || functions_.contains(name)) changed_.insert(name);
    constants_.insert(name);
    const bool is_function =
        is(line, 2, "(") && line[1].text.data() + name.size() == line[2].text.data();
    const std::size_t close = is_function ? closing(line, 2) : 1;
    if (close >= line.size()) continue;
    const Tokens value = line.subspan(close + 1);
    if (is_function)
      functions_.insert_or_assign(name, Definition{value, {}, parts_of(inside(line, 2))});
    else
      numbers_.insert_or_assign(name, Definition{value, {}, {}});
  }
}

/// `int up(int a, int b) { return ...; }`, and lambdas that do as much.
void HostLaunch::find_functions() {
  const Tokens all = all_;
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    if (!is(all, i, "(")) continue;
    const std::size_t close = closing(all, i);
    std::size_t body = close + 1, name = i - 1;
    while (body < all.size() && (all[body].is_name() || is(all, body, "-") || is(all, body, ">")))
      ++body;
    if (!is(all, body, "{")) continue;
    const bool is_lambda = is(all, name, "]");
    if (is_lambda) {
      while (name > 0 && !is(all, name, "[")) --name;
      if (name < 2 || !is(all, name - 1, "=")) continue;
      name -= 2;
    }
    if (!all[name].is_name()) continue;
    const std::size_t begin = begin_of_statement(all, name);
    Definition function{{}, {}, parts_of(inside(all, i))};
    function.type =
        is_lambda ? all.subspan(close + 1, body - close - 1) : all.subspan(begin, name - begin);
    const std::size_t end = std::min(closing(all, body), all.size());
    if (is(all, body + 1, "return") && end > body + 3 &&
        end_of_expression(all, body + 2) + 1 == end)
      function.value = all.subspan(body + 2, end - body - 3);
    const auto [at, is_new] = functions_.try_emplace(std::string(all[name].text), function);
    if (!is_new && !constants_.contains(all[name].text)) at->second.value = {};
  }
}

/// A variable, or one of an enum, that is set there.
void HostLaunch::add_number(std::size_t at, Tokens value, std::size_t launch) {
  static constexpr Token kInt{0, "int"};
  const std::string_view name = all_[at].text;
  if (numbers_.contains(name)) return;
  Tokens type = declared_at(all_, at);
  const std::size_t begin = begin_of_statement(all_, at);
  bool is_constant = has(type, "const") || has(type, "constexpr");
  if (type.empty() && begin > 0 && is(all_, begin - 1, "{")) {
    const std::size_t first = begin_of_statement(all_, begin - 1);
    is_constant = has(all_.subspan(first, begin - first), "enum");
    if (is_constant) type = Tokens(&kInt, 1);
  }
  // `int width; width = 640;`
  for (std::size_t i = std::min(at, launch); i-- > 0 && type.empty();)
    if (is(all_, i, name)) type = declared_at(all_, i);
  numbers_.emplace(name, Definition{value, type.empty() ? all_.subspan(at, 1) : type, {}});
  if (is_constant) constants_.emplace(name);
}

/// The names that are set again between these tokens, counted up, or passed by their address.
void HostLaunch::find_changes(std::size_t first, std::size_t name) {
  std::map<std::string, int, std::less<>> times;
  for (std::size_t i = first; i < name; ++i) {
    if (!all_[i].is_name()) continue;
    std::size_t owner = i;  // of grid.x, grid
    while (owner > 1 && is(all_, owner - 1, ".")) owner -= 2;
    const auto is_twice = [&](std::size_t k) {
      return is_sign(all_, k, "++") || is_sign(all_, k, "--");
    };
    const bool is_set = is(all_, i + 1, "=") && !is(all_, i + 2, "=");
    const bool is_counted =
        is_twice(i + 1) || (owner > 1 && is_twice(owner - 2)) ||
        (is(all_, i + 2, "=") &&
         std::string_view("+-*/%").find(all_[i + 1].text) != std::string_view::npos) ||
        is_sign(all_.first(owner), owner - 2, "(&") || is_sign(all_.first(owner), owner - 2, ",&");
    const std::string side = owner == i ? "" : "." + std::string(all_[i].text);
    if (is_counted || (is_set && ++times[std::string(all_[owner].text) + side] > 1))
      changed_.emplace(all_[owner].text);
  }
}

/// The definition nearest before the launch counts first, then the one before that; a macro comes
/// before all.
void HostLaunch::find_numbers(std::size_t name) {
  static constexpr Token kOne{0, "1"};
  const Tokens all = all_;
  // The beginning of the function that launches.
  std::size_t first = name;
  int depth = 0;
  for (std::size_t i = name; i-- > 0;) {
    if (is(all, i, "}")) ++depth;
    if (!is(all, i, "{") || --depth >= 0) continue;
    depth = 0;
    if (i > 0 && is(all, i - 1, ")")) first = i;
  }
  function = "the launch";
  int brackets = 0;
  for (std::size_t i = first; i-- > 1;) {
    brackets += int(is(all, i, ")")) - int(is(all, i, "("));
    if (brackets > 0) continue;
    if (is(all, i, "(") && all[i - 1].is_name()) function = std::string(all[i - 1].text) + "()";
    break;
  }
  find_changes(first, name);

  for (std::size_t i = name; i-- > 1;) {
    const bool sets =
        is(all, i, "=") && all[i - 1].is_name() && !is(all, i + 1, "=") && i + 1 < name;
    const std::size_t end = sets ? end_of_expression(all, i + 1) : i + 1;
    const Tokens value = all.subspan(i + 1, end - i - 1);
    if (const std::string_view axis = all[i - 1].text;
        sets && i > 2 && is(all, i - 2, ".") && (axis == "x" || axis == "y" || axis == "z")) {
      // The sides of `dim3 grid;` one by one. An empty one is set further up, or is 1.
      auto& sides = sides_[std::string(all[i - 3].text)];
      sides.resize(3);
      if (Tokens& side = sides[std::size_t(axis[0] - 'x')]; side.empty()) side = value;
    } else if (sets && !is(all, i - 2, ".") && !is(all, i - 2, ">")) {
      if (is(value, 0, "dim3") || is(value, 0, "{"))
        sides_.try_emplace(std::string(all[i - 1].text), components_of(value));
      else
        add_number(i - 1, value, name);
    }
    if (!is(all, i - 1, "dim3")) continue;
    for (std::size_t k = i; k < all.size() && all[k].is_name(); ++k) {
      if (!is(all, k + 1, "(") && !is(all, k + 1, "{")) break;
      const std::size_t close = closing(all, k + 1);
      if (close >= all.size()) break;
      sides_.try_emplace(std::string(all[k].text), parts_of(inside(all, k + 1)));
      k = close + 1;
      if (!is(all, k, ",")) break;
    }
  }
  for (auto& [named, sides] : sides_)
    for (Tokens& side : sides)
      if (side.empty()) side = Tokens(&kOne, 1);
}

}  // namespace convfilt
