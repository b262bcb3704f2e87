/// Profiles: what a file must have, which of them speaks for a device, and what is between points.
#include "src/auto/profile.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "kernels/registry.hpp"
#include "src/auto/profile_store.hpp"
#include "src/base/errors.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/profiles.hpp"

namespace convfilt::test {
namespace {

const std::string kCpu =
    R"("cpu": {"name": "a CPU", "sample_u8_s": 1e-9, "sample_wide_s": 2e-9, "multiply_add_u8_s": 1e-11,
       "multiply_add_wide_s": 3e-11, "transform_sample_s": 5e-8})";
const std::string kGpu =
    R"("gpu": {"name": "a GPU", "major": 8, "minor": 6, "multiprocessors": 84, "copy_bytes_per_s": 7e11,
       "context_s": 0.2, "upload_bytes_per_s": 1e10, "download_bytes_per_s": 1.1e10})";

std::string file_with(const std::string& curves, const std::string& gpu = kGpu) {
  return R"({"format": "convfilt profile 1", )" + kCpu + ", " + gpu + R"(, "curves": [)" + curves +
         "]}";
}

std::string curve_with(const std::string& points, const std::string& size = "640") {
  return R"({"strategy": "direct", "depth": "u16", "channels": 1, "width": )" + size +
         R"(, "height": 10, "taps_ms": )" + points + "}";
}

std::string complaint(const std::string& json) {
  try {
    parse_profile(json, "a/b.json");
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Problem problem_of(int width, int height, int side, int channels = 1) {
  return {width, height, channels, Depth::u16, Border::replicate, 0, diagonal_mask(side)};
}

Profile gpu_profile(const std::string& name, int major, int minor, double copy_rate) {
  Profile profile;
  profile.cpu.name = "CPU of " + name;
  profile.gpu = GpuRates{name, major, minor, 100, copy_rate, 0.1, 1e9, 1e9};
  return profile;
}

CudaDevice device_named(const std::string& name, int major, int minor, double memory_rate = 0) {
  return {0, name, major, minor, 100, 1, 1e9, memory_rate};
}

const CudaDevice kAny = device_named("any", 9, 0);

}  // namespace

TEST_CASE("a profile is read as it was written") {
  const Profile profile = parse_profile(file_with(curve_with("[[9, 0.5], [25, 1.5]]")), "p.json");
  CHECK(profile.path == "p.json");
  CHECK(profile.cpu.name == "a CPU");
  CHECK(profile.cpu.multiply_add_wide == 3e-11);
  REQUIRE(profile.gpu);
  CHECK(profile.gpu->name == "a GPU");
  CHECK(profile.gpu->minor == 6);
  CHECK(profile.gpu->download_rate == 1.1e10);
  REQUIRE(profile.curves.size() == 1);
  CHECK(profile.curves[0].depth == Depth::u16);
  CHECK(profile.curves[0].points[1].ms == 1.5);
  CHECK(profile.curves[0].kernel == "");

  for (const Profile& one : shipped_profiles()) {
    const std::string text = to_json(one);
    CHECK(to_json(parse_profile(text, "again")) == text);
  }
  Profile without = profile;
  without.gpu.reset();
  without.curves.clear();
  CHECK_FALSE(parse_profile(to_json(without), "x").gpu);
}

TEST_CASE("what is wrong in a profile is named, with file and place") {
  const std::string file = "profile a/b.json: ";
  CHECK(has(complaint("{"), file + "is not JSON from byte 2 on"));
  CHECK(has(complaint("[]"), file + "the file is not an object"));
  CHECK(has(complaint("{}"), file + "the file lacks \"format\""));
  CHECK(has(complaint(R"({"format": "other"})"), "format is not \"convfilt profile 1\""));
  CHECK(has(complaint(R"({"format": "convfilt profile 1"})"), "the file lacks \"cpu\""));
  CHECK(has(complaint(R"({"format": "convfilt profile 1", "cpu": {"name": 3}})"),
            "cpu.name is no text"));
  CHECK(has(complaint(file_with("", R"("gpu": {"name": "x", "major": 8.5})")),
            "gpu.major is no whole number, 1 to 1000"));
  CHECK(has(complaint(file_with("3")), "curves[0] is not an object"));
  const std::string good = curve_with("[[9, 1]]");
  CHECK(complaint(file_with(good)) == "");
  for (const auto& [points, says] :
       {std::pair{"7", "curves[1].taps_ms is not a list"},
        {"[]", "curves[1].taps_ms is empty"},
        {"[[9]]", "curves[1].taps_ms[0] is no pair of taps and milliseconds"},
        {"[[9, -1]]", "curves[1].taps_ms[0][1] is no number above 0"},
        {"[[9, 0]]", "curves[1].taps_ms[0][1] is no number above 0"},
        {"[[9, \"1\"]]", "curves[1].taps_ms[0][1] is no number above 0"},
        {"[[9, 1], [9, 2]]", "curves[1].taps_ms[1] has no more taps than the point before it"}}) {
    const std::string text = complaint(file_with(good + "," + curve_with(points)));
    CHECK(has(text, file + says));
    CHECK(has(text, "convfilt tune"));
  }
  CHECK(
      has(complaint(file_with(curve_with("[[9, 1]]", "0"))), "curves[0].width is no whole number"));
  for (const char* value : {"1e999", "-1e999"})
    CHECK(has(complaint(file_with(curve_with("[[9, " + std::string(value) + "]]"))),
              file + "is not JSON: number overflow"));
  for (const auto& [curves, says] : {std::pair{"{}", "curves is not a list"},
                                     {"[[]]", "curves[0] is not an object"},
                                     {"null", "list"}}) {
    std::string text = file_with("@");
    text.replace(text.find("[@]"), 3, curves);
    CHECK(has(complaint(text), says));
  }
}

TEST_CASE("a file cut anywhere is told of as no JSON, an empty one as empty") {
  const std::string whole = file_with(curve_with("[[9, 1]]"));
  CHECK(has(complaint(""), "profile a/b.json: the file is empty"));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    INFO(whole.substr(0, size));
    CHECK(has(complaint(whole.substr(0, size)), "profile a/b.json: is not JSON from byte "));
  }
}

