#include "src/lab/check/report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/base/suggest.hpp"
#include "src/base/table.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kMostOthers = 3;

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string place_text(int x, int y) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ")";
}

/// A part of a convention: its name, what it is, and whether that goes without saying.
struct Part {
  std::string name, text;
  bool is_usual = true;
};

std::string text_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::none: return "none";
    case Rounding::half_even: return "to nearest, halves to even";
    case Rounding::half_up: return "to nearest, halves up";
    case Rounding::half_away: return "to nearest, halves away from 0";
    case Rounding::toward_0: return "toward 0";
    case Rounding::down: break;
  }
  return "down";
}

std::string text_of(Range range, const Ending& end) {
  const std::string most = number_text(end.most), middle = number_text(end.middle);
  switch (range) {
    case Range::clamped: return "clamped to 0.." + most;
    case Range::kept: return "as they are";
    case Range::wrapped: return "modulo " + number_text(end.most + 1);
    case Range::absolute: return "absolute, clamped to " + most;
    case Range::raised: return middle + " added, clamped to 0.." + most;
    case Range::centred: break;
  }
  return "half of each added to " + middle + ", clamped to 0.." + most;
}

std::vector<Part> parts_of(const Conventions& all, const Convention& c) {
  const TurnedMask& turn = all.turns[std::size_t(c.turn)];
  const Scaling& scaling = all.scalings[std::size_t(c.scaling)];
  const bool shifts = c.shift_x != 0 || c.shift_y != 0;
  return {{"border", all.edges[std::size_t(c.edge)].name, turn.mode == Mode::valid},
          {"mode", std::string(name_of(turn.mode)), turn.mode == Mode::same},
          {"mask", turn.name, turn.name == "as written"},
          {"weights", scaling.name, scaling.name == "as written"},
          {"shift", shifts ? "shifted by " + place_text(c.shift_x, c.shift_y) : "none", !shifts},
          {"channels", c.exchanges ? "red and blue exchanged" : "in order", !c.exchanges},
          {"rounding", text_of(c.rounding),
           c.rounding == Rounding::none || c.rounding == Rounding::half_even},
          {"range", text_of(c.range, all.ending(c)), c.range == all.ranges[0]}};
}

/// For each part what else would give the same picture.
std::vector<std::vector<std::string>> others_of(const Conventions& all, const Agreement& agreement) {
  const std::vector<Part> parts = parts_of(all, agreement.convention);
  std::vector<std::vector<std::string>> others(parts.size());
  for (const Convention& equal : agreement.equal) {
    const std::vector<Part> also = parts_of(all, equal);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (also[k].text != parts[k].text && std::ranges::count(others[k], also[k].text) == 0)
        others[k].push_back(also[k].text);
  }
  return others;
}

std::string share_text(std::int64_t part, std::int64_t of) {
  return std::to_string(part) + " of " + std::to_string(of) + " samples (" +
         number_text(100 * double(part) / double(of)) + " %)";
}

}  // namespace

std::string amount_text(const Conventions& all, double amount) {
  if (all.in.depth() == Depth::f32) return number_text(amount);
  return number_text(amount) + (amount == 1 ? " step" : " steps");
}

std::string agreement_line(const Conventions& all, const Agreement& agreement) {
  const Deviation& off = agreement.deviation;
  std::string line;
  for (const Part& part : parts_of(all, agreement.convention))
    if (!part.is_usual)
      line += (part.name == "rounding" ? "rounded " : "") + part.text + ", ";
  if (off.largest == 0) return line + "equal";
  return line + amount_text(all, off.largest) + " at " + place_text(off.x, off.y);
}

std::string agreement_text(const std::string& name, const Conventions& all,
                           const Agreement& agreement) {
  const Deviation& off = agreement.deviation;
  Table table;
  table.words = 2;
  const auto add = [&](const std::string& head, const std::string& text) {
    table.lines.push_back({{head, text}, ""});
  };
  const std::vector<Part> parts = parts_of(all, agreement.convention);
  const auto others = others_of(all, agreement);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    std::vector<std::string> also = others[k];
    if (also.size() > kMostOthers) {
      also.resize(kMostOthers);
      also.emplace_back("others");
    }
    add(parts[k].name, parts[k].text + (also.empty() ? "" : "; or " + listed(also, "or")));
  }
  add("different", share_text(off.different, off.samples) + ", by " +
                       amount_text(all, off.mean) + " in the mean");
  if (off.largest > 0)
    add("largest", amount_text(all, off.largest) + " at " + place_text(off.x, off.y) +
                       (all.channels > 1 ? " of channel " + std::to_string(off.channel) : "") +
                       ": " + number_text(off.is) + " instead of " + number_text(off.should));
  return name + ": " + agreement_line(all, agreement) + "\n" + as_text(table);
}

std::string agreement_json(const std::string& status, const Conventions& all,
                           const Agreement& agreement) {
  const Deviation& off = agreement.deviation;
  const Convention& convention = agreement.convention;
  nlohmann::ordered_json json{{"status", status}, {"summary", agreement_line(all, agreement)}};
  const std::vector<Part> parts = parts_of(all, convention);
  const auto others = others_of(all, agreement);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    json[parts[k].name] = parts[k].text;
    if (!others[k].empty()) json["also"][parts[k].name] = others[k];
  }
  json["shift"] = {convention.shift_x, convention.shift_y};
  json["samples"] = off.samples;
  json["different"] = off.different;
  json["mean"] = off.mean;
  json["largest"] = off.largest;
  json["at"] = {off.x, off.y, off.channel};
  json["is"] = off.is;
  json["should_be"] = off.should;
  return json.dump(2) + "\n";
}

}  // namespace convfilt
