/// Pictures that lie on the device, filtered in the order of a caller's stream.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/support/device/callers_stream.hpp"
#include "tests/support/device/with_warpgroups.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

/// A picture in the stream's memory, gaps and canaries included. Copies to and from host memory
/// wait for each other by themselves, so that those among runs stay on the device.
struct Resident {
  Picture& host;
  std::byte* memory;

  Resident(Picture& picture, CallersStream& stream)
      : host(picture), memory(stream.allocate(picture.bytes().size())) {}

  PictureView<std::byte> view() const {
    PictureView<std::byte> there = host.view();
    there.data = memory + (there.data - host.bytes().data());
    return there;
  }
  void upload(CallersStream& stream) const {
    stream.copy(memory, host.bytes().data(), host.bytes().size());
  }
  void download(CallersStream& stream) const {
    stream.copy(host.bytes().data(), memory, host.bytes().size());
  }
};

/// Rows of whole lines of 128 bytes, and of whole sixteens, at every depth, which plans read and
/// write where they lie; rows that begin at sixteens and end between them; and rows with gaps,
/// beginning anywhere.
std::vector<Case> layouts(Depth depth, int channels) {
  const auto of_size = [&](int width, int height, Border border, int gap, int lead) {
    const double value = depth == Depth::f32 ? 0.25 : 77;
    Case one{Problem{width, height, channels, depth, border, value, box_mask(5, 5)}};
    one.in_gap = one.out_gap = gap;
    one.lead = lead;
    return one;
  };
  return {of_size(256, 21, Border::reflect101, 0, 0),
          of_size(256, 21, Border::replicate, 128, 0),
          of_size(80, 37, Border::wrap, 0, 0),
          of_size(77, 37, Border::reflect, 3 * channels, 16),
          of_size(61, 37, Border::reflect101, 0, 0),
          of_size(61, 37, Border::constant, 7, 3)};
}

/// Filters two pictures one after the other in the same memory, and a third at the same time in
/// another stream, and compares with what the same runner makes of pictures in host memory.
void check_resident(const Runner& runner, const Problem& problem, const Case& layout) {
  INFO(to_string(runner) << ", " << to_string(layout) << ", mask " << problem.mask.name);
  Picture in = Picture::of(problem, layout.in_gap, layout.lead);
  Picture out = Picture::result_of(problem, layout.out_gap, layout.lead);
  Picture second_out = out, others_out = out;
  in.fill(Fill::noise, 1);
  const Picture before = in;
  Picture second = in;
  second.fill(Fill::noise, 2);
  const Picture expected = run(runner, problem, in);
  const Picture second_expected = run(runner, problem, second);

  CallersStream stream(runner.device), other(runner.device);
  const std::unique_ptr<Plan> plan = runner.strategy->prepare(problem, runner.device);
  const std::size_t in_bytes = in.bytes().size(), out_bytes = out.bytes().size();
  const Resident there(in, stream), first(in, stream), next(second, stream);
  const Resident result(out, stream), first_result(out, stream);
  const Resident others(second, other), others_result(others_out, other);
  result.upload(stream);
  first.upload(stream);
  next.upload(stream);
  others.upload(other);
  others_result.upload(other);
  stream.wait();
  other.wait();

  // The picture arrives late, and a second one takes its place as soon as the stream lets it.
  stream.delay();
  stream.copy(there.memory, first.memory, in_bytes);
  plan->run_resident(there.view(), result.view(), stream.get());
  stream.copy(there.memory, next.memory, in_bytes);
  stream.copy(first_result.memory, result.memory, out_bytes);
  plan->run_resident(others.view(), others_result.view(), other.get());
  plan->run_resident(there.view(), result.view(), stream.get());
  others_result.download(other);
  other.wait();
  first_result.download(stream);
  stream.copy(second_out.bytes().data(), result.memory, out_bytes);
  there.download(stream);
  stream.wait();

  CHECK(same_samples(out, expected));
  CHECK(same_samples(second_out, second_expected));
  CHECK(same_samples(others_out, second_expected));
  for (const Picture* one : {&out, &second_out, &others_out}) CHECK(one->canaries_intact());
  CHECK(in.bytes() == second.bytes());  // the plan leaves its input alone
  plan->run(before.view(), out.view());
  CHECK(same_samples(out, expected));

  // In another stream, and for host memory, work begins when what is queued elsewhere has ended.
  // The plan outlives that stream.
  const Picture blank = Picture::result_of(problem, layout.out_gap, layout.lead);
  Picture late_out = blank;
  const Resident late(late_out, other);
  for (const bool is_on_host : {true, false}) {
    late_out = out = others_out = blank;
    late.upload(other);
    others_result.upload(other);
    other.wait();
    stream.delay();
    plan->run_resident(there.view(), late.view(), stream.get());
    if (is_on_host) {
      plan->run(before.view(), out.view());
      CHECK(same_samples(out, expected));
    } else {
      CallersStream third(runner.device);
      plan->run_resident(others.view(), others_result.view(), third.get());
      third.wait();
      others_result.download(other);
    }
    late.download(other);
    other.wait();
    CHECK(same_samples(late_out, second_expected));
    for (const Picture* one : {&late_out, &out, &others_out}) CHECK(one->canaries_intact());
    if (!is_on_host) CHECK(same_samples(others_out, second_expected));
    stream.wait();
  }
}