TEST_CASE("two curves for one size, and channels that nobody measures, are refused") {
  const std::string grey = curve_with("[[9, 1]]");
  const auto with = [&](const std::string& word, const std::string& other) {
    std::string curve = grey;
    return curve.replace(curve.find(word), word.size(), other);
  };
  CHECK(has(complaint(file_with(grey + "," + grey)),
            "curves[1] is for what curves[0] is for, and as many pixels"));
  const std::string upright = with("640, \"height\": 10", "10, \"height\": 640");
  CHECK(has(complaint(file_with(grey + "," + upright)), "curves[1] is for what curves[0]"));
  for (const char* channels : {"0", "2", "4"})
    CHECK(
        has(complaint(file_with(with("\"channels\": 1", "\"channels\": " + std::string(channels)))),
            "curves[0].channels is not 1 (grey) or 3 (colour)"));
  for (const auto& [word, other] : {std::pair{"direct", "basic"},
                                    {"u16", "u8"},
                                    {"\"channels\": 1", "\"channels\": 3"},
                                    {"640", "641"},
                                    {"\"depth\"", "\"kernel\": \"warps\", \"depth\""}})
    CHECK(complaint(file_with(grey + "," + with(word, other))) == "");
}

TEST_CASE("an empty file and a folder of a profile's name are told of as what they are") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("convfilt-unreadable-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "a.json");
  std::ofstream(folder / "b.json").flush();
  const auto told_of = [&](const char* name) -> std::string {
    try {
      load_profile((folder / name).string());
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  const std::string of_folder = told_of("a.json"), of_empty = told_of("b.json"),
                    of_none = told_of("c.json");
  CHECK(profiles_in(folder.string(), Origin::users).empty());
  std::filesystem::remove_all(folder);
  CHECK(has(of_folder, "a.json: cannot be read: Is a directory"));
  CHECK(has(of_empty, "b.json: the file is empty"));
  CHECK(has(of_none, "c.json: cannot be read: No such file or directory"));
}

TEST_CASE("a broken file is left out, the others are read") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("convfilt-profiles-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.json") << "{";
  std::ofstream(folder / "b.json") << file_with(curve_with("[[9, 1]]"));
  std::ofstream(folder / "c.txt") << file_with(curve_with("[[9, 1]]"));  // not named as one
  const auto found = profiles_in(folder.string(), Origin::users);
  std::filesystem::remove_all(folder);
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == (folder / "b.json").string());
  CHECK(found[0].origin == Origin::users);
}

