/// What is said of a folder while it is filtered.
#include "src/run/report.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace convfilt;

TEST_CASE("a JSON line says what became of each input, and why") {
  const Job job{"in/a.jpg", "a.jpg", "out/a.jpg"};
  CHECK(json_line(job) == R"({"input":"in/a.jpg","output":"out/a.jpg","status":"planned"})");
  CHECK(json_line(RefusedInput{"pipe.jpg", "pipe.jpg", "it is a pipe"}) ==
        R"({"input":"pipe.jpg","status":"refused","reason":"it is a pipe"})");
  CHECK(json_line(RefusedInput{"\xff", "\xff", "it is a pipe"}) ==
        R"({"input":"�","input_percent":"%FF","status":"refused","reason":"it is a pipe"})");
  PictureOutcome outcome;
  outcome.job = &job;
  for (const auto& [what, status] : {std::pair{Outcome::skipped, "skipped"},
                                     {Outcome::failed, "failed"},
                                     {Outcome::not_begun, "not begun"}}) {
    outcome.outcome = what;
    outcome.reason = "why";
    CHECK(json_line(outcome) == R"({"input":"in/a.jpg","output":"out/a.jpg","status":")" +
                                    std::string(status) + R"(","reason":"why"})");
  }
  // A JPEG that the CPU did among those of GPUs.
  outcome.outcome = Outcome::filtered;
  outcome.reason.clear();
  outcome.report.why_cpu = "it is damaged";
  CHECK(json_line(outcome).starts_with(
      R"({"input":"in/a.jpg","output":"out/a.jpg","status":"done","reason":"it is damaged","width":)"));
}

TEST_CASE("the line of progress says how much is done, how fast, and what is left") {
  CHECK(progress_text(0, 8, 0, 0, 0) == "[>                       ]  0/8");
  // Two pictures a second, and 6 are left.
  CHECK(progress_text(2, 8, 2, 3'000'000, 1) ==
        "[======>                 ]  2/8  2.0/s  3.0 MB/s  0:03 left");
  CHECK(progress_text(1, 7201, 1, 0, 1) ==
        "[>                       ]  1/7201  1.0/s  0.0 MB/s  2:00:00 left");
  CHECK(progress_text(8, 8, 8, 0, 4) ==
        "[========================]  8/8  2.0/s  0.0 MB/s  0:00 left");
}
