#include "src/lab/try/host_launch.hpp"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace convfilt {

using namespace tokens;

namespace {

/// Parts between commas, outside of brackets.
std::vector<Tokens> parts_of(Tokens all) {
  std::vector<Tokens> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is(all, i, "(") || is(all, i, "{") || is(all, i, "["))
      i = std::min(closing(all, i), all.size() - 1);
    if (!is(all, i, ",")) continue;
    parts.push_back(all.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (begin < all.size()) parts.push_back(all.subspan(begin));
  return parts;
}

bool is_whole_type(std::string_view word) {
  for (const std::string_view type :
       {"int", "unsigned", "signed", "long", "short", "uint", "char", "bool"})
    if (word == type) return true;
  return word.ends_with("_t");
}

bool is_type(std::string_view word) {
  for (const std::string_view type : {"float", "double", "const", "auto", "std", "dim3"})
    if (word == type) return true;
  return is_whole_type(word);
}

/// "width" of `width` or `(int)width`, "picture.width" of `picture->width`; "" of other
/// expressions.
std::string path_of(Tokens all) {
  while (all.size() > 2 && (is(all, 0, "(") || is_type(all[0].text) || is(all, 0, "static_cast"))) {
    std::size_t open = 0;
    while (open < all.size() && !is(all, open, "(")) ++open;
    if (open == all.size()) return "";
    const std::size_t close = closing(all, open);
    const Tokens inside = all.subspan(open + 1, std::min(close, all.size()) - open - 1);
    const bool is_cast =
        open == 0 && std::ranges::all_of(inside, [](auto& token) { return is_type(token.text); });
    if (!is_cast && close + 1 != all.size()) return "";
    all = is_cast ? all.subspan(close + 1) : inside;
  }
  std::string path;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is(all, i, "-") && is(all, i + 1, ">")) ++i;
    const bool is_dot = is(all, i, ".") || is(all, i, ">");
    const bool is_call = is(all, i, "(") && i + 2 == all.size() && is(all, i + 1, ")");
    if (is_call) return path + "()";
    const bool wants_name = path.empty() || path.ends_with(".");
    if (is_dot == wants_name) return "";
    if (!is_dot && !all[i].is_name()) return "";
    path += is_dot ? "." : all[i].text;
  }
  return path;
}

/// Where an expression ends: at a comma, a semicolon, or a bracket that was opened before it.
std::size_t end_of_expression(Tokens all, std::size_t i) {
  for (; i < all.size(); ++i) {
    if (is(all, i, "(") || is(all, i, "{") || is(all, i, "[")) {
      i = closing(all, i);
      continue;
    }
    for (const std::string_view end : {",", ";", ")", "}", "]"})
      if (is(all, i, end)) return i;
  }
  return all.size();
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

}  // namespace

/// Computes an expression.
class HostLaunch::Reader {
 public:
  Reader(const HostLaunch& launch, Tokens all) : launch_(launch), all_(all) {}

  std::optional<Number> read() {
    const auto number = condition();
    return at_ == all_.size() ? number : std::nullopt;
  }

 private:
  using Maybe = std::optional<Number>;

  bool take(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (at_ + i >= all_.size() || all_[at_ + i].text != text.substr(i, 1)) return false;
    at_ += text.size();
    return true;
  }

  Maybe condition() {
    const Maybe test = binary(0);
    if (!test || !take("?")) return test;
    const Maybe yes = condition();
    if (!yes || !take(":")) return std::nullopt;
    const Maybe no = condition();
    return !no ? no : test->value != 0 ? yes : no;
  }