TEST_CASE("times between the points that were measured") {
  const Strategy& direct = *find_strategy("direct");
  Profile profile;
  profile.curves = {{"direct", Depth::u16, 1, "", 100, 100, {{9, 2}, {25, 6}}},
                    {"direct", Depth::u16, 1, "", 200, 200, {{9, 10}, {25, 30}}}};
  const auto ms = [&](int width, int height, int side) {
    const auto found = profile.ms_of(direct, problem_of(width, height, side), kAny);
    REQUIRE(found);
    return *found;
  };
  CHECK(ms(100, 100, 3) == doctest::Approx(2));
  CHECK(ms(100, 100, 1) == doctest::Approx(2));
  CHECK(ms(100, 100, 4) == doctest::Approx(2 + 4 * 7 / 16.));  // 16 of 9 to 25 taps
  CHECK(ms(100, 100, 10) == doctest::Approx(6 * 100 / 25.));
  CHECK(ms(10, 10, 3) == doctest::Approx(2));  // a small picture takes no less
  CHECK(ms(200, 200, 5) == doctest::Approx(30));
  CHECK(ms(250, 100, 3) == doctest::Approx(2 + 8 * 15 / 30.));  // 25,000 of 10,000 to 40,000 pixels
  CHECK(ms(400, 400, 3) == doctest::Approx(10 + 8 * 120 / 30.));
  Problem inside = problem_of(104, 104, 5);  // whose outputs are as many as the first curve's
  inside.mode = Mode::valid;
  CHECK(profile.ms_of(direct, inside, kAny).value() == doctest::Approx(6));
  profile.curves.push_back({"direct", Depth::u16, 1, "", 300, 300, {{9, 50}}});
  CHECK(ms(250, 100, 3) == doctest::Approx(2 + 8 * 15 / 30.));  // still by the two sizes around it
  profile.curves.pop_back();
  CHECK_FALSE(profile.ms_of(direct, problem_of(100, 100, 3, 3), kAny));
  CHECK_FALSE(profile.ms_of(*find_strategy("basic"), problem_of(100, 100, 3), kAny));

  // However absurd the figures are, a larger picture takes no less, and no time is infinite.
  Profile absurd = profile;
  absurd.curves[1].points = {{9, 1}, {25, 3}};
  const auto absurd_ms = [&](int side) {
    return absurd.ms_of(direct, problem_of(side, side, 3), kAny).value();
  };
  CHECK(absurd_ms(200) == doctest::Approx(1));
  CHECK(absurd_ms(201) >= 2);
  CHECK(absurd_ms(20000) >= 2);
  for (const auto& [small, large] : {std::pair{1e300, 1.7e308}, {1.7e308, 1e-300}}) {
    absurd.curves[0].points = {{1e-9, small}};
    absurd.curves[1].points = {{1e-9, large}};
    for (const int side : {100, 150, 200, 20000}) {
      INFO(small << " then " << large << " at " << side);
      CHECK(std::isfinite(absurd_ms(side)));
      CHECK(absurd_ms(side) > 0);
    }
  }

  profile.curves.pop_back();
  CHECK(ms(200, 200, 3) == doctest::Approx(8));
  profile.curves[0].points.pop_back();
  CHECK(ms(100, 100, 6) == doctest::Approx(2 * 36 / 9.));  // tune left the larger masks out
  const Strategy& fft = *find_strategy("fft");
  profile.curves = {{"fft", Depth::u16, 1, "", 100, 100, {{9, 3}}}};
  CHECK(profile.ms_of(fft, problem_of(100, 100, 31), kAny) == 3);
}

