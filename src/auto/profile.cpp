#include "src/auto/profile.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kernels/contract/separable.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// A profile of all strategies has some 60 kB.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20;

constexpr std::string_view kFormat = "convfilt profile 1";

/// A file may have any figures, but times computed from them must be finite.
double finite(double ms) {
  return std::min(ms, std::numeric_limits<double>::max());
}

/// Linear between the points; beyond the last in proportion to the taps. A single point stands for
/// every mask of a transform.
double ms_at(const std::vector<CostPoint>& points, double taps, Family family) {
  if (taps <= points.front().taps) return points.front().ms;
  // A transform that was measured with one mask takes the same time with any.
  if (points.size() == 1 && family == Family::transform) return points.front().ms;
  for (std::size_t k = 1; k < points.size(); ++k) {
    const CostPoint &low = points[k - 1], &high = points[k];
    if (taps <= high.taps)
      return low.ms + (taps - low.taps) / (high.taps - low.taps) * (high.ms - low.ms);
  }
  return finite(points.back().ms * (taps / points.back().taps));
}

/// An error in a file, and its place.
struct Fault {
  std::string place, what;
};

/// A value in the file, and the path to it.
class Entry {
 public:
  Entry(const Json& json, std::string way) : json_(json), way_(std::move(way)) {}

  [[noreturn]] void fail(const std::string& what) const { throw Fault{way_, what}; }

  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }

  Entry at(const char* key) const {
    if (!json_.is_object()) fail("is not an object");
    const auto found = json_.find(key);
    if (found == json_.end()) fail("lacks \"" + std::string(key) + "\"");
    return {*found, way_.empty() ? key : way_ + "." + key};
  }

  std::vector<Entry> items() const {
    if (!json_.is_array()) fail("is not a list");
    std::vector<Entry> entries;
    for (std::size_t k = 0; k < json_.size(); ++k)
      entries.emplace_back(json_[k], way_ + "[" + std::to_string(k) + "]");
    return entries;
  }

  std::string text() const {
    if (!json_.is_string()) fail("is no text");
    return json_.get<std::string>();
  }

  double above_zero() const {
    const double value = json_.is_number() ? json_.get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value)) fail("is no number above 0");
    return value;
  }

  int whole(int least, int most) const {
    const bool fits =
        json_.is_number_integer() && json_.get<double>() >= least && json_.get<double>() <= most;
    if (!fits) fail("is no whole number, " + std::to_string(least) + " to " + std::to_string(most));
    return json_.get<int>();
  }

 private:
  const Json& json_;
  std::string way_;
};

/// The figures of a part of the file, each by its key.
constexpr std::pair<const char*, double CpuRates::*> kCpuFigures[] = {
    {"sample_u8_s", &CpuRates::sample_u8},
    {"sample_wide_s", &CpuRates::sample_wide},
    {"multiply_add_u8_s", &CpuRates::multiply_add_u8},
    {"multiply_add_wide_s", &CpuRates::multiply_add_wide},
    {"transform_sample_s", &CpuRates::transform_sample}};
constexpr std::pair<const char*, double GpuRates::*> kGpuFigures[] = {
    {"copy_bytes_per_s", &GpuRates::copy_rate},
    {"context_s", &GpuRates::context_seconds},
    {"upload_bytes_per_s", &GpuRates::upload_rate},
    {"download_bytes_per_s", &GpuRates::download_rate}};

CpuRates cpu_from(const Entry& entry) {
  CpuRates cpu{.name = entry.at("name").text()};
  for (const auto& [key, figure] : kCpuFigures) cpu.*figure = entry.at(key).above_zero();
  return cpu;
}

GpuRates gpu_from(const Entry& entry) {
  GpuRates gpu{entry.at("name").text(), entry.at("major").whole(1, 1000),
               entry.at("minor").whole(0, 1000), entry.at("multiprocessors").whole(1, 1'000'000)};
  for (const auto& [key, figure] : kGpuFigures) gpu.*figure = entry.at(key).above_zero();
  return gpu;
}

