#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/lab/check/check.hpp"

namespace convfilt {
namespace {

constexpr const char* kRoundings[] = {"none",
                                      "to nearest, halves to even",
                                      "to nearest, halves up",
                                      "to nearest, halves away from 0",
                                      "toward 0",
                                      "down"};
constexpr const char* kRanges[] = {"not limited",         "clamped",
                                   "wrapped around",      "absolute, clamped",
                                   "added to the middle", "half of it added to the middle"};

std::string number_text(double value) {
  return with_format("%.6g", value);
}

std::string place_text(int x, int y) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ")";
}

/// A part of a convention. In the line it is left out where it is usual.
struct Part {
  std::string name, text;
  bool is_usual;
  std::vector<std::string> others{};  ///< that would give the same picture
};

std::vector<Part> parts_of(const Conventions& all, const Convention& c) {
  const TurnedMask& turn = all.turns[std::size_t(c.turn)];
  const bool shifts = c.shift_x != 0 || c.shift_y != 0;
  return {{"border", all.edges[std::size_t(c.edge)].name, turn.mode == Mode::valid},
          {"mode", std::string(name_of(turn.mode)), turn.mode == Mode::same},
          {"mask", turn.name, turn.name == "as written"},
          {"weights", all.scalings[std::size_t(c.scaling)].name, c.scaling == 0},
          {"shift", shifts ? place_text(c.shift_x, c.shift_y) : "none", !shifts},
          {"channels", c.exchanges ? "red and blue exchanged" : "in order", !c.exchanges},
          {"rounding", kRoundings[int(c.rounding)], c.rounding <= Rounding::half_even},
          {"range", kRanges[int(c.range)], c.range <= Range::clamped}};
}

std::vector<Part> parts_of(const Conventions& all, const Agreement& agreement) {
  std::vector<Part> parts = parts_of(all, agreement.convention);
  for (const Convention& equal : agreement.equal) {
    const std::vector<Part> also = parts_of(all, equal);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (also[k].text != parts[k].text && std::ranges::count(parts[k].others, also[k].text) == 0)
        parts[k].others.push_back(also[k].text);
  }
  return parts;
}

}  // namespace

std::string amount_text(const Conventions& all, double amount) {
  return number_text(amount) + (all.is_float() ? "" : amount == 1 ? " step" : " steps");
}

std::string agreement_line(const Conventions& all, const Agreement& agreement) {
  const Deviation& off = agreement.deviation;
  std::string line;
  for (const Part& part : parts_of(all, agreement)) {
    if (part.is_usual) continue;
    if (part.name != "border" && part.name != "mode" && part.name != "mask" &&
        part.name != "channels")
      line += part.name + " ";
    line += part.text +
            (part.name == "border" && part.others.size() == 1 ? " or " + part.others[0] : "") +
            ", ";
  }
  return line + (off.largest == 0
                     ? "equal"
                     : amount_text(all, off.largest) + " at " + place_text(off.x, off.y));
}

std::string agreement_text(const std::string& name, const Conventions& all,
                           const Agreement& agreement) {
  const Deviation& off = agreement.deviation;
  Table table;
  table.words = 2;
  const auto add = [&](const std::string& head, const std::string& text) {
    table.lines.push_back({{head, text}, ""});
  };
  for (const Part& part : parts_of(all, agreement))
    add(part.name,
        part.text + (part.others.empty() ? "" : "; the same is: " + listed(part.others, "or")));
  add("different", std::to_string(off.different) + " of " + std::to_string(off.samples) +
                       " samples, " +
                       number_text(100 * double(off.different) / double(off.samples)) + " %");
  if (off.largest > 0) {
    add("mean", amount_text(all, off.mean));
    add("largest", amount_text(all, off.largest) + " at " + place_text(off.x, off.y) +
                       (all.in.channels() > 1 ? ", channel " + std::to_string(off.channel) : "") +
                       ": " + number_text(off.is) + " instead of " + number_text(off.should));
  }
  return name + ": " + agreement_line(all, agreement) + "\n" + as_text(table);
}

std::string agreement_json(const std::string& status, const Conventions& all,
                           const Agreement& agreement) {
  const Deviation& off = agreement.deviation;
  nlohmann::ordered_json json{{"status", status}, {"summary", agreement_line(all, agreement)}};
  for (const Part& part : parts_of(all, agreement)) json[part.name] = part.text;
  for (const Part& part : parts_of(all, agreement))
    if (!part.others.empty()) json["same"][part.name] = part.others;
  json["shift"] = {agreement.convention.shift_x, agreement.convention.shift_y};
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