TEST_CASE("masks that are no squares go by their multiply-adds, terms by all lines of theirs") {
  Problem problem = problem_of(100, 100, 3);
  problem.mask = make_mask("13x2", 13, 2, std::vector<double>(26, 1), 26);
  CHECK(taps_of(*find_strategy("direct"), problem) == 26);
  CHECK(taps_of(*find_strategy("separable"), problem) == 15);
  CHECK(taps_of(*find_strategy("coarse"), problem) == 15);
  Random random(3);
  problem.mask = real_low_rank_mask(random, 9, 9, 2);
  CHECK(taps_of(*find_strategy("separable"), problem) == 36);
}

TEST_CASE("each kernel of a strategy has its curves; another stands for one not measured") {
  Strategy strategy = *find_strategy("tensor");
  strategy.kernel_for = [](const Problem& problem, const CudaDevice& device) -> std::string_view {
    return device.major == 9 && problem.width > 1000 ? "new" : "old";
  };
  Profile profile;
  profile.curves = {{"tensor", Depth::u8, 1, "new", 100, 100, {{9, 1}}},
                    {"tensor", Depth::u8, 1, "old", 100, 100, {{9, 7}}}};
  const Problem wide{2048, 1, 1, Depth::u8, Border::replicate, 0, diagonal_mask(3)};
  const Problem narrow{640, 10, 1, Depth::u8, Border::replicate, 0, diagonal_mask(3)};
  const CudaDevice newer = device_named("x", 9, 0), older = device_named("x", 8, 0);
  CHECK(profile.ms_of(strategy, wide, newer) == 1);
  CHECK(profile.ms_of(strategy, wide, older) == 7);
  CHECK(profile.ms_of(strategy, narrow, newer) == 7);
  profile.curves.pop_back();
  CHECK(profile.ms_of(strategy, wide, older) == 1);
}

TEST_CASE("the profile of a device's name speaks, else the nearest") {
  std::vector<Profile> all = {gpu_profile("A100", 8, 0, 1.5e12), gpu_profile("4090", 8, 9, 0.9e12),
                              gpu_profile("H200", 9, 0, 4.1e12)};
  const auto name_for = [&](const CudaDevice& device) {
    return profile_for(all, device)->gpu->name;
  };
  CHECK(name_for(device_named("4090", 5, 0)) == "4090");
  CHECK(name_for(device_named("H100", 9, 0, 3e12)) == "H200");
  CHECK(name_for(device_named("B200", 10, 0, 8e12)) == "H200");
  CHECK(name_for(device_named("3080", 8, 6, 0.76e12)) == "4090");
  CHECK(name_for(device_named("A100X", 8, 9, 2e12)) == "A100");
  CHECK(name_for(device_named("unknown memory", 8, 7)) == "4090");
  // One of its own major version stands nearer, however much slower its memory is.
  CHECK(name_for(device_named("A900", 8, 0, 4.1e12)) == "A100");
  // The first of two with the same name speaks: the user's stand before those shipped.
  all.push_back(gpu_profile("H200", 9, 0, 4.1e12));
  CHECK(profile_for(all, device_named("H200", 9, 0)) == &all[2]);
  all.pop_back();
  CHECK(profile_for(all, std::string("CPU of H200")) == &all[2]);
  CHECK(profile_for(all, std::string("another")) == &all[0]);
  CHECK(likely_profile(all) == &all[0]);

  CHECK(told(all[2], device_named("H200", 9, 0)) == "the shipped profile of H200");
  CHECK(told(all[2], device_named("H100", 9, 0, 3.35e12)) ==
        "the shipped profile of H200, the nearest to this H100 (compute capability 9.0 for 9.0, "
        "memory of 4.1 for 3.4 TB/s)");
  all.erase(all.begin(), all.end());
  CHECK(profile_for(all, device_named("H200", 9, 0)) == nullptr);
  CHECK(likely_profile(all) == nullptr);
}

