#include "src/run/tell.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

constexpr double kMega = 1e6;

bool is_utf8(const std::string& name) {
  try {
    return !nlohmann::json(name).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

/// All but ASCII's printable characters, and %, as % and two digits.
std::string percent_encoded(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += c > ' ' && c < 0x7f && c != '%' ? std::string(1, c)
                                            : format("%%%02X", static_cast<unsigned char>(c));
  return text;
}

using Json = nlohmann::ordered_json;

/// What begins a line. A refused input has no output.
Json json_of(const std::string& in, const std::string& out, const char* status) {
  Json json;
  json["input"] = in;
  if (!out.empty()) json["output"] = out;
  if (!is_utf8(in)) json["input_percent"] = percent_encoded(in);
  if (!is_utf8(out)) json["output_percent"] = percent_encoded(out);
  json["status"] = status;
  return json;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const char* status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::filtered: return "done";
    case Outcome::skipped: return "skipped";
    case Outcome::failed: return "failed";
    case Outcome::not_begun: break;
  }
  return "not begun";
}

}  // namespace

std::string json_line(const RefusedInput& refused) {
  Json json = json_of(refused.in, "", "refused");
  json["reason"] = refused.why;
  return line_of(json);
}

std::string json_line(const Job& planned) {
  return line_of(json_of(planned.in, planned.out, "planned"));
}

std::string json_line(const PictureOutcome& outcome) {
  Json json = json_of(outcome.job->in, outcome.job->out, status_of(outcome.outcome));
  const std::string& reason =
      outcome.outcome == Outcome::filtered ? outcome.report.why_cpu : outcome.reason;
  if (!reason.empty()) json["reason"] = reason;
  if (outcome.outcome == Outcome::filtered) {
    const FileReport& report = outcome.report;
    const Header& header = report.header;
    json["width"] = header.width;
    json["height"] = header.height;
    json["channels"] = header.channels;
    json["depth"] = name_of(header.depth);
    json["pixels"] = std::int64_t{header.width} * header.height;
    json["format"] = name_of(header.format);
    json["bytes_in"] = outcome.bytes_read;
    json["bytes_out"] = outcome.bytes_written;
    json["codec"] = report.codec;
    json["device"] = report.device;
    json["strategy"] = report.strategy;
    const auto ms = [](double value) { return std::int64_t(value * 1000 + 0.5) / 1000.0; };
    json["ms"] = {{"all", ms(report.all_ms)},
                  {"decode", ms(report.read_ms + report.device_ms.decode)},
                  {"filter", ms(report.filter_ms + report.device_ms.filter)},
                  {"encode", ms(report.write_ms + report.device_ms.encode)}};
    if (!report.warnings.empty()) json["warnings"] = report.warnings;
  }
  return line_of(json);
}

std::string summary_of(const FolderTotals& totals) {
  const double seconds = std::max(totals.all_ms / 1000, 1e-6);
  std::string text = plural(totals.filtered, "picture") + " in " + format("%.2f s", seconds);
  if (totals.filtered > 0)
    text += format(" (%.1f/s, %.1f Mpx/s, %.1f MB/s in, %.1f MB/s out)",
                   double(totals.filtered) / seconds, double(totals.pixels) / kMega / seconds,
                   double(totals.bytes_read) / kMega / seconds,
                   double(totals.bytes_written) / kMega / seconds);
  if (totals.through_gpu > 0)
    text += ", " + std::to_string(totals.through_gpu) + " by nvImageCodec on the GPU";
  else if (totals.filtered > 0)
    text += ", codec cpu";
  if (totals.skipped > 0) text += ", " + std::to_string(totals.skipped) + " skipped";
  if (totals.failed > 0) text += ", " + std::to_string(totals.failed) + " failed";
  if (totals.not_begun > 0)
    text += ", " + std::to_string(totals.not_begun) + " not begun or dropped";
  return text;
}

std::string shares_of(const FolderTotals& totals, int threads) {
  const double all = std::max(totals.all_ms * threads, 1e-6) / 100;
  const double busy = totals.read_ms + totals.filter_ms + totals.write_ms;
  return format(
      "decoding %.0f %%, filtering %.0f %%, encoding and writing %.0f %%, otherwise %.0f %%",
      totals.read_ms / all, totals.filter_ms / all, totals.write_ms / all,
      std::max(0.0, 100 - busy / all));
}

std::string shares_of_lanes(const FolderTotals& totals, std::size_t lanes) {
  const double all = std::max(totals.all_ms * double(lanes), 1e-6) / 100;
  const double busy = totals.decode_ms + totals.device_filter_ms + totals.encode_ms;
  return format("GPU: decoding %.0f %%, filtering %.0f %%, encoding %.0f %%, otherwise %.0f %%",
                totals.decode_ms / all, totals.device_filter_ms / all, totals.encode_ms / all,
                std::max(0.0, 100 - busy / all));
}

std::string progress_text(std::int64_t ended, std::int64_t pictures, std::int64_t filtered,
                          std::uint64_t bytes, double seconds) {
  constexpr int kBar = 24;
  const int full = pictures > 0 ? int(ended * kBar / pictures) : kBar;
  std::string text = "[" + std::string(std::size_t(full), '=');
  if (full < kBar) text += ">" + std::string(std::size_t(kBar - full - 1), ' ');
  text += "]  " + std::to_string(ended) + "/" + std::to_string(pictures);
  if (filtered == 0 || seconds <= 0) return text;
  const double rate = double(filtered) / seconds;
  const std::int64_t left = std::int64_t(double(pictures - ended) / rate + 0.5);
  text += format("  %.1f/s  %.1f MB/s", rate, double(bytes) / kMega / seconds);
  text += left < 3600 ? format("  %d:%02d left", int(left / 60), int(left % 60))
                      : format("  %lld:%02d:%02d left", static_cast<long long>(left / 3600),
                               int(left / 60 % 60), int(left % 60));
  return text;
}

void ProgressBar::count(const PictureOutcome& outcome) {
  ++ended_;
  filtered_ += outcome.outcome == Outcome::filtered;
  bytes_ += outcome.bytes_read;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  line_.show(progress_text(ended_, pictures_, filtered_, bytes_,
                           std::chrono::duration<double>(now - start_).count()));
}

}  // namespace convfilt