Depth depth_from(const Entry& entry) {
  const std::string name = entry.text();
  for (const Depth depth : kDepths)
    if (name == name_of(depth)) return depth;
  entry.fail("is no depth: u8, u16 or f32");
}

int channels_from(const Entry& entry) {
  const int channels = entry.whole(0, 1'000'000);
  if (channels != 1 && channels != 3) entry.fail("is not 1 (grey) or 3 (colour)");
  return channels;
}

CostCurve curve_from(const Entry& entry) {
  CostCurve curve;
  curve.strategy = entry.at("strategy").text();
  curve.depth = depth_from(entry.at("depth"));
  curve.channels = channels_from(entry.at("channels"));
  if (entry.has("kernel")) curve.kernel = entry.at("kernel").text();
  curve.width = entry.at("width").whole(1, 1 << 20);
  curve.height = entry.at("height").whole(1, 1 << 20);
  for (const Entry& item : entry.at("taps_ms").items()) {
    const std::vector<Entry> pair = item.items();
    if (pair.size() != 2) item.fail("is no pair of taps and milliseconds");
    const CostPoint point{pair[0].above_zero(), pair[1].above_zero()};
    if (!curve.points.empty() && point.taps <= curve.points.back().taps)
      item.fail("has no more taps than the point before it");
    curve.points.push_back(point);
  }
  if (curve.points.empty()) entry.at("taps_ms").fail("is empty");
  return curve;
}

std::vector<CostCurve> curves_from(const Entry& entry) {
  std::vector<CostCurve> curves;
  for (const Entry& item : entry.items()) {
    CostCurve curve = curve_from(item);
    for (std::size_t k = 0; k < curves.size(); ++k)
      if (curves[k].place() == curve.place())
        item.fail("is for what curves[" + std::to_string(k) + "] is for, and as many pixels");
    curves.push_back(std::move(curve));
  }
  return curves;
}

/// Five digits are more than a measurement has.
double rounded(double value) {
  return std::strtod(with_format("%.5g", value).c_str(), nullptr);
}

OrderedJson json_of(const CpuRates& cpu) {
  OrderedJson json = {{"name", cpu.name}};
  for (const auto& [key, figure] : kCpuFigures) json[key] = rounded(cpu.*figure);
  return json;
}

OrderedJson json_of(const GpuRates& gpu) {
  OrderedJson json = {{"name", gpu.name},
                      {"major", gpu.major},
                      {"minor", gpu.minor},
                      {"multiprocessors", gpu.multiprocessors}};
  for (const auto& [key, figure] : kGpuFigures) json[key] = rounded(gpu.*figure);
  return json;
}

OrderedJson json_of(const CostCurve& curve) {
  OrderedJson json = {
      {"strategy", curve.strategy}, {"depth", name_of(curve.depth)}, {"channels", curve.channels}};
  if (!curve.kernel.empty()) json["kernel"] = curve.kernel;
  json["width"] = curve.width;
  json["height"] = curve.height;
  OrderedJson points = OrderedJson::array();
  for (const CostPoint& point : curve.points)
    points.push_back(OrderedJson::array({point.taps, rounded(point.ms)}));
  json["taps_ms"] = std::move(points);
  return json;
}

}  // namespace

double taps_of(const Strategy& strategy, const Problem& problem) {
  if (strategy.multiply_adds) return strategy.multiply_adds(problem);
  if (strategy.family == Family::separable) return separable_taps(problem);
  return double(problem.mask.width) * problem.mask.height;
}

