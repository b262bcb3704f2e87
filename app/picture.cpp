#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/plural.hpp"
#include "src/picture/samples.hpp"
#include "src/run/picture_file.hpp"

namespace convfilt {
namespace {

std::string ms(double milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", milliseconds);
  return text;
}

std::string shape_of(const Header& header) {
  const bool sideways = turns_sideways(header.orientation);
  return std::to_string(sideways ? header.height : header.width) + "x" +
         std::to_string(sideways ? header.width : header.height) + "x" +
         std::to_string(header.channels) + " " + std::string(name_of(header.depth));
}

void tell(const Report& report) {
  const Choice& choice = report.choice;
  std::string device(name_of(choice.device));
  if (choice.device == DeviceKind::cuda) device += ":" + std::to_string(choice.ordinal);
  log_detail("strategy " + std::string(choice.strategy->name) + " on " + device + " (" +
             choice.why + ")");

  if (!report.job.empty()) log_detail(report.job);
  for (const std::string& problem : report.problems) log_detail(problem);

  const Timing& t = report.timing;
  const std::string runs =
      report.runs > 1 ? ", sum of " + plural(std::uint64_t(report.runs), "run") : "";
  if (choice.device == DeviceKind::emulator) {
    log_detail("upload " + ms(t.upload_ms) + ", emulated kernel " + ms(t.kernel_ms) +
               ", download " + ms(t.download_ms) + runs +
               "; emulated on the CPU, says nothing about a GPU");
    const Counts& c = report.counts;
    log_detail("emulator counted " + plural(c.global_reads, "global read") + ", " +
               (c.texture_fetches > 0
                    ? std::to_string(c.texture_fetches) +
                          (c.texture_fetches == 1 ? " texture fetch, " : " texture fetches, ")
                    : "") +
               plural(c.shared_reads, "shared read") + ", " + plural(c.ghost_cells, "ghost cell") +
               ", " + plural(c.barriers, "barrier") + ", " +
               plural(c.atomic_adds, "atomic addition") + ", " + plural(c.blocks, "block"));
    return;
  }
  const std::string bands = t.bands > 1 ? ", in " + plural(std::uint64_t(t.bands), "band") : "";
  log_detail("upload " + ms(t.upload_ms) + ", kernel " + ms(t.kernel_ms) + ", download " +
             ms(t.download_ms) + bands + runs);
}

}  // namespace

FileReport filter_picture(const PictureOptions& options, const Filter& filter, const FileJob& job) {
  Convolver convolver(options.convolver);
  FileReport report = filter_file(job, filter, convolver);
  for (const std::string& warning : report.warnings) log_warning(warning);
  if (report.why_whole.empty()) convolver.add_bands(report.filter_ms, report.bands);

  log_detail("read " + job.in + ": " + shape_of(report.header) + ", " + ms(report.read_ms));
  log_detail(describe(filter, options.convolver));
  tell(convolver.report());
  log_detail("filtered in " + ms(report.filter_ms) + ", preparation included");
  log_detail("wrote " + job.out + ", " + ms(report.write_ms));
  std::string how;
  if (!report.why_whole.empty())
    how = ", the picture as a whole, since " + report.why_whole;
  else if (report.bands > 1)
    how = ", " + plural(std::uint64_t(report.bands), "band") +
          " read, filtered and written at the same time";
  log_detail("all in " + ms(report.all_ms) + how);
  const Choice& choice = convolver.report().choice;
  report.strategy = choice.strategy->name;
  report.device = name_of(choice.device);
  return report;
}

}  // namespace convfilt