/// Those without settings.
std::vector<Runner> plain_runners() {
  std::vector<Runner> plain = runners();
  std::erase_if(plain, [](const Runner& runner) { return runner.tuning != Tuning{}; });
  return plain;
}

/// Puts layouts to the runners, each under the first of these masks that it takes. Returns those
/// that take none.
std::vector<std::string> check_layouts(const std::vector<Runner>& all, Depth depth) {
  struct Chosen {
    Runner runner;
    Problem problem;
    Case layout;
    Levels levels;
  };
  std::vector<Chosen> cases;
  std::vector<std::string> idle;
  for (const Runner& runner : all) {
    const std::size_t before = cases.size();
    for (const int channels : {1, 3}) {
      int number = 0;
      for (const Case& layout : layouts(depth, channels)) {
        Problem problem = layout.problem;
        // Most strategies take the first mask, winograd the second, coarse the third.
        for (const Mask& mask : {box_mask(5, 5), box_mask(3, 3), gaussian_mask(41, 47, 8)}) {
          problem.mask = mask;
          if (!runner.strategy->refusal(problem).empty()) continue;
          Levels levels = levels_of(runner);
          levels.insert(levels.end(), {channels, number});
          cases.push_back({runner, problem, layout, levels});
          break;
        }
        ++number;
      }
    }
    if (cases.size() == before) idle.push_back(to_string(runner));
  }
  REQUIRE(!cases.empty());
  for (const Chosen& one : by_pairs(std::move(cases), [](const Chosen& c) { return c.levels; }))
    check_resident(one.runner, one.problem, one.layout);
  return idle;
}

}  // namespace

// A test case for each depth, since sanitizers run test cases side by side.
TEST_CASE("resident pictures of 8 bits get the bytes that a host's get, in the caller's order") {
  CHECK(check_layouts(plain_runners(), Depth::u8) == std::vector<std::string>{});
}

TEST_CASE("resident pictures of 16 bits get the bytes that a host's get, in the caller's order") {
  check_layouts(plain_runners(), Depth::u16);
}

TEST_CASE("resident pictures of floats get the bytes that a host's get, in the caller's order") {
  check_layouts(plain_runners(), Depth::f32);
}