  /// Operators of a level bind more loosely than those behind it.
  Maybe binary(std::size_t level) {
    static const std::vector<std::vector<std::string_view>> kLevels = {
        {"||"},       {"&&"},     {"==", "!="},   {"<=", ">=", "<", ">"},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
    if (level == kLevels.size()) return factor();
    Maybe left = binary(level + 1);
    while (left) {
      std::string_view sign;
      for (const std::string_view one : kLevels[level]) {
        const bool is_shift = one.size() == 1 && is(all_, at_, one) && is(all_, at_ + 1, one) &&
                              (one == "<" || one == ">");
        if (sign.empty() && !is_shift && take(one)) sign = one;
      }
      if (sign.empty()) return left;
      const Maybe right = binary(level + 1);
      if (!right) return right;
      left = result_of(*left, sign, *right);
    }
    return left;
  }

  static Maybe result_of(const Number& left, std::string_view sign, const Number& right) {
    const double a = left.value, b = right.value;
    const bool is_whole = left.is_whole && right.is_whole;
    if (sign == "+") return Number{a + b, is_whole};
    if (sign == "-") return Number{a - b, is_whole};
    if (sign == "*") return Number{a * b, is_whole};
    if (sign == "/" && b != 0) return Number{is_whole ? std::trunc(a / b) : a / b, is_whole};
    if (sign == "%" && b != 0) return Number{std::fmod(a, b), is_whole};
    if (sign == "<<") return Number{std::ldexp(a, int(b)), true};
    if (sign == ">>") return Number{std::floor(std::ldexp(a, -int(b))), true};
    if (sign == "/" || sign == "%") return std::nullopt;
    const bool is_true = sign == "||"   ? a != 0 || b != 0
                         : sign == "&&" ? a != 0 && b != 0
                         : sign == "==" ? a == b
                         : sign == "!=" ? a != b
                         : sign == "<=" ? a <= b
                         : sign == ">=" ? a >= b
                         : sign == "<"  ? a < b
                                        : a > b;
    return Number{double(is_true), true};
  }

  static Maybe as(Maybe number, Tokens type) {
    if (!number || has(type, "auto") || type.empty()) return number;
    if (has(type, "float") || has(type, "double")) return Number{number->value, false};
    if (has(type, "bool")) return Number{double(number->value != 0), true};
    const bool is_known =
        std::ranges::any_of(type, [](const Token& token) { return is_whole_type(token.text); });
    return is_known ? Maybe({std::trunc(number->value), true}) : std::nullopt;
  }

  Maybe factor() {
    if (take("-")) {
      Maybe number = factor();
      if (number) number->value = -number->value;
      return number;
    }
    if (take("+")) return factor();
    if (take("!")) {
      const Maybe number = factor();
      return number ? Maybe({double(number->value == 0), true}) : number;
    }
    if (is(all_, at_, "(")) {
      const std::size_t close = closing(all_, at_);
      if (close >= all_.size()) return std::nullopt;
      const Tokens inside = all_.subspan(at_ + 1, close - at_ - 1);
      at_ = close + 1;
      if (!inside.empty() && std::ranges::all_of(inside, [](const Token& token) {
            return is_type(token.text) || token.text == ":";
          }))
        return as(factor(), inside);
      return launch_.value_of(inside);
    }
    if (at_ == all_.size()) return std::nullopt;
    const Token token = all_[at_++];
    if (is_digit(token.text[0])) return literal(token);
    if (!token.is_name()) return std::nullopt;
    if (token.text == "static_cast" && take("<")) {
      const std::size_t begin = at_;
      while (at_ < all_.size() && !is(all_, at_, ">")) ++at_;
      const Tokens type = all_.subspan(begin, at_ - begin);
      return take(">") ? as(factor(), type) : std::nullopt;
    }
    if (token.text == "std" && take("::")) return factor();
    if (token.text == "true" || token.text == "false")
      return Number{double(token.text == "true"), true};
    if (is(all_, at_, "(") && !is(all_, at_ + 1, ")")) return call(token.text);
    std::size_t end = at_;
    while (end < all_.size() &&
           (is(all_, end, ".") || (is(all_, end, "-") && is(all_, end + 1, ">"))))
      end += is(all_, end, ".") ? 2 : 3;
    if (is(all_, end, "(") && is(all_, end + 1, ")")) end += 2;
    const std::string path = path_of(all_.subspan(at_ - 1, std::min(end, all_.size()) - at_ + 1));
    const std::string_view behind = end > at_ ? all_[end - 1].text : "";
    at_ = std::min(end, all_.size());
    return named(token.text, path, behind);
  }

  Maybe literal(const Token& token) {
    const std::string text(token.text);
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (!is_hexadecimal && text.find_first_of("eEbB") != text.npos) return std::nullopt;
    Number number{double(std::strtoll(text.c_str(), nullptr, 0)), true};
    const bool is_real = take(".");
    if (is_real && at_ < all_.size() && is_word(all_[at_].text[0]))
      number.value = std::atof((text + "." + std::string(all_[at_++].text)).c_str());
    number.is_whole = !is_real;
    return number;
  }

  Maybe named(std::string_view name, const std::string& path, std::string_view behind) {
    if (launch_.parameters_)
      if (const auto found = launch_.parameters_->find(path); found != launch_.parameters_->end())
        return found->second;
    const Numbers& with = *launch_.with_;
    if (const auto found = with.sides.find(path); found != with.sides.end())
      return Number{found->second, true};
    if (launch_.changed_.contains(name)) return std::nullopt;
    if (path != name) {
      const auto found = launch_.sides_.find(name);
      const std::size_t axis = behind.empty() ? 3 : std::size_t(behind[0] - 'x');
      if (found == launch_.sides_.end() || axis > 2) return std::nullopt;
      return axis < found->second.size() ? launch_.value_of(found->second[axis]) : Number{1, true};
    }
    const auto given = with.given.find(name);
    if (const auto found = launch_.numbers_.find(name); found != launch_.numbers_.end()) {
      // A name that stands for itself, as in n = n * 2, is not known.
      if (std::ranges::count(launch_.open_, name) > 0) return std::nullopt;
      launch_.open_.push_back(name);
      const auto* before = std::exchange(launch_.parameters_, nullptr);
      const Maybe number = as(launch_.value_of(found->second.expression), found->second.type);
      launch_.parameters_ = before;
      launch_.open_.pop_back();
      if (number || given == with.given.end()) return number;
    }
    return given != with.given.end() ? Maybe({given->second, true}) : std::nullopt;
  }

  /// Bytes of `float` or `float[5][5]`; those of variables are not known.
  Maybe size_of(Tokens type) const {
    static const std::map<std::string_view, double> kBytes = {
        {"char", 1},   {"bool", 1},    {"short", 2},   {"int", 4},      {"float", 4},
        {"double", 8}, {"size_t", 8},  {"uint8_t", 1}, {"uint32_t", 4}, {"int32_t", 4},
        {"float2", 8}, {"float4", 16}, {"half", 2},    {"uchar", 1},    {"unsigned", 4}};
    if (is(type, 0, "const")) type = type.subspan(1);
    if (is(type, 0, "unsigned") && type.size() > 1) type = type.subspan(1);
    const auto found = type.empty() ? kBytes.end() : kBytes.find(type[0].text);
    if (found == kBytes.end()) return std::nullopt;
    double bytes = found->second;
    for (std::size_t i = 1; i < type.size(); ++i) {
      const std::size_t end = is(type, i, "[") ? closing(type, i) : type.size();
      if (end >= type.size()) return std::nullopt;
      const Maybe count = launch_.value_of(type.subspan(i + 1, end - i - 1));
      if (!count) return count;
      bytes *= count->value;
      i = end;
    }
    return Number{bytes, true};
  }

  Maybe call(std::string_view name) {
    const std::size_t close = closing(all_, at_);
    if (close >= all_.size()) return std::nullopt;
    const Tokens inside = all_.subspan(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    if (name == "sizeof") return size_of(inside);
    std::vector<Number> numbers;
    for (const Tokens part : parts_of(inside)) {
      const Maybe number = launch_.value_of(part);
      if (!number) return number;
      numbers.push_back(*number);
    }
    const auto found = launch_.functions_.find(name);
    if (found != launch_.functions_.end() && !found->second.value.empty()) {
      const Function& function = found->second;
      if (function.parameters.size() != numbers.size()) return std::nullopt;
      std::map<std::string_view, Number> parameters;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Tokens whole = function.parameters[i];
        const Maybe number =
            whole.empty() ? Maybe() : as(numbers[i], whole.first(whole.size() - 1));
        if (!number) return number;
        parameters[whole.back().text] = *number;
      }
      const auto* before = std::exchange(launch_.parameters_, &parameters);
      const Maybe number = launch_.value_of(function.value);
      launch_.parameters_ = before;
      return as(number, function.type);
    }
    const std::size_t count = numbers.size();
    if (count == 1 && name.starts_with("ceil")) return Number{std::ceil(numbers[0].value), false};
    if (count == 1 && name.starts_with("floor")) return Number{std::floor(numbers[0].value), false};
    if (count == 1 && is_type(name))
      return as(numbers[0], all_.subspan(close - inside.size() - 2, 1));
    if (count != 2 || numbers[1].value == 0) return std::nullopt;
    if (name == "min" || name == "max")
      return (numbers[0].value < numbers[1].value) == (name == "min") ? numbers[0] : numbers[1];
    // Such as cdiv(width, TILE), in whatever name, of a header.
    if (found == launch_.functions_.end() && numbers[0].value > numbers[1].value)
      for (const std::string_view part :
           {"div", "ceil", "block", "up", "Div", "Ceil", "Block", "Up"})
        if (name.find(part) != name.npos)
          return Number{std::ceil(numbers[0].value / numbers[1].value), true};
    return std::nullopt;
  }

  const HostLaunch& launch_;
  Tokens all_;
  std::size_t at_ = 0;
};

std::optional<HostLaunch::Number> HostLaunch::value_of(Tokens expression) const {
  constexpr int kMostDepth = 60, kMostSteps = 10000;
  if (depth_ == 0) steps_ = 0;
  if (depth_ > kMostDepth || ++steps_ > kMostSteps) return std::nullopt;
  ++depth_;
  const auto number = Reader(*this, expression).read();
  --depth_;
  if (!number && failed_.empty()) failed_ = text_of(expression);
  return number;
}

std::string HostLaunch::text_of(Tokens expression) const {
  if (expression.empty()) return "";
  std::string text;
  const char* const end = expression.back().text.data() + expression.back().text.size();
  for (const char* c = expression.front().text.data(); c < end; ++c)
    if (const bool is_blank = *c == ' ' || *c == '\n' || *c == '\r' || *c == '\t'; !is_blank)
      text += *c;
    else if (!text.ends_with(' '))
      text += ' ';
  return text;
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
      names = names_behind({number->second.expression}, sides);
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
  with_ = &numbers;
  const Tokens expression = sizes_[which];
  const std::vector<Tokens> parts = components_of(expression);
  if (which == 0 && !numbers.sides.empty() && !unclear_.empty()) {
    failed_ = unclear_;
    return std::nullopt;
  }
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  const bool is_changed = expression.size() == 1 && changed_.contains(expression[0].text);
  if (is_changed) failed_ = text_of(expression) + ", which is set more than once";
  Sides sides;
  sides.is_number = parts.size() == 1;
  for (std::size_t i = 0; i < parts.size() && !is_changed; ++i) {
    const auto number = value_of(parts[i]);
    if (!number) return std::nullopt;
    sides.of[i] = std::int64_t(number->value);
  }
  return is_changed ? std::nullopt : std::optional(sides);
}

std::optional<std::int64_t> HostLaunch::shared_bytes(const Numbers& numbers) const {
  failed_.clear();
  if (sizes_.size() < 3) return 0;
  with_ = &numbers;
  const auto number = value_of(sizes_[2]);
  return number ? std::optional(std::int64_t(number->value)) : std::nullopt;
}

std::optional<double> HostLaunch::argument(std::size_t i) const {
  const Numbers none;
  with_ = &none;
  const auto number = i < passed_.size() ? value_of(passed_[i]) : std::nullopt;
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
      if (const auto number = numbers_.find(token.text); number != numbers_.end())
        parts.push_back(number->second.expression);
      if (const auto called = functions_.find(token.text); called != functions_.end())
        parts.push_back(called->second.value);
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
  const char* const begin = parts.front().front().text.data();
  const bool is_in_code = begin >= code_.data() && begin < code_.data() + code_.size();
  return is_in_code ? std::size_t(begin - code_.data()) : at;
}

void HostLaunch::exchange() {
  std::swap(sizes_[0], sizes_[1]);
  is_exchanged = true;
}

std::shared_ptr<HostLaunch> HostLaunch::find(const std::string& code, std::string_view kernel) {
  const std::shared_ptr<HostLaunch> found(new HostLaunch);
  HostLaunch& launch = *found;
  launch.code_ = code;
  launch.tokens_ = tokens_of(launch.code_);
  launch.take_macros();
  const Tokens all(launch.tokens_);
  std::size_t name = 0, open = 0;
  for (std::size_t i = 0; i + 3 < all.size(); ++i) {
    if (!is(all, i, "<") || !is(all, i + 1, "<") || !is(all, i + 2, "<") || i == 0) continue;
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
  if (open == 0) return nullptr;
  launch.at = all[name].at;
  std::size_t close = open;
  while (close + 2 < all.size() &&
         !(is(all, close, ">") && is(all, close + 1, ">") && is(all, close + 2, ">")))
    ++close;
  launch.sizes_ = parts_of(all.subspan(open, close - open));
  if (is(all, close + 3, "("))
    launch.passed_ = parts_of(all.subspan(close + 4, closing(all, close + 3) - close - 4));
  for (const Tokens part : launch.passed_) launch.arguments.push_back(path_of(part));
  launch.find_functions();
  launch.find_numbers(name);
  const Numbers none;
  launch.with_ = &none;
  if (is(all, name + 1, "<") && !is(all, name + 2, "<"))
    for (const Tokens part : parts_of(all.subspan(name + 2, open - 4 - name - 2))) {
      const auto number = launch.value_of(part);
      std::string text;
      for (const Token& token : part) text += (text.empty() ? "" : " ") + std::string(token.text);
      launch.template_arguments.push_back(number ? std::to_string(std::int64_t(number->value))
                                                 : text);
    }
  return found;
}

/// `#define NAME value` and `#define NAME(a, b) value`, and takes all directives away. A name with
/// several values, such as those behind #if and #else, is not known.
void HostLaunch::take_macros() {
  std::vector<Token> left;
  const std::vector<Token>& all = tokens_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is(all, i, "#")) {
      left.push_back(all[i]);
      continue;
    }
    std::size_t end = std::min(code_.find('\n', all[i].at), code_.size());
    while (end < code_.size() && code_.find_last_not_of(" \t\r", end - 1) != code_.npos &&
           code_[code_.find_last_not_of(" \t\r", end - 1)] == '\\')
      end = std::min(code_.find('\n', end + 1), code_.size());
    macros_.push_back(tokens_of(std::string_view(code_).substr(all[i].at, end - all[i].at)));
    std::erase_if(macros_.back(), [](const Token& token) { return token.text == "\\"; });
    while (i + 1 < all.size() && all[i + 1].at < end) ++i;
    const Tokens line(macros_.back());
    if (line.size() < 3) continue;
    const std::string name(line[2].text);
    if (is(line, 1, "undef")) {
      functions_.erase(name);
      numbers_.erase(name);
    }
    if (!is(line, 1, "define")) continue;
    if (numbers_.contains(name) || functions_.contains(name)) changed_.insert(name);
    constants_.insert(name);
    const bool is_function = is(line, 3, "(") && line[3].at == line[2].at + line[2].text.size();
    const std::size_t close = is_function ? closing(line, 3) : 2;
    if (close >= line.size()) continue;
    const Tokens value = line.subspan(close + 1);
    if (is_function)
      functions_.insert_or_assign(name, Function{parts_of(line.subspan(4, close - 4)), value, {}});
    else
      numbers_.insert_or_assign(name, Value{value, {}});
  }
  tokens_ = left;
}

