#include "src/run/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/suggest.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

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
                                            : with_format("%%%02X", static_cast<unsigned char>(c));
  return text;
}

using Json = nlohmann::ordered_json;

/// The beginning of a line. A refused input has no output.
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

/// Percents of `all_ms`.
std::string shares(const char* pattern, const StageTimes& ms, double all_ms) {
  const double all = std::max(all_ms, 1e-6) / 100;
  return with_format(pattern, ms.decode / all, ms.filter / all, ms.encode / all,
                     std::max(0.0, 100 - ms.all() / all));
}

std::string shown_ms(double milliseconds) {
  return with_format("%.1f ms", milliseconds);
}

const char* status_of(Outcome outcome) {
  constexpr const char* kNames[] = {"done", "skipped", "failed", "not begun"};
  return kNames[int(outcome)];
}

}  // namespace

std::string json_line(const RefusedInput& refused, const char* status) {
  Json json = json_of(refused.in, "", status);
  json["reason"] = refused.why;
  return line_of(json);
}

std::string json_line(const Job& planned, const std::string& recipe) {
  Json json = json_of(planned.in, planned.out, "planned");
  if (!recipe.empty()) json["recipe"] = recipe;
  if (planned.page) json["page"] = *planned.page;
  return line_of(json);
}

std::string json_line(const PictureOutcome& outcome, const std::string& recipe) {
  Json json = json_of(outcome.job->in, outcome.job->out, status_of(outcome.outcome));
  if (const auto page = outcome.job->page) json["page"] = *page;
  if (!recipe.empty()) json["recipe"] = recipe;
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
    if (report.pictures > 1) json["pictures"] = report.pictures;
    json["pixels"] = report.pixels;
    json["format"] = name_of(header.format);
    if (outcome.job->in != "-") json["bytes_in"] = outcome.in.size;
    json["bytes_out"] = outcome.out.size;
    json["codec"] = report.codec;
    json["device"] = report.device;
    json["strategy"] = report.strategy;
    const auto ms = [](double value) { return std::int64_t(value * 1000 + 0.5) / 1000.0; };
    json["ms"] = {{"all", ms(report.all_ms)},
                  {"decode", ms(report.ms.decode + report.device_ms.decode)},
                  {"filter", ms(report.ms.filter + report.device_ms.filter)},
                  {"encode", ms(report.ms.encode + report.device_ms.encode)}};
    if (!report.warnings.empty()) json["warnings"] = report.warnings;
  }
  return line_of(json);
}

std::string summary_of(const RunTotals& totals) {
  const double seconds = std::max(totals.all_ms / 1000, 1e-6);
  std::string text = plural(totals.filtered, "picture") + " in " + with_format("%.2f s", seconds);
  if (totals.filtered > 0)
    text += with_format(" (%.1f/s, %.1f Mpx/s, %.1f MB/s in, %.1f MB/s out)",
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

std::string shares_of(const RunTotals& totals, int threads) {
  return shares(
      "decoding %.0f %%, filtering %.0f %%, encoding and writing %.0f %%, otherwise "
      "%.0f %%",
      totals.ms, totals.all_ms * threads);
}

std::string shares_of_lanes(const RunTotals& totals, std::size_t lanes) {
  return shares("GPU: decoding %.0f %%, filtering %.0f %%, encoding %.0f %%, otherwise %.0f %%",
                totals.device_ms, totals.all_ms * double(lanes));
}

std::vector<std::string> details_of(const Report& report) {
  const Choice& choice = report.choice;
  std::string device(name_of(choice.device));
  if (choice.device == DeviceKind::cuda) device += ":" + std::to_string(choice.ordinal);
  std::vector<std::string> lines{"strategy " + std::string(choice.strategy->name) + " on " +
                                 device + " (" + choice.why + ")"};
  if (!report.job.empty()) lines.push_back(report.job);
  lines.insert(lines.end(), report.problems.begin(), report.problems.end());

  const Timing& t = report.timing;
  const std::string runs =
      report.runs > 1 ? ", sum of " + plural(std::uint64_t(report.runs), "run") : "";
  if (choice.device != DeviceKind::emulator) {
    const std::string bands = t.bands > 1 ? ", in " + plural(std::uint64_t(t.bands), "band") : "";
    lines.push_back("upload " + shown_ms(t.upload_ms) + ", kernel " + shown_ms(t.kernel_ms) +
                    ", download " + shown_ms(t.download_ms) + bands + runs);
    return lines;
  }
  lines.push_back("upload " + shown_ms(t.upload_ms) + ", emulated kernel " + shown_ms(t.kernel_ms) +
                  ", download " + shown_ms(t.download_ms) + runs +
                  "; emulated on the CPU, says nothing about a GPU");
  const Counts& c = report.counts;
  std::string fetches;
  if (c.texture_fetches > 0)
    fetches = std::to_string(c.texture_fetches) +
              (c.texture_fetches == 1 ? " texture fetch, " : " texture fetches, ");
  lines.push_back("emulator counted " + plural(c.global_reads, "global read") + ", " + fetches +
                  plural(c.shared_reads, "shared read") + ", " +
                  plural(c.ghost_cells, "ghost cell") + ", " + plural(c.barriers, "barrier") +
                  ", " + plural(c.atomic_adds, "atomic addition") + ", " +
                  plural(c.blocks, "block"));
  return lines;
}

std::vector<std::string> details_of(const Batch& batch, const PictureOutcome& outcome) {
  const FileReport& report = outcome.report;
  const Header& header = report.header;
  const Shape shape = upright_shape(header);
  std::vector<std::string> lines{
      "read " + outcome.job->in + ": " +
          (report.pictures > 1 ? std::to_string(report.pictures) + " pictures, the first " : "") +
          size_text(shape.width, shape.height) + "x" + std::to_string(shape.channels) + " " +
          std::string(name_of(shape.depth)) + ", " + shown_ms(report.ms.decode),
      describe(*batch.filter, batch.convolver)};
  lines.insert(lines.end(), report.details.begin(), report.details.end());
  lines.push_back("filtered in " + shown_ms(report.ms.filter) + ", preparation included");
  lines.push_back("wrote " + outcome.job->out + ", " + shown_ms(report.ms.encode) +
                  (report.keeps_chroma ? ", with the chroma of the input bit for bit" : ""));
  std::string how;
  if (!report.why_whole.empty())
    how = ", the picture as a whole, since " + report.why_whole;
  else if (!report.why_in_memory.empty())
    how = ", the picture in memory, since " + report.why_in_memory;
  else if (report.bands > 1)
    how = ", " + plural(std::uint64_t(report.bands), "band") +
          " read, filtered and written at the same time";
  lines.push_back("all in " + shown_ms(report.all_ms) + how);
  return lines;
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
  text += with_format("  %.1f/s  %.1f MB/s", rate, double(bytes) / kMega / seconds);
  text += left < 3600 ? with_format("  %d:%02d left", int(left / 60), int(left % 60))
                      : with_format("  %lld:%02d:%02d left", static_cast<long long>(left / 3600),
                                    int(left / 60 % 60), int(left % 60));
  return text;
}

void ProgressBar::count(const PictureOutcome& outcome) {
  ++ended_;
  filtered_ += outcome.outcome == Outcome::filtered;
  bytes_ += outcome.in.size;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  line_.show(progress_text(ended_, pictures_, filtered_, bytes_,
                           std::chrono::duration<double>(now - start_).count()));
}

}  // namespace convfilt