namespace {

/// A variable of the environment, until the test ends.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) before_ = value;
  }
  Variable(const Variable&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

  void set(const char* value) { setenv(name_, value, 1); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("the user's profile is named after the device, in a folder of the environment") {
  Variable cache("XDG_CACHE_HOME"), home("HOME");
  home.set("/home/me");
  cache.set("/cache");
  CHECK(users_profile_path("NVIDIA H200") == "/cache/convfilt/profiles/nvidia-h200.json");
  CHECK(users_profile_path("(R) Xeon(R) CPU @ 2.60GHz (x2)") ==
        "/cache/convfilt/profiles/r-xeon-r-cpu-2-60ghz-x2.json");
  CHECK(users_profile_path("*") == "/cache/convfilt/profiles/profile.json");
  // By the XDG specification a path that is not absolute is no path.
  for (const char* none : {"", "cache"}) {
    cache.set(none);
    CHECK(users_profile_path("H200") == "/home/me/.cache/convfilt/profiles/h200.json");
  }
}

TEST_CASE("what is told of a profile is true: whose it is, and which version measured it") {
  Profile profile = gpu_profile("H200", 9, 0, 4.1e12);
  const CudaDevice same = device_named("H200", 9, 0), other = device_named("H100", 9, 0);
  CHECK(told(profile, same) == "the shipped profile of H200");
  profile.version = CONVFILT_VERSION;
  profile.origin = Origin::users;
  CHECK(told(profile, same) == "your profile of H200");
  CHECK(told(profile, other) ==
        "your profile of H200, the nearest to this H100 (compute capability 9.0 for 9.0)");
  profile.origin = Origin::named;
  CHECK(told(profile, same) == "the profile of H200 in CONVFILT_PROFILES");
  profile.version = "0.0.1";
  CHECK(told(profile, same) ==
        "the profile of H200 in CONVFILT_PROFILES, measured by version 0.0.1");
  profile.version = "";
  profile.origin = Origin::users;
  CHECK(told(profile, same) == "your profile of H200, measured by a version that it does not name");
}

TEST_CASE("the version that measured is kept in the file; a file without one is read") {
  Profile profile = parse_profile(file_with(""), "p.json");
  CHECK(profile.version == "");
  CHECK(to_json(profile).find("version") == std::string::npos);
  profile.version = "0.0.1";
  CHECK(parse_profile(to_json(profile), "again").version == "0.0.1");
  std::string json = file_with("");
  CHECK(has(complaint(json.insert(1, "\"version\": 3, ")), "version is no text"));
}

TEST_CASE("of the user's profiles the newest speaks for the CPU and the GPU, else the first name") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("convfilt-newest-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string of_cpu = file_with(""), of_both = file_with(curve_with("[[9, 1]]"));
  of_cpu.erase(of_cpu.find(kGpu), kGpu.size() + 2);
  std::ofstream(folder / "intel.json") << of_cpu;
  std::ofstream(folder / "nvidia.json") << of_both;
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto speaks = [&](Origin origin, int intel_seconds, int nvidia_seconds) {
    using std::chrono::seconds;
    std::filesystem::last_write_time(folder / "intel.json", now + seconds(intel_seconds));
    std::filesystem::last_write_time(folder / "nvidia.json", now + seconds(nvidia_seconds));
    const auto profiles = profiles_in(folder.string(), origin);
    REQUIRE(profiles.size() == 2);
    return std::filesystem::path(profile_for(profiles, std::string("a CPU"))->path).stem().string();
  };
  CHECK(speaks(Origin::users, 1, 2) == "nvidia");
  CHECK(speaks(Origin::users, 2, 1) == "intel");
  CHECK(speaks(Origin::users, 1, 1) == "intel");
  CHECK(speaks(Origin::named, 1, 2) == "intel");
  CHECK(speaks(Origin::shipped, 1, 2) == "intel");
  std::filesystem::remove_all(folder);
}

}  // namespace convfilt::test