/// `int up(int a, int b) { return ...; }`, and lambdas that do as much.
void HostLaunch::find_functions() {
  const Tokens all(tokens_);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!is(all, i, "(") || i == 0) continue;
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
    Function function{parts_of(all.subspan(i + 1, close - i - 1)), {}, {}};
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
  static const std::vector<Token> kInt = tokens_of("int");
  const Tokens all(tokens_);
  const std::string_view name = all[at].text;
  if (numbers_.contains(name)) return;
  Tokens type = declared_at(all, at);
  const std::size_t begin = begin_of_statement(all, at);
  bool is_constant = has(type, "const") || has(type, "constexpr");
  if (type.empty() && begin > 0 && is(all, begin - 1, "{")) {
    const std::size_t first = begin_of_statement(all, begin - 1);
    is_constant = has(all.subspan(first, begin - first), "enum");
    if (is_constant) type = kInt;
  }
  // `int width; width = 640;`
  for (std::size_t i = std::min(at, launch); i-- > 0 && type.empty();)
    if (is(all, i, name)) type = declared_at(all, i);
  numbers_.emplace(name, Value{value, type.empty() ? all.subspan(at, 1) : type});
  if (is_constant) constants_.emplace(name);
}

/// The definition nearest before the launch counts first, then the one before that; a macro comes
/// before all.
void HostLaunch::find_numbers(std::size_t name) {
  static const std::vector<Token> kOne = tokens_of("1");
  const Tokens all(tokens_);
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

  std::map<std::string, int, std::less<>> times;
  for (std::size_t i = first; i < name; ++i) {
    const auto is_twice = [&](std::size_t k, const char* sign) {
      return is(all, k, sign) && is(all, k + 1, sign);
    };
    std::size_t owner = i;  // of grid.x, grid
    while (owner > 1 && is(all, owner - 1, ".")) owner -= 2;
    if (!all[i].is_name()) continue;
    const bool is_set = is(all, i + 1, "=") && !is(all, i + 2, "=");
    const bool is_counted =
        is_twice(i + 1, "+") || is_twice(i + 1, "-") ||
        (owner > 1 && (is_twice(owner - 2, "+") || is_twice(owner - 2, "-"))) ||
        (is(all, i + 2, "=") && i + 1 < all.size() &&
         std::string_view("+-*/%").find(all[i + 1].text[0]) != std::string_view::npos) ||
        (owner > 1 && is(all, owner - 1, "&") &&
         (is(all, owner - 2, "(") || is(all, owner - 2, ",")));
    const std::string side = owner == i ? "" : "." + std::string(all[i].text);
    if (is_counted || (is_set && ++times[std::string(all[owner].text) + side] > 1))
      changed_.emplace(all[owner].text);
  }

  for (std::size_t i = name; i-- > 1;) {
    const bool sets =
        is(all, i, "=") && all[i - 1].is_name() && !is(all, i + 1, "=") && i + 1 < name;
    if (const std::string_view axis = all[i - 1].text;
        sets && i > 2 && is(all, i - 2, ".") && (axis == "x" || axis == "y" || axis == "z")) {
      // The sides of `dim3 grid;` one by one. An empty one is set further up, or is 1.
      auto& sides = sides_[std::string(all[i - 3].text)];
      sides.resize(3);
      if (Tokens& side = sides[std::size_t(axis[0] - 'x')]; side.empty())
        side = all.subspan(i + 1, end_of_expression(all, i + 1) - i - 1);
    } else if (sets && !is(all, i - 2, ".") && !is(all, i - 2, ">")) {
      const Tokens value = all.subspan(i + 1, end_of_expression(all, i + 1) - i - 1);
      if (is(value, 0, "dim3") || is(value, 0, "{"))
        sides_.try_emplace(std::string(all[i - 1].text), components_of(value));
      else
        add_number(i - 1, value, name);
    }
    if (!is(all, i - 1, "dim3")) continue;
    for (std::size_t k = i; k < all.size() && all[k].is_name(); ++k) {
      if (!is(all, k + 1, "(") && !is(all, k + 1, "{")) break;
      const std::size_t end = closing(all, k + 1);
      if (end >= all.size()) break;
      sides_.try_emplace(std::string(all[k].text), parts_of(all.subspan(k + 2, end - k - 2)));
      k = end + 1;
      if (!is(all, k, ",")) break;
    }
  }
  for (auto& [named, sides] : sides_)
    for (Tokens& side : sides)
      if (side.empty()) side = kOne;
}

}  // namespace convfilt
