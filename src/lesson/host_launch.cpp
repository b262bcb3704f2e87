#include "src/lesson/host_launch.hpp"

#include <cmath>
#include <cstdlib>

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

bool is_type(std::string_view word) {
  for (const std::string_view type : {"int", "unsigned", "long", "short", "float", "double",
                                      "size_t", "uint", "const", "auto", "std", "dim3"})
    if (word == type) return true;
  return word.ends_with("_t");
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

}  // namespace

/// Computes an expression.
class HostLaunch::Reader {
 public:
  Reader(const HostLaunch& launch, Tokens all) : launch_(launch), all_(all) {}

  std::optional<Number> read() {
    const auto number = sum();
    return at_ == all_.size() ? number : std::nullopt;
  }

 private:
  using Maybe = std::optional<Number>;

  bool take(std::string_view text) {
    if (!is(all_, at_, text)) return false;
    ++at_;
    return true;
  }

  Maybe sum() {
    Maybe left = product();
    while (left && (is(all_, at_, "+") || is(all_, at_, "-"))) {
      const double sign = all_[at_++].text == "+" ? 1 : -1;
      const Maybe right = product();
      if (!right) return right;
      left = Number{left->value + sign * right->value, left->is_whole && right->is_whole};
    }
    return left;
  }

  Maybe product() {
    Maybe left = factor();
    while (left && (is(all_, at_, "*") || is(all_, at_, "/") || is(all_, at_, "%"))) {
      const std::string_view sign = all_[at_++].text;
      const Maybe right = factor();
      if (!right || (sign != "*" && right->value == 0)) return std::nullopt;
      const bool is_whole = left->is_whole && right->is_whole;
      const double ratio = sign == "*" ? 0 : left->value / right->value;
      left = Number{sign == "*"   ? left->value * right->value
                    : sign == "%" ? std::fmod(left->value, right->value)
                    : is_whole    ? std::trunc(ratio)
                                  : ratio,
                    is_whole};
    }
    return left;
  }

  Maybe factor() {
    if (take("-")) {
      Maybe number = factor();
      if (number) number->value = -number->value;
      return number;
    }
    if (take("+")) return factor();
    if (is(all_, at_, "(")) {
      const std::size_t close = closing(all_, at_);
      if (close >= all_.size()) return std::nullopt;
      const Tokens inside = all_.subspan(at_ + 1, close - at_ - 1);
      at_ = close + 1;
      if (!inside.empty() && std::ranges::all_of(inside, [](const Token& token) {
            return is_type(token.text) || token.text == ":";
          })) {
        Maybe number = factor();
        if (number && (has(inside, "float") || has(inside, "double"))) number->is_whole = false;
        return number;
      }
      return launch_.value_of(inside);
    }
    if (at_ == all_.size()) return std::nullopt;
    const Token token = all_[at_++];
    if (is_digit(token.text[0])) {
      Number number{double(std::strtoll(std::string(token.text).c_str(), nullptr, 0)), true};
      if (take(".")) {
        number.is_whole = false;
        if (at_ < all_.size() && is_digit(all_[at_].text[0])) {
          const std::string digits(all_[at_++].text);
          number.value = std::atof((std::string(token.text) + "." + digits).c_str());
        }
      }
      return number;
    }
    if (!token.is_name()) return std::nullopt;
    if (token.text == "static_cast" && take("<")) {
      bool is_real = false;
      while (at_ < all_.size() && !take(">")) {
        is_real = is_real || is(all_, at_, "float") || is(all_, at_, "double");
        ++at_;
      }
      Maybe number = factor();
      if (number && is_real) number->is_whole = false;
      return number;
    }
    if (token.text == "std" && take(":") && take(":")) return factor();
    if (is(all_, at_, "(")) return call(token.text);
    if (take(".")) {
      if (at_ == all_.size()) return std::nullopt;
      const auto found = launch_.sides_.find(token.text);
      const std::size_t axis = std::size_t(all_[at_++].text[0] - 'x');
      if (found == launch_.sides_.end() || axis > 2) return std::nullopt;
      return axis < found->second.size() ? launch_.value_of(found->second[axis]) : Number{1, true};
    }
    if (std::ranges::count(launch_.sought_, token.text) == 0)
      if (const auto found = launch_.numbers_.find(token.text); found != launch_.numbers_.end()) {
        // A name that stands for itself, as in n = n * 2, is not known.
        if (std::ranges::count(launch_.open_, token.text) > 0) return std::nullopt;
        launch_.open_.push_back(token.text);
        const Maybe number = launch_.value_of(found->second);
        launch_.open_.pop_back();
        if (number || launch_.given.contains(token.text) == false) return number;
      }
    if (const auto found = launch_.given.find(token.text); found != launch_.given.end())
      return Number{found->second, true};
    if (launch_.unknown_ == 0) return std::nullopt;
    return Number{launch_.unknown_, true};
  }

