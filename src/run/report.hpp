/// The report of a run over many pictures: a line of JSON for each, its progress, and its totals.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/terminal.hpp"
#include "src/run/run.hpp"

namespace convfilt {

/// One line, without its newline. Bytes of names that are no UTF-8 become U+FFFD; such a name is
/// there percent-encoded, too, as input_percent or output_percent, so that no two are alike.
/// `recipe`: of the chain that made it; empty = none did.
std::string json_line(const PictureOutcome& outcome, const std::string& recipe = "");
std::string json_line(const RefusedInput& refused, const char* status = "refused");

/// The line for a planned picture, for --dry-run.
std::string json_line(const Job& planned, const std::string& recipe = "");

/// "98 pictures in 2.5 s (39.2/s, 78.4 Mpx/s, 40.0 MB/s in, 38.1 MB/s out), codec cpu, 1 skipped,
/// 1 failed".
std::string summary_of(const RunTotals& totals);

/// The shares of the cores' time, in percent: "decoding 52 %, filtering 9 %, encoding 37 %,
/// otherwise 2 %".
std::string shares_of(const RunTotals& totals, int threads);

/// The same for the lanes of GPUs: "GPU: decoding 52 %, filtering 9 %, encoding 37 %, otherwise 2
/// %". A lane starts, waits for the CPU, or for its device, in what is otherwise.
std::string shares_of_lanes(const RunTotals& totals, std::size_t lanes);

/// How the convolver filtered a picture, for -v: FileReport::details.
std::vector<std::string> details_of(const Report& report);

/// All that -v tells of a picture that is filtered alone, a line each.
std::vector<std::string> details_of(const Batch& batch, const PictureOutcome& outcome);

/// A bar, a rate and the time left, on a terminal; at most ten times a second.
class ProgressBar {
 public:
  ProgressBar(std::int64_t pictures, bool wanted) : pictures_(pictures), line_(wanted) {}

  void count(const PictureOutcome& outcome);
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;

  std::int64_t pictures_, ended_ = 0, filtered_ = 0;
  std::uint64_t bytes_ = 0;
  Clock::time_point start_ = Clock::now(), shown_{};
  ProgressLine line_;
};

/// "[=====>    ]  45/100  58.2/s  12.5 MB/s  0:01 left", with what is known.
std::string progress_text(std::int64_t ended, std::int64_t pictures, std::int64_t filtered,
                          std::uint64_t bytes, double seconds);

}  // namespace convfilt
