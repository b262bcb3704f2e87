#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "src/base/errors.hpp"
#include "src/lab/compare/report.hpp"

namespace convfilt {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kIndent = 2;

/// The one of `things` that has this name.
template <class Things>
auto named(const Things& things, const std::string& name) {
  for (const auto& thing : things)
    if (name == name_of(thing)) return thing;
  throw std::out_of_range("unknown name '" + name + "'");
}

/// Numbers, words and names as JSON has them, which has no infinities.
template <class T>
OrderedJson written(const T& value) {
  if constexpr (requires { name_of(value); })
    return name_of(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::isfinite(value) ? OrderedJson(value) : OrderedJson("infinite");
  else
    return value;
}

template <class T>
OrderedJson written(const std::optional<T>& value) {
  return value ? written(*value) : OrderedJson();
}

template <class T>
void read(const OrderedJson& json, T& value) {
  value = json.get<T>();
}
void read(const OrderedJson& json, double& value) {
  value = json == "infinite" ? std::numeric_limits<double>::infinity() : json.get<double>();
}
void read(const OrderedJson& json, Depth& value) {
  value = named(kDepths, json);
}
void read(const OrderedJson& json, Border& value) {
  value = named(kBorders, json);
}
void read(const OrderedJson& json, Mode& value) {
  value = named(kModes, json);
}
void read(const OrderedJson& json, Family& value) {
  value = named(kFamilies, json);
}
void read(const OrderedJson& json, Location& value) {
  constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda};
  const std::string name = json;
  const std::size_t colon = name.find(':');
  value = {named(kKinds, name.substr(0, colon)),
           colon == name.npos ? 0 : std::stoi(name.substr(colon + 1))};
}
template <class T>
void read(const OrderedJson& json, std::optional<T>& value) {
  if (!json.is_null()) read(json, value.emplace());
}

/// A JSON object whose fields are written, or read.
struct Fields {
  OrderedJson& json;
  bool reads;

