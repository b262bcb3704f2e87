#include <cmath>
#include <nlohmann/json.hpp>

#include "src/compare/report.hpp"

namespace convfilt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;

/// JSON has no infinities.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json("infinite");
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const Problem& problem) {
  const Mask& mask = problem.mask;
  return {{"width_px", problem.width},
          {"height_px", problem.height},
          {"channels", problem.channels},
          {"depth", name_of(problem.depth)},
          {"mask", mask.name},
          {"mask_width", mask.width},
          {"mask_height", mask.height},
          {"border", name_of(problem.border)},
          {"border_value", problem.border_value},
          {"mode", name_of(problem.mode)}};
}

Json json_of(const DeviceFacts& facts) {
  const bool measured = facts.copy_ms > 0;
  return {{"device", name_of(facts.location)},
          {"name", facts.peak.name},
          {"threads", facts.peak.threads > 0 ? Json(facts.peak.threads) : Json()},
          {"copy_ms", measured ? Json(facts.copy_ms) : Json()},
          {"copy_bytes_per_s", measured ? Json(facts.bytes_per_second) : Json()},
          {"fp32_peak_flop_per_s", facts.peak.fp32 > 0 ? Json(facts.peak.fp32) : Json()}};
}

void add_times(Json& json, const std::optional<Times>& t) {
  const auto set = [&](const char* key, auto value_of) {
    json[key] = t ? Json(value_of(*t)) : Json();
  };
  set("kernel_ms_median", [](const Times& t) { return Json(t.ms.median); });
  set("kernel_ms_iqr", [](const Times& t) { return Json(t.ms.iqr); });
  set("runs", [](const Times& t) { return Json(t.runs); });
  set("pixels_per_s", [](const Times& t) { return Json(t.pixels_per_second); });
  set("bytes_per_s", [](const Times& t) { return Json(t.bytes_per_second); });
  set("time_in_copies", [](const Times& t) { return Json(t.copies); });
  set("direct_flop_per_byte", [](const Times& t) { return Json(t.intensity); });
  set("direct_flop_per_s", [](const Times& t) { return Json(t.flops); });
  set("roofline_share", [](const Times& t) { return Json(t.roofline); });
  set("roofline_bound", [](const Times& t) { return Json(t.memory_bound ? "memory" : "fp32"); });
  set("speed_over_basic", [](const Times& t) { return or_null(t.basic); });
  set("time_over_best", [](const Times& t) { return or_null(t.best); });
}

void add_reads(Json& json, const std::optional<Counted>& r) {
  const auto set = [&](const char* key, auto value_of) {
    json[key] = r ? Json(value_of(*r)) : Json();
  };
  set("global_reads_per_output", [](const Counted& r) { return Json(r.global_reads); });
  set("shared_reads_per_output", [](const Counted& r) { return Json(r.shared_reads); });
  set("ghost_cells_per_output", [](const Counted& r) { return Json(r.ghost_cells); });
  set("atomic_adds_per_output", [](const Counted& r) { return Json(r.atomic_adds); });
  set("taps_per_access", [](const Counted& r) { return r.reuse > 0 ? Json(r.reuse) : Json(); });
  set("barriers_per_block", [](const Counted& r) { return Json(r.barriers); });
}

void add_accuracy(Json& json, const std::optional<Accuracy>& a, const Problem& problem) {
  const auto set = [&](const char* key, auto value_of) {
    json[key] = a ? Json(value_of(*a)) : Json();
  };
  set("largest_difference", [](const Accuracy& a) { return number(a.largest); });
  json["difference_unit"] = difference_unit(problem);
  set("promised_difference", [](const Accuracy& a) { return or_null(a.promised); });
  set("samples_checked", [](const Accuracy& a) { return Json(a.samples); });
  set("samples", [](const Accuracy& a) { return Json(a.of); });
  set("rows_checked", [](const Accuracy& a) { return Json(a.rows); });
  set("share_differing_from_cpu", [](const Accuracy& a) { return or_null(a.differing); });
  set("rows_compared_with_cpu",
      [](const Accuracy& a) { return a.rows_compared > 0 ? Json(a.rows_compared) : Json(); });
  set("share_differing_from_family",
      [](const Accuracy& a) { return or_null(a.differing_from_family); });
}

Json json_of(const Row& row, const Problem& problem) {
  Json json = {{"strategy", row.contender},
               {"family", name_of(row.family)},
               {"device", name_of(row.location)},
               {"by_auto", row.by_auto},
               {"refused", row.refused},
               {"refusal", row.refusal.empty() ? Json() : Json(row.refusal)},
               {"measured_width_px", row.width > 0 ? Json(row.width) : Json()},
               {"measured_height_px", row.height > 0 ? Json(row.height) : Json()}};
  add_times(json, row.times);
  add_reads(json, row.counted);
  add_accuracy(json, row.accuracy, problem);
  return json;
}

std::string dumped(const Json& json, int indent = -1) {
  // A file's name need not be UTF-8.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : dumped(value);
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace

std::string json_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  Json all = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json devices = Json::array(), rows = Json::array();
    for (const DeviceFacts& facts : comparison.devices) devices.push_back(json_of(facts));
    for (const Row& row : comparison.rows) rows.push_back(json_of(row, comparison.problem));
    all.push_back({{"problem", json_of(comparison.problem)},
                   {"difference_unit_in_samples", comparison.sample_unit},
                   {"devices", std::move(devices)},
                   {"auto_takes", comparison.auto_choice},
                   {"rows", std::move(rows)}});
  }
  return dumped({{"convfilt_version", head.version},
                 {"input", head.input},
                 {"table", name_of(head.table)},
                 {"comparisons", std::move(all)}},
                kIndent) +
         "\n";
}

std::string csv_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  std::string text;
  for (const Comparison& comparison : comparisons) {
    for (const Row& row : comparison.rows) {
      Json line = {{"input", head.input}};
      line.update(json_of(comparison.problem));
      line.update(json_of(row, comparison.problem));
      const auto join = [&](auto cell_of) {
        std::string joined;
        for (const auto& [key, value] : line.items()) joined += "," + cell_of(key, value);
        return joined.substr(1) + "\n";
      };
      if (text.empty()) text = join([](const std::string& key, const Json&) { return key; });
      text += join([](const std::string&, const Json& value) { return csv_cell(value); });
    }
  }
  return text;
}

}  // namespace convfilt