  Maybe call(std::string_view name) {
    const std::size_t close = closing(all_, at_);
    if (close >= all_.size()) return std::nullopt;
    const Tokens inside = all_.subspan(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    if (name == "sizeof") return Number{has(inside, "double") ? 8.0 : 4.0, true};
    std::vector<double> numbers;
    for (const Tokens part : parts_of(inside)) {
      const Maybe number = launch_.value_of(part);
      if (!number) return number;
      numbers.push_back(number->value);
    }
    if (numbers.size() == 1 && name.starts_with("ceil"))
      return Number{std::ceil(numbers[0]), false};
    if (numbers.size() == 1 && name.starts_with("floor"))
      return Number{std::floor(numbers[0]), false};
    if (numbers.size() == 1 && is_type(name)) return Number{numbers[0], name != "float"};
    if (numbers.size() != 2 || numbers[1] == 0) return std::nullopt;
    if (name == "min") return Number{std::min(numbers[0], numbers[1]), true};
    if (name == "max") return Number{std::max(numbers[0], numbers[1]), true};
    // Such as cdiv(width, TILE), in whatever name.
    for (const std::string_view part : {"div", "ceil", "block", "up", "Div", "Ceil", "Block", "Up"})
      if (name.find(part) != name.npos) return Number{std::ceil(numbers[0] / numbers[1]), true};
    return std::nullopt;
  }

  const HostLaunch& launch_;
  Tokens all_;
  std::size_t at_ = 0;
};

std::optional<HostLaunch::Number> HostLaunch::value_of(Tokens expression) const {
  constexpr int kMostDepth = 60;
  if (depth_ > kMostDepth) return std::nullopt;
  ++depth_;
  const auto number = Reader(*this, expression).read();
  --depth_;
  return number;
}

std::optional<std::vector<double>> HostLaunch::components_of(Tokens expression) const {
  std::vector<Tokens> parts = {expression};
  if (expression.size() == 1) {
    const auto found = sides_.find(expression[0].text);
    if (found != sides_.end()) parts = found->second;
  } else if (is(expression, 0, "dim3") && expression.size() > 2) {
    parts = parts_of(expression.subspan(2, expression.size() - 3));
  } else if (is(expression, 0, "{")) {
    parts = parts_of(expression.subspan(1, expression.size() - 2));
  }
  std::vector<double> numbers;
  for (const Tokens part : parts) {
    const auto number = value_of(part);
    if (!number) return std::nullopt;
    numbers.push_back(std::trunc(number->value));
  }
  return numbers;
}

std::optional<HostLaunch> HostLaunch::find(std::string_view code, std::string_view kernel) {
  HostLaunch launch;
  launch.tokens_ = tokens_of(code);
  const Tokens all(launch.tokens_);
  std::size_t name = 0, open = 0;
  for (std::size_t i = 0; i + 3 < all.size() && open == 0; ++i) {
    if (!is(all, i, "<") || !is(all, i + 1, "<") || !is(all, i + 2, "<") || i == 0) continue;
    name = i - 1;
    if (is(all, name, ">"))
      while (name > 0 && !is(all, name, "<")) --name;
    if (name > 0 && !is(all, name, kernel)) --name;
    if (is(all, name, kernel)) open = i + 3;
  }
  if (open == 0) return std::nullopt;
  launch.at = all[name].at;
  std::size_t close = open;
  while (close + 2 < all.size() &&
         !(is(all, close, ">") && is(all, close + 1, ">") && is(all, close + 2, ">")))
    ++close;
  launch.sizes_ = parts_of(all.subspan(open, close - open));
  if (is(all, close + 3, "("))
    for (const Tokens part : parts_of(all.subspan(close + 4, closing(all, close + 3) - close - 4)))
      launch.arguments.emplace_back(part.empty() || !part.back().is_name() ? "" : part.back().text);

  // What stands nearest before the launch counts first, then what stands before that, then macros.
  static const std::vector<Token> kOne = tokens_of("1");
  for (std::size_t i = name; i-- > 1;) {
    const bool sets =
        is(all, i, "=") && all[i - 1].is_name() && !is(all, i + 1, "=") && i + 1 < name;
    if (const std::string_view axis = all[i - 1].text;
        sets && i > 2 && is(all, i - 2, ".") && (axis == "x" || axis == "y" || axis == "z")) {
      // The sides of `dim3 grid;` one by one. An empty one is set further up, or is 1.
      auto& sides = launch.sides_[std::string(all[i - 3].text)];
      sides.resize(3);
      if (Tokens& side = sides[std::size_t(axis[0] - 'x')]; side.empty())
        side = all.subspan(i + 1, end_of_expression(all, i + 1) - i - 1);
    } else if (sets) {
      const Tokens value = all.subspan(i + 1, end_of_expression(all, i + 1) - i - 1);
      if (is(value, 0, "dim3") || is(value, 0, "{"))
        launch.sides_.try_emplace(
            std::string(all[i - 1].text),
            parts_of(value.subspan(is(value, 0, "{") ? 1 : 2,
                                   value.size() - (is(value, 0, "{") ? 2 : 3))));
      else
        launch.numbers_.try_emplace(std::string(all[i - 1].text), value);
    }
    if (!is(all, i - 1, "dim3")) continue;
    for (std::size_t k = i; k < all.size() && all[k].is_name(); ++k) {
      if (!is(all, k + 1, "(") && !is(all, k + 1, "{")) break;
      const std::size_t end = closing(all, k + 1);
      if (end >= all.size()) break;
      launch.sides_.try_emplace(std::string(all[k].text),
                                parts_of(all.subspan(k + 2, end - k - 2)));
      k = end + 1;
      if (!is(all, k, ",")) break;
    }
  }
  for (auto& [named, sides] : launch.sides_)
    for (Tokens& side : sides)
      if (side.empty()) side = kOne;
  for (std::size_t i = 0; i + 2 < all.size(); ++i) {
    if (!is(all, i, "#") || !is(all, i + 1, "define")) continue;
    const std::size_t begin = all[i + 2].at + all[i + 2].text.size();
    if (begin < code.size() && code[begin] == '(') continue;
    launch.macros_.push_back(
        tokens_of(code.substr(begin, std::min(code.find('\n', begin), code.size()) - begin)));
    launch.numbers_.insert_or_assign(std::string(all[i + 2].text), launch.macros_.back());
  }
  if (is(all, name + 1, "<") && !is(all, name + 2, "<"))
    for (const Tokens part : parts_of(all.subspan(name + 2, open - 4 - name - 2))) {
      const auto number = launch.value_of(part);
      std::string text;
      for (const Token& token : part) text += (text.empty() ? "" : " ") + std::string(token.text);
      launch.template_arguments.push_back(number ? std::to_string(std::int64_t(number->value))
                                                 : text);
    }
  return launch;
}

std::optional<HostLaunch::Sides> HostLaunch::block() const {
  if (sizes_.size() < 2) return std::nullopt;
  const auto numbers = components_of(sizes_[1]);
  if (!numbers || numbers->empty() || numbers->size() > 3) return std::nullopt;
  Sides sides;
  for (std::size_t i = 0; i < numbers->size(); ++i) sides.of[i] = std::int64_t((*numbers)[i]);
  sides.is_number = numbers->size() == 1;
  return sides;
}

std::optional<HostLaunch::Sides> HostLaunch::outputs(const std::vector<std::string>& names,
                                                     bool is_plane) const {
  // Of sides that are so long, what rounds to whole blocks makes no difference.
  constexpr double kSide = 720720;
  HostLaunch large = *this;
  large.sought_ = names;
  large.unknown_ = kSide;
  const auto grid = sizes_.empty() ? std::nullopt : large.components_of(sizes_[0]);
  large.unknown_ = 2 * kSide;
  const auto twice = grid ? large.components_of(sizes_[0]) : std::nullopt;
  if (!twice || grid->empty() || grid->size() > 3) return std::nullopt;
  Sides sides;
  sides.is_number = grid->size() == 1;
  const double outputs = sides.is_number && is_plane ? kSide * kSide : kSide;
  for (std::size_t i = 0; i < grid->size(); ++i) {
    const double blocks = (*grid)[i];
    // Some grids have one block along an axis, or as many as the device has processors.
    if (blocks == (*twice)[i] || blocks < 1) {
      if (blocks != 1 || i == 0) return std::nullopt;
      continue;
    }
    sides.of[i] = std::llround(outputs / blocks);
  }
  return sides;
}

std::optional<std::int64_t> HostLaunch::shared_bytes() const {
  if (sizes_.size() < 3) return 0;
  const auto number = value_of(sizes_[2]);
  return number ? std::optional(std::int64_t(number->value)) : std::nullopt;
}

}  // namespace convfilt
