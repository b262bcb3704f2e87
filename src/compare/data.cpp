#include "src/compare/data.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "src/base/errors.hpp"

namespace convfilt {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kIndent = 2;

/// JSON has no infinities.
OrderedJson number(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson("infinite");
}

template <class T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson json_of(const Problem& problem) {
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

OrderedJson json_of(const DeviceFacts& facts) {
  const bool measured = facts.copy_ms > 0;
  return {
      {"device", name_of(facts.location)},
      {"name", facts.peak.name},
      {"threads", facts.peak.threads > 0 ? OrderedJson(facts.peak.threads) : OrderedJson()},
      {"copy_ms", measured ? OrderedJson(facts.copy_ms) : OrderedJson()},
      {"copy_bytes_per_s", measured ? OrderedJson(facts.bytes_per_second) : OrderedJson()},
      {"fp32_peak_flop_per_s", facts.peak.fp32 > 0 ? OrderedJson(facts.peak.fp32) : OrderedJson()}};
}

void add_times(OrderedJson& json, const std::optional<Times>& t) {
  const auto set = [&](const char* key, auto value_of) {
    json[key] = t ? OrderedJson(value_of(*t)) : OrderedJson();
  };
  set("kernel_ms_median", [](const Times& t) { return OrderedJson(t.ms.median); });
  set("kernel_ms_iqr", [](const Times& t) { return OrderedJson(t.ms.iqr); });
  set("runs", [](const Times& t) { return OrderedJson(t.runs); });
  set("pixels_per_s", [](const Times& t) { return OrderedJson(t.pixels_per_second); });
  set("bytes_per_s", [](const Times& t) { return OrderedJson(t.bytes_per_second); });
  set("time_in_copies", [](const Times& t) { return OrderedJson(t.copies); });
  set("direct_flop_per_byte", [](const Times& t) { return OrderedJson(t.intensity); });
  set("own_flop_per_byte", [](const Times& t) { return or_null(t.own_intensity); });
  set("direct_flop_per_s", [](const Times& t) { return OrderedJson(t.flops); });
  set("roofline_share", [](const Times& t) { return OrderedJson(t.roofline); });
  set("roofline_bound",
      [](const Times& t) { return OrderedJson(t.memory_bound ? "memory" : "fp32"); });
  set("speed_over_basic", [](const Times& t) { return or_null(t.basic); });
  set("time_over_best", [](const Times& t) { return or_null(t.best); });
}

void add_reads(OrderedJson& json, const std::optional<Counted>& r) {
  const auto set = [&](const char* key, auto value_of) {
    json[key] = r ? OrderedJson(value_of(*r)) : OrderedJson();
  };
  set("global_reads_per_output", [](const Counted& r) { return OrderedJson(r.global_reads); });
  set("texture_fetches_per_output",
      [](const Counted& r) { return OrderedJson(r.texture_fetches); });
  set("shared_reads_per_output", [](const Counted& r) { return OrderedJson(r.shared_reads); });
  set("ghost_cells_per_output", [](const Counted& r) { return OrderedJson(r.ghost_cells); });
  set("atomic_adds_per_output", [](const Counted& r) { return OrderedJson(r.atomic_adds); });
  set("taps_per_access",
      [](const Counted& r) { return r.reuse > 0 ? OrderedJson(r.reuse) : OrderedJson(); });
  set("barriers_per_block", [](const Counted& r) { return OrderedJson(r.barriers); });
  set("shared_writes_per_output", [](const Counted& r) { return or_null(r.shared_writes); });
  set("sectors_per_output", [](const Counted& r) { return or_null(r.sectors); });
}

void add_accuracy(OrderedJson& json, const std::optional<Accuracy>& a, const Problem& problem) {
  const auto set = [&](const char* key, auto value_of) {
    json[key] = a ? OrderedJson(value_of(*a)) : OrderedJson();
  };
  set("largest_difference", [](const Accuracy& a) { return number(a.largest); });
  json["difference_unit"] = difference_unit(problem);
  set("promised_difference", [](const Accuracy& a) { return or_null(a.bound); });
  set("samples_checked", [](const Accuracy& a) { return OrderedJson(a.samples); });
  set("samples", [](const Accuracy& a) { return OrderedJson(a.of); });
  set("rows_checked", [](const Accuracy& a) { return OrderedJson(a.rows); });
  set("share_differing_from_cpu", [](const Accuracy& a) { return or_null(a.differing); });
  set("rows_compared_with_cpu", [](const Accuracy& a) {
    return a.rows_compared > 0 ? OrderedJson(a.rows_compared) : OrderedJson();
  });
  set("share_differing_from_family",
      [](const Accuracy& a) { return or_null(a.differing_from_family); });
}

OrderedJson json_of(const Row& row, const Problem& problem) {
  OrderedJson json = {
      {"strategy", row.contender},
      {"family", name_of(row.family)},
      {"device", name_of(row.location)},
      {"by_auto", row.by_auto},
      {"refused", row.refused},
      {"refusal", row.refusal.empty() ? OrderedJson() : OrderedJson(row.refusal)},
      {"measured_width_px", row.width > 0 ? OrderedJson(row.width) : OrderedJson()},
      {"measured_height_px", row.height > 0 ? OrderedJson(row.height) : OrderedJson()},
      {"tile_columns", row.tile_columns > 0 ? OrderedJson(row.tile_columns) : OrderedJson()},
      {"tile_rows", row.tile_rows > 0 ? OrderedJson(row.tile_rows) : OrderedJson()}};
  add_times(json, row.times);
  add_reads(json, row.counted);
  add_accuracy(json, row.accuracy, problem);
  return json;
}

std::string dumped(const OrderedJson& json, int indent = -1) {
  // A file's name need not be UTF-8.
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string csv_cell(const OrderedJson& value) {
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

using Json = nlohmann::json;

/// The one of `things` that has this name.
template <class Things>
auto named(const Things& things, const std::string& name) {
  for (const auto& thing : things)
    if (name == name_of(thing)) return thing;
  throw std::out_of_range("unknown name '" + name + "'");
}

template <class T>
std::optional<T> optional_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

/// The same for a figure that reports of earlier versions lack.
template <class T>
std::optional<T> optional_if_there(const Json& json, const char* key) {
  return json.contains(key) ? optional_at<T>(json, key) : std::nullopt;
}

/// A figure that was not measured is null.
double number_or_zero(const Json& json, const char* key) {
  return optional_at<double>(json, key).value_or(0);
}

Location location_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda};
  return {named(kKinds, name.substr(0, colon)),
          colon == name.npos ? 0 : std::stoi(name.substr(colon + 1))};
}

/// The mask's weights are not kept in a report.
Problem problem_of(const Json& json) {
  Problem p;
  p.width = json.at("width_px");
  p.height = json.at("height_px");
  p.channels = json.at("channels");
  p.depth = named(kDepths, json.at("depth"));
  p.border = named(kBorders, json.at("border"));
  p.border_value = json.at("border_value");
  p.mode = named(kModes, json.at("mode"));
  p.mask.name = json.at("mask");
  p.mask.width = json.at("mask_width");
  p.mask.height = json.at("mask_height");
  return p;
}

DeviceFacts facts_of(const Json& json) {
  DeviceFacts facts;
  facts.location = location_of(json.at("device"));
  facts.peak.name = json.at("name");
  facts.peak.threads = optional_at<int>(json, "threads").value_or(0);
  facts.peak.fp32 = number_or_zero(json, "fp32_peak_flop_per_s");
  facts.copy_ms = number_or_zero(json, "copy_ms");
  facts.bytes_per_second = number_or_zero(json, "copy_bytes_per_s");
  return facts;
}

std::optional<Times> times_of(const Json& json) {
  if (json.at("kernel_ms_median").is_null()) return {};
  Times t;
  t.ms = {json.at("kernel_ms_median"), json.at("kernel_ms_iqr")};
  t.runs = json.at("runs");
  t.pixels_per_second = json.at("pixels_per_s");
  t.bytes_per_second = json.at("bytes_per_s");
  t.copies = json.at("time_in_copies");
  t.intensity = json.at("direct_flop_per_byte");
  // Older files do not know it.
  t.own_intensity = json.contains("own_flop_per_byte")
                        ? optional_at<double>(json, "own_flop_per_byte")
                        : t.intensity;
  t.flops = json.at("direct_flop_per_s");
  t.roofline = json.at("roofline_share");
  t.memory_bound = json.at("roofline_bound") == "memory";
  t.basic = optional_at<double>(json, "speed_over_basic");
  t.best = optional_if_there<double>(json, "time_over_best");
  return t;
}

std::optional<Counted> counted_of(const Json& json) {
  if (json.at("global_reads_per_output").is_null()) return {};
  return Counted{json.at("global_reads_per_output"),
                 json.at("shared_reads_per_output"),
                 json.at("ghost_cells_per_output"),
                 json.at("atomic_adds_per_output"),
                 number_or_zero(json, "taps_per_access"),
                 json.at("barriers_per_block"),
                 json.value("texture_fetches_per_output", 0.0),
                 optional_if_there<double>(json, "shared_writes_per_output"),
                 optional_if_there<double>(json, "sectors_per_output")};
}

std::optional<Accuracy> accuracy_of(const Json& json) {
  if (json.at("largest_difference").is_null()) return {};
  const Json& largest = json.at("largest_difference");
  Accuracy a;
  a.largest = largest.is_string() ? std::numeric_limits<double>::infinity() : largest.get<double>();
  a.samples = json.at("samples_checked");
  a.of = json.at("samples");
  a.rows = optional_if_there<int>(json, "rows_checked").value_or(0);
  a.bound = optional_if_there<double>(json, "promised_difference");
  a.differing = optional_at<double>(json, "share_differing_from_cpu");
  a.rows_compared = optional_if_there<int>(json, "rows_compared_with_cpu").value_or(0);
  a.differing_from_family = optional_if_there<double>(json, "share_differing_from_family");
  return a;
}

Row row_of(const Json& json) {
  Row row;
  row.contender = json.at("strategy");
  row.family = named(kFamilies, json.at("family"));
  row.location = location_of(json.at("device"));
  row.by_auto = json.at("by_auto");
  row.refused = json.at("refused");
  row.refusal = optional_at<std::string>(json, "refusal").value_or("");
  row.width = optional_at<int>(json, "measured_width_px").value_or(0);
  row.height = optional_at<int>(json, "measured_height_px").value_or(0);
  row.tile_columns = optional_if_there<int>(json, "tile_columns").value_or(0);
  row.tile_rows = optional_if_there<int>(json, "tile_rows").value_or(0);
  row.times = times_of(json);
  row.counted = counted_of(json);
  row.accuracy = accuracy_of(json);
  return row;
}

Comparison comparison_of(const Json& json) {
  Comparison c;
  c.problem = problem_of(json.at("problem"));
  c.sample_unit = json.at("difference_unit_in_samples");
  c.auto_choice = json.at("auto_takes");
  for (const Json& facts : json.at("devices")) c.devices.push_back(facts_of(facts));
  for (const Json& row : json.at("rows")) c.rows.push_back(row_of(row));
  return c;
}

/// What the library says, without its "[json.exception.type_error.302] ".
std::string without_prefix(const std::string& message) {
  const std::size_t end =
      message.starts_with("[json.exception") ? message.find("] ") : message.npos;
  return end == message.npos ? message : message.substr(end + 2);
}

}  // namespace

std::string json_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  OrderedJson all = OrderedJson::array();
  for (const Comparison& comparison : comparisons) {
    OrderedJson devices = OrderedJson::array(), rows = OrderedJson::array();
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
      OrderedJson line = {{"input", head.input}};
      line.update(json_of(comparison.problem));
      line.update(json_of(row, comparison.problem));
      const auto join = [&](auto cell_of) {
        std::string joined;
        for (const auto& [key, value] : line.items()) joined += "," + cell_of(key, value);
        return joined.substr(1) + "\n";
      };
      if (text.empty()) text = join([](const std::string& key, const OrderedJson&) { return key; });
      text += join([](const std::string&, const OrderedJson& value) { return csv_cell(value); });
    }
  }
  return text;
}

std::vector<Comparison> read_json_report(const std::string& text, const std::string& path,
                                         ReportHead& head) {
  // The library reports what is missing or of another type; named() reports a wrong name.
  try {
    const Json json = Json::parse(text);
    head.version = json.at("convfilt_version");
    head.input = json.at("input");
    const auto table = optional_if_there<std::string>(json, "table");
    head.table = table ? named(kTableKinds, *table) : TableKind::full;
    std::vector<Comparison> comparisons;
    for (const Json& comparison : json.at("comparisons"))
      comparisons.push_back(comparison_of(comparison));
    if (comparisons.empty()) throw std::out_of_range("there is no comparison in it");
    return comparisons;
  } catch (const std::exception& error) {
    throw IoError(path + ": not what convfilt compare --json writes: " +
                  without_prefix(error.what()) + "; run compare --json again with this version");
  }
}

}  // namespace convfilt
