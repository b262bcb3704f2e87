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

Location location_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda};
  return {named(kKinds, name.substr(0, colon)),
          colon == name.npos ? 0 : std::stoi(name.substr(colon + 1))};
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
void read(const OrderedJson& json, T& value) {
  if constexpr (std::is_same_v<T, Depth>)
    value = named(kDepths, json);
  else if constexpr (std::is_same_v<T, Border>)
    value = named(kBorders, json);
  else if constexpr (std::is_same_v<T, Mode>)
    value = named(kModes, json);
  else if constexpr (std::is_same_v<T, Family>)
    value = named(kFamilies, json);
  else if constexpr (std::is_same_v<T, Location>)
    value = location_of(json);
  else if constexpr (std::is_same_v<T, double>)
    value = json == "infinite" ? std::numeric_limits<double>::infinity() : json.get<double>();
  else
    value = json.get<T>();
}

/// Writes fields into a JSON object.
class Writer {
 public:
  explicit Writer(OrderedJson& json) : json_(json) {}

  template <class T>
  void field(const char* key, const T& value) {
    json_[key] = is_there_ ? written(value) : OrderedJson();
  }
  template <class T>
  void field(const char* key, const std::optional<T>& value) {
    json_[key] = is_there_ && value ? written(*value) : OrderedJson();
  }
  /// A field that is null where its value is 0 or empty.
  template <class T>
  void known(const char* key, const T& value) {
    json_[key] = is_there_ && value != T() ? written(value) : OrderedJson();
  }
  /// A field that follows from others.
  void derived(const char* key, const std::string& value) { json_[key] = value; }
  /// Fields that are there together, or null together.
  template <class T, class Fields>
  void group(const std::optional<T>& value, const Fields& fields) {
    is_there_ = value.has_value();
    T copy = value.value_or(T());
    fields(*this, copy);
    is_there_ = true;
  }

 private:
  OrderedJson& json_;
  bool is_there_ = true;
};

/// Reads what Writer wrote.
class Reader {
 public:
  explicit Reader(const OrderedJson& json) : json_(json) {}

  template <class T>
  void field(const char* key, T& value) {
    const OrderedJson& found = json_.at(key);
    if (in_group_ && found.is_null()) {
      if (!missing_) missing_ = key;
    } else {
      has_one_ = true;
      read(found, value);
    }
  }
  template <class T>
  void field(const char* key, std::optional<T>& value) {
    const OrderedJson& found = json_.at(key);
    if (found.is_null()) return;
    has_one_ = true;
    read(found, value.emplace());
  }
  template <class T>
  void known(const char* key, T& value) {
    const OrderedJson& found = json_.at(key);
    if (found.is_null()) return;
    has_one_ = true;
    read(found, value);
  }
  void derived(const char*, const std::string&) {}
  template <class T, class Fields>
  void group(std::optional<T>& value, const Fields& fields) {
    T all;
    in_group_ = true;
    has_one_ = false;
    missing_ = nullptr;
    fields(*this, all);
    in_group_ = false;
    if (missing_ && has_one_)
      throw std::out_of_range(std::string(missing_) +
                              " is null, but other figures beside it are not");
    if (!missing_) value = all;
  }

 private:
  const OrderedJson& json_;
  bool in_group_ = false, has_one_ = false;
  const char* missing_ = nullptr;  ///< the group's first field that is null and may not be alone
};

// The fields, which are also the columns of CSV. The mask's weights are not among them.

template <class Fields>
void fields_of(Fields& to, Problem& p) {
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

template <class Fields>
void fields_of(Fields& to, DeviceFacts& facts) {
  to.field("device", facts.location);
  to.field("name", facts.peak.name);
  to.known("threads", facts.peak.threads);
  to.known("copy_ms", facts.copy_ms);
  to.known("copy_bytes_per_s", facts.bytes_per_second);
  to.known("fp32_peak_flop_per_s", facts.peak.fp32);
}

template <class Fields>
void fields_of_times(Fields& to, Times& t) {
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

template <class Fields>
void fields_of_counts(Fields& to, Counted& c) {
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

template <class Fields>
void fields_of_accuracy(Fields& to, Accuracy& a, const Problem& problem) {
  to.field("largest_difference", a.largest);
  to.derived("difference_unit", difference_unit(problem));
  to.field("promised_difference", a.bound);
  to.field("samples_checked", a.samples);
  to.field("samples", a.of);
  to.field("rows_checked", a.rows);
  to.field("share_differing_from_cpu", a.differing);
  to.known("rows_compared_with_cpu", a.rows_compared);
  to.field("share_differing_from_family", a.differing_from_family);
}

template <class Fields>
void fields_of(Fields& to, Row& row, const Problem& problem) {
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
  to.group(row.times, [](Fields& to, Times& t) { fields_of_times(to, t); });
  to.group(row.counted, [](Fields& to, Counted& c) { fields_of_counts(to, c); });
  to.group(row.accuracy, [&](Fields& to, Accuracy& a) { fields_of_accuracy(to, a, problem); });
}

template <class Thing, class... More>
OrderedJson json_of(Thing thing, const More&... more) {
  OrderedJson json;
  Writer writer(json);
  fields_of(writer, thing, more...);
  return json;
}

template <class Thing, class... More>
Thing thing_in(const OrderedJson& json, const More&... more) {
  Thing thing;
  Reader reader(json);
  fields_of(reader, thing, more...);
  return thing;
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

Comparison comparison_of(const OrderedJson& json) {
  Comparison c;
  c.problem = thing_in<Problem>(json.at("problem"));
  c.sample_unit = json.at("difference_unit_in_samples");
  c.auto_choice = json.at("auto_takes");
  for (const OrderedJson& facts : json.at("devices"))
    c.devices.push_back(thing_in<DeviceFacts>(facts));
  for (const OrderedJson& row : json.at("rows")) c.rows.push_back(thing_in<Row>(row, c.problem));
  return c;
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
    for (const OrderedJson& comparison : json.at("comparisons"))
      comparisons.push_back(comparison_of(comparison));
    if (comparisons.empty()) throw std::out_of_range("there is no comparison in it");
    return comparisons;
  } catch (const std::exception& error) {
    throw IoError(path + ": not what convfilt compare --json writes: " +
                  without_prefix(error.what()) + "; run compare --json again with this version");
  }
}

}  // namespace convfilt
