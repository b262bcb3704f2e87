#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/mask/make.hpp"

namespace convfilt {
namespace {

using Clock = std::chrono::steady_clock;

std::string ms(double milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", milliseconds);
  return text;
}

std::string ms_since(Clock::time_point start) {
  return ms(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
}

std::string shape_of(const Image& image) {
  return std::to_string(image.width()) + "x" + std::to_string(image.height()) + "x" +
         std::to_string(image.channels()) + " " + std::string(name_of(image.depth()));
}

std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void warn(std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) log_warning(warning);
  warnings.clear();
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

Mask finished(Mask mask, const PictureOptions& options) {
  if (options.normalize) mask = normalized(mask);
  if (options.flip) mask = flipped(mask);
  return mask;
}

void filter_picture(const PictureOptions& options,
                    const std::function<Image(const Image&, Convolver&)>& filter) {
  Convolver convolver(options.convolver);
  if (options.out == "-" && isatty(STDOUT_FILENO))
    throw UsageError("a picture is not for a terminal; redirect standard output, e.g. > out.png");
  check_output(options.in, options.out, options.write, options.in_place);

  std::vector<std::string> warnings;
  Clock::time_point start = Clock::now();
  const Image in = read_image(options.in, options.read, &warnings);
  warn(warnings);
  log_detail("read " + options.in + ": " + shape_of(in) + ", " + ms_since(start));

  start = Clock::now();
  const Image out = filter(in, convolver);
  const std::string filtered = ms_since(start);
  tell(convolver.report());
  log_detail("filtered in " + filtered + ", preparation included");

  start = Clock::now();
  write_image(options.out, out, options.write, &warnings);
  warn(warnings);
  log_detail("wrote " + options.out + ", " + ms_since(start));
}

}  // namespace convfilt