  template <class T>
  void field(const char* key, T& value) {
    if (reads)
      read(json.at(key), value);
    else
      json[key] = written(value);
  }
  /// A field that is null where its value is 0 or empty.
  template <class T>
  void known(const char* key, T& value) {
    if (!reads)
      json[key] = value == T() ? OrderedJson() : written(value);
    else if (!json.at(key).is_null())
      read(json.at(key), value);
  }
  template <class T>
  void group(std::optional<T>& value);
};

// The fields, which are also the columns of CSV. The mask's weights are not among them.

void fields_of(Fields to, Problem& p) {
  to.field("width_px", p.width);
  to.field("height_px", p.height);
  to.field("channels", p.channels);
  to.field("depth", p.depth);
  to.field("mask", p.mask.name);
  to.field("mask_width", p.mask.width);
  to.field("mask_height", p.mask.height);
  to.field("border", p.border);
  to.field("border_value", p.border_value);
  to.field("mode", p.mode);
}

void fields_of(Fields to, DeviceFacts& facts) {
  to.field("device", facts.location);
  to.field("name", facts.peak.name);
  to.known("threads", facts.peak.threads);
  to.known("copy_ms", facts.copy_ms);
  to.known("copy_bytes_per_s", facts.bytes_per_second);
  to.known("fp32_peak_flop_per_s", facts.peak.fp32);
}

void fields_of(Fields to, Times& t) {
  to.field("kernel_ms_median", t.ms.median);
  to.field("kernel_ms_iqr", t.ms.iqr);
  to.field("runs", t.runs);
  to.field("pixels_per_s", t.pixels_per_second);
  to.field("bytes_per_s", t.bytes_per_second);
  to.field("time_in_copies", t.copies);
  to.field("direct_flop_per_byte", t.intensity);
  to.field("own_flop_per_byte", t.own_intensity);
  to.field("direct_flop_per_s", t.flops);
  to.field("roofline_share", t.roofline);
  std::string bound = t.memory_bound ? "memory" : "fp32";
  to.field("roofline_bound", bound);
  t.memory_bound = bound == "memory";
  to.field("speed_over_basic", t.basic);
  to.field("time_over_best", t.best);
}

void fields_of(Fields to, Counted& c) {
  to.field("global_reads_per_output", c.global_reads);
  to.field("texture_fetches_per_output", c.texture_fetches);
  to.field("shared_reads_per_output", c.shared_reads);
  to.field("ghost_cells_per_output", c.ghost_cells);
  to.field("atomic_adds_per_output", c.atomic_adds);
  to.known("taps_per_access", c.reuse);
  to.field("barriers_per_block", c.barriers);
  to.field("shared_writes_per_output", c.shared_writes);
  to.field("sectors_per_output", c.sectors);
}

constexpr const char* kUnit = "difference_unit";

void fields_of(Fields to, Accuracy& a) {
  to.field("largest_difference", a.largest);
  if (!to.reads) to.json[kUnit] = nullptr;  // a row's, since it follows from the problem
  to.field("promised_difference", a.bound);
  to.field("samples_checked", a.samples);
  to.field("samples", a.of);
  to.field("rows_checked", a.rows);
  to.field("share_differing_from_cpu", a.differing);
  to.known("rows_compared_with_cpu", a.rows_compared);
  to.field("share_differing_from_family", a.differing_from_family);
}

template <class Thing>
OrderedJson json_of(Thing thing) {
  OrderedJson json;
  fields_of(Fields{json, false}, thing);
  return json;
}

template <class Thing>
Thing thing_in(OrderedJson json) {
  Thing thing;
  fields_of(Fields{json, true}, thing);
  return thing;
}

/// Fields that are there together, or null together, but for those that may be null alone.
template <class T>
void Fields::group(std::optional<T>& value) {
  const OrderedJson fields = json_of(value.value_or(T()));
  std::string missing;  // the first field that is null and may not be alone
  bool has_one = false;
  for (const auto& [key, written] : fields.items()) {
    if (!reads) {
      json[key] = value ? written : OrderedJson();
    } else if (key != kUnit && !json.at(key).is_null()) {
      has_one = true;
    } else if (missing.empty() && !written.is_null()) {
      missing = key;
    }
  }
  if (has_one && !missing.empty())
    throw std::out_of_range(missing + " is null, but other figures beside it are not");
  if (reads && missing.empty()) value = thing_in<T>(json);
}

void fields_of(Fields to, Row& row) {
  to.field("strategy", row.contender);
  to.field("family", row.family);
  to.field("device", row.location);
  to.field("by_auto", row.by_auto);
  to.field("refused", row.refused);
  to.known("refusal", row.refusal);
  to.known("measured_width_px", row.width);
  to.known("measured_height_px", row.height);
  to.known("tile_columns", row.tile_columns);
  to.known("tile_rows", row.tile_rows);
  to.group(row.times);
  to.group(row.counted);
  to.group(row.accuracy);
}

OrderedJson json_of(const Row& row, const Problem& problem) {
  OrderedJson json = json_of(row);
  json[kUnit] = difference_unit(problem);
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

/// The library's message, without its "[json.exception.type_error.302] ".
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
    const OrderedJson json = OrderedJson::parse(text);
    head.version = json.at("convfilt_version");
    head.input = json.at("input");
    head.table = named(kTableKinds, json.at("table"));
    std::vector<Comparison> comparisons;
    for (const OrderedJson& comparison : json.at("comparisons")) {
      Comparison& c = comparisons.emplace_back();
      c.problem = thing_in<Problem>(comparison.at("problem"));
      c.sample_unit = comparison.at("difference_unit_in_samples");
      c.auto_choice = comparison.at("auto_takes");
      for (const OrderedJson& facts : comparison.at("devices"))
        c.devices.push_back(thing_in<DeviceFacts>(facts));
      for (const OrderedJson& row : comparison.at("rows")) c.rows.push_back(thing_in<Row>(row));
    }
    if (comparisons.empty()) throw std::out_of_range("there is no comparison in it");
    return comparisons;
  } catch (const std::exception& error) {
    throw IoError(path + ": not what convfilt compare --json writes: " +
                  without_prefix(error.what()) + "; run compare --json again with this version");
  }
}

}  // namespace convfilt
