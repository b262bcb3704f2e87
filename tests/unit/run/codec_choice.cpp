/// Who reads and writes JPEGs where nobody says so.
#include "src/run/codec_choice.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "src/filter/mask.hpp"
#include "src/mask/make.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Machine machine_with(int cores) {
  Machine machine = this_machine();
  machine.cores = cores;
  machine.built_with_cuda = true;
  return machine;
}

std::string none_missing(const Machine&) {
  return "";
}

constexpr std::int64_t kMany = std::int64_t{1} << 32;

}  // namespace

TEST_CASE("a GPU reads and writes JPEGs where there are enough, and nothing stands against it") {
  const Machine machine = machine_with(16);
  CodecQuestion question;
  question.bytes = kMany;
  CHECK(automatic_codec(question, machine, none_missing).codec == CodecKind::gpu);

  const auto missing = +[](const Machine&) { return std::string("there is no GPU"); };
  CHECK(automatic_codec(question, machine, missing).codec == CodecKind::cpu);
  CHECK(automatic_codec(question, machine, missing).why == "there is no GPU");

  question.refusal = "--progressive needs the CPU's codec";
  CHECK(automatic_codec(question, machine, none_missing).codec == CodecKind::cpu);
  CHECK(automatic_codec(question, machine, none_missing).why == question.refusal);

  question.refusal.clear();
  question.bytes = 1 << 20;
  static bool is_asked = false;
  const auto asked = +[](const Machine&) {
    is_asked = true;
    return std::string();
  };
  CHECK(automatic_codec(question, machine, asked).codec == CodecKind::cpu);
  CHECK_FALSE(is_asked);
}

TEST_CASE("a device that is named twice counts once") {
  Machine machine = this_machine();
  CudaDevices there;
  for (const int ordinal : {0, 1}) {
    CudaDevice device;
    device.ordinal = ordinal;
    there.devices.push_back(device);
  }
  machine.cuda = [&]() -> const CudaDevices& { return there; };
  CHECK(device_ordinals("all", machine) == std::vector<int>{0, 1});
  CHECK(device_ordinals("1,0,1", machine) == std::vector<int>{1, 0});
  CHECK_THROWS_AS(device_ordinals("2", machine), DeviceError);
  for (const char* wrong : {"", "0,", ",0", "-1", "0 1", "zero"})
    CHECK_THROWS_AS(device_ordinals(wrong, machine), UsageError);
}

TEST_CASE("shards have one codec, whatever their share and their machine") {
  for (const int cores : {1, 64}) {
    for (const std::int64_t bytes : {std::int64_t{0}, kMany}) {
      CodecQuestion question;
      question.is_shard = true;
      question.bytes = bytes;
      CHECK(automatic_codec(question, machine_with(cores), none_missing).codec == CodecKind::cpu);
    }
  }
}

TEST_CASE("a run goes on as it began") {
  for (const bool is_shard : {false, true}) {
    for (const std::int64_t bytes : {std::int64_t{0}, kMany}) {
      for (const CodecKind codec : {CodecKind::cpu, CodecKind::gpu}) {
        CodecQuestion question;
        question.begun = codec;
        question.is_shard = is_shard;
        question.bytes = bytes;
        CHECK(automatic_codec(question, machine_with(1), none_missing).codec == codec);
      }
    }
  }
}

namespace {

/// A GPU's codec, and how often somebody asks for its version.
std::string version;
int times_asked = 0;
const std::string& version_of_codec() {
  ++times_asked;
  return version;
}

std::string settings_by(CodecKind codec, const std::string& gpu_version) {
  Batch batch;
  batch.filter = mask_filter(box_mask(3));
  batch.codec = codec;
  version = gpu_version;
  return settings_of(batch, version_of_codec);
}

}  // namespace

TEST_CASE("a journal's settings have the version of a GPU's codec, which is asked for that alone") {
  CHECK(settings_by(CodecKind::gpu, "0.9.0") != settings_by(CodecKind::gpu, "0.8.0"));
  CHECK(settings_by(CodecKind::gpu, "") != settings_by(CodecKind::cpu, ""));
  times_asked = 0;
  CHECK(settings_by(CodecKind::cpu, "0.9.0") == settings_by(CodecKind::cpu, "0.8.0"));
  CHECK(times_asked == 0);
}

TEST_CASE("a run is resumed by its own codec, and the CPU's never asks for a GPU's") {
  const std::string by_cpu = settings_by(CodecKind::cpu, "1"),
                    by_gpu = settings_by(CodecKind::gpu, "1");
  Batch batch;
  batch.filter = mask_filter(box_mask(3));
  times_asked = 0;
  CHECK_FALSE(codec_begun("", batch, version_of_codec));
  CHECK(codec_begun(by_cpu, batch, version_of_codec) == CodecKind::cpu);
  CHECK(times_asked == 0);
  CHECK(codec_begun(by_gpu, batch, version_of_codec) == CodecKind::gpu);
  CHECK_FALSE(codec_begun("of others", batch, version_of_codec));
}

TEST_CASE("devices of several models decode by what all of them have, whoever is ready first") {
  Machine machine = this_machine();
  CudaDevices there;
  const char* const names[] = {"NVIDIA H100 80GB HBM3", "NVIDIA L4", "NVIDIA H100 80GB HBM3"};
  for (int ordinal = 0; ordinal < 3; ++ordinal) {
    CudaDevice device;
    device.ordinal = ordinal;
    device.name = names[ordinal];
    there.devices.push_back(device);
  }
  machine.cuda = [&]() -> const CudaDevices& { return there; };
  CHECK(decoders_for({0, 1, 2}, machine) == "hybrid");
  CHECK(decoders_for({1, 0}, machine) == "hybrid");
  CHECK(decoders_for({0, 2}, machine).empty());
  CHECK(decoders_for({1}, machine).empty());
}

TEST_CASE("what counts for a GPU are JPEGs that become JPEGs") {
  const TemporaryFolder folder;
  const auto job = [&](const std::string& in, const std::string& out) {
    save(folder / in, Bytes(100));
    return Job{folder / in, in, folder / out};
  };
  const std::vector<Job> jobs = {job("a.jpg", "a.jpg"),
                                 job("b.JPEG", "b.jpeg"),
                                 job("c.jpg", "c.png"),
                                 job("d.png", "d.jpg"),
                                 {folder / "none.jpg", "none.jpg", folder / "none.jpg"}};
  CHECK(bytes_for_gpu(jobs, {}) == 200);
  WriteOptions write;
  write.format = "jpg";
  CHECK(bytes_for_gpu(jobs, write) == 300);
  write.format = "png";
  CHECK(bytes_for_gpu(jobs, write) == 0);
}
