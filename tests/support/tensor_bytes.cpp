#include "tests/support/tensor_bytes.hpp"

#include <doctest/doctest.h>

namespace convfilt::test {

void check_bytes(const Problem& p) {
  const WithWarpgroups with;
  const Strategy *tensor = find_strategy("tensor"), *cpu = find_strategy("cpu");
  REQUIRE((tensor && cpu));
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ", divisor " << p.mask.divisor);
  REQUIRE(tensor->refusal(p) == "");
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 94);
  const Picture expected = run({cpu, DeviceKind::cpu}, p, in);
  for (const Runner& runner : runners_of("tensor")) {
    for (const bool padded : {true, false}) {
      PlanOptions options;
      options.padded_pitch = padded;
      const Picture out = run(runner, p, in, options);
      const Place at = first_difference(out, expected);
      CHECK_MESSAGE(same_samples(out, expected), "first difference at " << at.x << ' ' << at.y);
    }
  }
}

void check_pieces(const Problem& p, std::size_t limit, bool pieces) {
  const WithWarpgroups with;
  const Strategy* tensor = find_strategy("tensor");
  INFO(to_string(p) << ", limit " << limit);
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 96);
  const Picture expected = run({find_strategy("cpu"), DeviceKind::cpu}, p, in);
  for (const Runner& runner : runners_of("tensor")) {
    PlanOptions options;
    options.memory_limit = limit;
    Picture out = Picture::result_of(p);
    const Timing timing = tensor->prepare(p, runner.device, options)->run(in.view(), out.view());
    CHECK(timing.bands > (pieces ? p.out_height() : 1));
    CHECK(same_samples(out, expected));
  }
}

std::uint64_t reads(const Problem& p, bool padded) {
  Picture in = Picture::of(p), out = Picture::result_of(p);
  in.fill(Fill::noise, 97);
  PlanOptions options;
  options.padded_pitch = padded;
  const auto plan = find_strategy("tensor")->prepare(p, DeviceKind::emulator, options);
  plan->run(in.view(), out.view());
  return plan->counts().global_reads;
}

}  // namespace convfilt::test