TEST_CASE("resident pictures with NaN and infinities take no sample under a weight of 0") {
  Mask ring = box_mask(37, 35);
  for (int j = 0; j < 35; ++j)
    for (int i = 1; i < 36; ++i) ring.weights[std::size_t(j) * 37 + i] = 0;
  const Mask masks[] = {make_mask("sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 2, 0.5), ring,
                        make_mask("nothing", 2, 1, {0, 0})};
  struct Case {
    Runner runner;
    Problem problem;
    int mask;
  };
  std::vector<Case> cases;
  for (const Mask& mask : masks) {
    for (const Border border : kBorders) {
      for (const Mode mode : {Mode::same, Mode::full}) {
        const Problem p{45, 31, 1 + mask.height % 4, Depth::f32, border, 0.25, mask, mode};
        for (const Runner& runner : runners())
          if (runner.tuning == Tuning{} && runner.family() != Family::transform &&
              runner.strategy->refusal(p).empty())
            cases.push_back({runner, p, int(&mask - masks)});
      }
    }
  }
  cases = by_pairs(std::move(cases), [](const Case& c) {
    return Levels{levels_of(c.runner)[0], c.mask, int(c.problem.mode), int(c.problem.border)};
  });
  REQUIRE(!cases.empty());
  for (const auto& [runner, p, mask] : cases) {
    INFO(to_string(runner) << ", " << to_string(p));
    Picture in = Picture::of(p);
    in.fill(Fill::noise, 3);
    in.set(30, 20, 0, std::nan(""));
    in.set(44, 0, p.channels - 1, std::numeric_limits<double>::infinity());
    const Picture expected = run(runner, p, in);
    Picture out = Picture::result_of(p);
    CallersStream stream(runner.device);
    const Resident there(in, stream), result(out, stream);
    there.upload(stream);
    const std::unique_ptr<Plan> plan = runner.strategy->prepare(p, runner.device);
    plan->run_resident(there.view(), result.view(), stream.get());
    result.download(stream);
    stream.wait();
    int differing = 0;
    for (int y = 0; y < out.height(); ++y) {
      for (int x = 0; x < out.width(); ++x) {
        for (int c = 0; c < out.channels(); ++c) {
          const double a = out.get(x, y, c), b = expected.get(x, y, c);
          differing += !(a == b || (std::isnan(a) && std::isnan(b)));
        }
      }
    }
    CHECK(differing == 0);
  }
}

TEST_CASE("resident pictures get the same bytes by warpgroups") {
  const WithWarpgroups on;
  std::vector<Runner> emulated;
  for (const char* name : {"tensor", "separable-tensor"})
    for (const Runner& runner : runners_of(name))
      if (runner.device == DeviceKind::emulator) emulated.push_back(runner);
  if (emulator_missing()) return;
  CHECK(check_layouts(emulated, Depth::u8) == std::vector<std::string>{});
}

TEST_CASE("a resident picture needs memory for the plan's planes, not for pictures it stands for") {
  const Problem problem{64, 64, 3, Depth::u8, Border::replicate, 0, box_mask(3, 3)};
  PlanOptions options;
  options.memory_limit = 2 * 3 * 128 * 64;  // planes of rows of 128 bytes
  for (const Runner& runner : runners()) {
    if (runner.device != DeviceKind::emulator || runner.strategy->name != "basic") continue;
    Picture in = Picture::of(problem), out = Picture::result_of(problem);
    in.fill(Fill::noise, 1);
    const std::unique_ptr<Plan> plan = runner.strategy->prepare(problem, runner.device, options);
    plan->run_resident(in.view(), out.view(), nullptr);
    CHECK(same_samples(out, run(runner, problem, in)));
  }
}

TEST_CASE("a resident picture that does not fit as a whole is refused, and the plan stays usable") {
  const Problem problem{64, 64, 1, Depth::u8, Border::replicate, 0, box_mask(3, 3)};
  PlanOptions little;
  little.memory_limit = 4096;
  for (const Runner& runner : runners()) {
    if (runner.device != DeviceKind::emulator || runner.strategy->name != "basic") continue;
    Picture in = Picture::of(problem), out = Picture::result_of(problem);
    in.fill(Fill::noise, 1);
    const std::unique_ptr<Plan> plan = runner.strategy->prepare(problem, runner.device, little);
    CHECK_THROWS_WITH_AS(plan->run_resident(in.view(), out.view(), nullptr),
                         doctest::Contains("as a whole; free some, or filter it in pieces"),
                         DeviceError);
    plan->run(in.view(), out.view());
    CHECK(same_samples(out, run(runner, problem, in)));
  }
}

}  // namespace convfilt::test