std::optional<double> Profile::ms_of(const Strategy& strategy, const Problem& problem,
                                     const CudaDevice& device) const {
  std::vector<const CostCurve*> all, found;
  for (const CostCurve& curve : curves)
    if (curve.strategy == strategy.name && curve.depth == problem.depth &&
        (curve.channels > 1) == (problem.channels > 1))
      all.push_back(&curve);
  if (all.empty()) return {};
  const auto add_those_of = [&](std::string_view kernel) {
    for (const CostCurve* curve : all)
      if (curve->kernel == kernel) found.push_back(curve);
  };
  add_those_of(strategy.kernel_for ? strategy.kernel_for(problem, device) : "");
  if (found.empty()) add_those_of(all.front()->kernel);
  std::stable_sort(found.begin(), found.end(), [](const CostCurve* one, const CostCurve* other) {
    return one->pixels() < other->pixels();
  });
  const double taps = taps_of(strategy, problem);
  const double pixels = double(problem.out_width()) * problem.out_height();
  const CostCurve *low = found.front(), *high = nullptr;
  const double low_ms = ms_at(low->points, taps, strategy.family);
  if (pixels <= low->pixels()) return low_ms;
  if (found.size() == 1) return finite(low_ms * (pixels / low->pixels()));
  // The two sizes around the problem's, or the two largest.
  for (std::size_t k = 1; k < found.size(); ++k) {
    low = found[k - 1];
    high = found[k];
    if (pixels <= high->pixels()) break;
  }
  const double from = ms_at(low->points, taps, strategy.family),
               to = ms_at(high->points, taps, strategy.family);
  const double part = (pixels - low->pixels()) / (high->pixels() - low->pixels());
  if (part <= 1) return std::lerp(from, to, part);
  // A line that falls would come below 0.
  return finite(std::max({from, to, from + (to - from) * part}));
}

Profile parse_profile(std::string_view json, const std::string& path) {
  const std::string named = "profile " + printable_name(path) + ": ";
  const std::string remedy = "; remove it, or write it anew with convfilt tune";
  if (json.empty()) throw IoError(named + "the file is empty" + remedy);
  try {
    const Json whole = Json::parse(json);
    const Entry top(whole, "");
    if (top.at("format").text() != kFormat)
      top.at("format").fail("is not \"" + std::string(kFormat) + "\"");
    Profile profile;
    profile.path = path;
    if (top.has("version")) profile.version = top.at("version").text();
    profile.cpu = cpu_from(top.at("cpu"));
    if (top.has("gpu")) profile.gpu = gpu_from(top.at("gpu"));
    profile.curves = curves_from(top.at("curves"));
    return profile;
  } catch (const Fault& fault) {
    throw IoError(named + (fault.place.empty() ? "the file" : fault.place) + " " + fault.what +
                  remedy);
  } catch (const Json::parse_error& error) {
    throw IoError(named + "is not JSON from byte " + std::to_string(error.byte) + " on" + remedy);
  } catch (const Json::exception& error) {
    // Its message begins with the library's own word for it, in brackets.
    const std::string what = error.what();
    throw IoError(named + "is not JSON: " + printable_name(what.substr(what.find(']') + 2)) +
                  remedy);
  }
}

Profile load_profile(const std::string& path) {
  const std::string named = "profile " + printable_name(path) + ": ";
  std::error_code error;
  // A pipe would be waited for, and a device file may never end.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error) &&
      !fs::is_directory(path, error))
    throw IoError(named + "is not a regular file; take it away");
  if (const auto size = fs::file_size(path, error); !error && size > kMostBytes)
    throw IoError(named + "is larger than 16 MiB, so not a profile; take it away");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char part[1 << 14];
  while (file.read(part, sizeof part), file.gcount() > 0)
    text.append(part, std::size_t(file.gcount()));
  // Opening a folder succeeds; reading it fails.
  if (!file.is_open() || file.bad())
    throw IoError(named + "cannot be read: " + std::generic_category().message(errno) +
                  "; mend that, or take the file away");
  return parse_profile(text, path);
}

std::string to_json(const Profile& profile) {
  std::string text = "{\n  \"format\": " + Json(kFormat).dump();
  if (!profile.version.empty()) text += ",\n  \"version\": " + Json(profile.version).dump();
  text += ",\n  \"cpu\": " + json_of(profile.cpu).dump();
  if (profile.gpu) text += ",\n  \"gpu\": " + json_of(*profile.gpu).dump();
  text += ",\n  \"curves\": [";
  bool first = true;
  for (const CostCurve& curve : profile.curves) {
    text += (first ? "\n    " : ",\n    ") + json_of(curve).dump();
    first = false;
  }
  return text + (first ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace convfilt
