/// Parts of a list of pictures, and the launchers that say which.
#include "src/run/shard.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "src/base/errors.hpp"
#include "src/base/splitmix.hpp"

using namespace convfilt;

namespace {

using Variables = std::map<std::string, std::string>;

Shard shard(const std::string& word, const Variables& variables = {}) {
  return shard_in(word, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("a picture belongs to exactly one shard, and shards are nearly equal") {
  constexpr int kNames = 20000;
  for (const int count : {1, 2, 7, 8}) {
    CAPTURE(count);
    std::map<int, int> sizes;
    for (int i = 0; i < kNames; ++i) {
      const std::string name = "folder/IMG_" + std::to_string(i) + ".jpg";
      int takers = 0;
      for (int index = 1; index <= count; ++index)
        if (Shard{index, count}.takes(name)) ++takers, ++sizes[index];
      REQUIRE(takers == 1);
    }
    REQUIRE(int(sizes.size()) == count);
    // The standard deviation of a part's size is below sqrt(kNames / count); six of them never
    // happen.
    for (const auto& [index, size] : sizes)
      CHECK(std::abs(size - kNames / count) < 6 * std::sqrt(double(kNames) / count));
  }
}

TEST_CASE("the division is the same in every version") {
  // Independent of this program: FNV-1a of "a" is 0xaf63dc4c8601ec8c, spread by splitmix64's last
  // two steps in arbitrary-precision arithmetic.
  CHECK(stable_hash("a") == 0x2c0bdbf481420f8);
  CHECK(stable_hash("") == 0xf52a15e9a9b5e89b);
}

TEST_CASE("shards by hand") {
  CHECK(shard("1/1") == Shard{1, 1});
  CHECK(shard("3/8") == Shard{3, 8});
  for (const char* wrong : {"", "0/4", "5/4", "1", "1/", "/2", "a/2", "1/2/3", "-1/2", "1/0",
                            "1/1000001", "auto/", "auto/x", "automatic"})
    CHECK_THROWS_AS(shard(wrong), UsageError);
}

TEST_CASE("shards by launchers' variables") {
  const auto slurm = [](int id, int min, int max, int count, int step) {
    return Variables{{"SLURM_ARRAY_TASK_ID", std::to_string(id)},
                     {"SLURM_ARRAY_TASK_MIN", std::to_string(min)},
                     {"SLURM_ARRAY_TASK_MAX", std::to_string(max)},
                     {"SLURM_ARRAY_TASK_COUNT", std::to_string(count)},
                     {"SLURM_ARRAY_TASK_STEP", std::to_string(step)}};
  };
  CHECK(shard("auto", slurm(0, 0, 3, 4, 1)) == Shard{1, 4});
  CHECK(shard("auto", slurm(3, 0, 3, 4, 1)) == Shard{4, 4});
  CHECK(shard("auto", slurm(5, 1, 7, 4, 2)) == Shard{3, 4});
  CHECK_THROWS_AS(shard("auto", slurm(3, 1, 9, 3, 1)), UsageError);  // --array=1,3,9
  CHECK_THROWS_AS(shard("auto", slurm(4, 1, 7, 4, 2)), UsageError);  // no index of it

  // Each task of the array runs a step of three.
  Variables both = slurm(1, 0, 1, 2, 1);
  both["SLURM_PROCID"] = "2";
  CHECK(shard("auto", both) == Shard{2, 2});  // a batch script, which is no step
  both["SLURM_STEP_NUM_TASKS"] = "3";
  CHECK(shard("auto", both) == Shard{6, 6});
  CHECK(shard("auto", {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "3"}}) == Shard{2, 3});

  CHECK(shard("auto", {{"AWS_BATCH_JOB_ARRAY_INDEX", "9"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "10"}}) ==
        Shard{10, 10});
  CHECK(shard("auto/5", {{"JOB_COMPLETION_INDEX", "4"}}) == Shard{5, 5});
  CHECK_THROWS_AS(shard("auto", {{"JOB_COMPLETION_INDEX", "4"}}), UsageError);
  CHECK_THROWS_AS(shard("auto/5", {{"JOB_COMPLETION_INDEX", "5"}}), UsageError);
  CHECK(shard("auto", {{"SGE_TASK_ID", "7"},
                       {"SGE_TASK_FIRST", "1"},
                       {"SGE_TASK_LAST", "9"},
                       {"SGE_TASK_STEPSIZE", "3"}}) == Shard{3, 3});
  CHECK(shard("auto",
              {{"LSB_JOBINDEX", "2"}, {"LSB_JOBINDEX_END", "6"}, {"LSB_JOBINDEX_STEP", "1"}}) ==
        Shard{2, 6});
  CHECK(shard("auto/8", {{"PBS_ARRAY_INDEX", "8"}}) == Shard{8, 8});
  CHECK_THROWS_AS(shard("auto/8", {{"PBS_ARRAY_INDEX", "0"}}), UsageError);
  CHECK(shard("auto", {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}) ==
        Shard{1, 2});
  CHECK(shard("auto", {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}) == Shard{2, 2});
  // mpirun within a job of Slurm: two steps, each of which starts four ranks.
  for (const char* step : {"0", "1"})
    CHECK(shard("auto", {{"OMPI_COMM_WORLD_RANK", "5"},
                         {"OMPI_COMM_WORLD_SIZE", "8"},
                         {"SLURM_PROCID", step},
                         {"SLURM_STEP_NUM_TASKS", "2"}}) == Shard{6, 8});
  const Variables four{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  CHECK(shard("auto/4", four) == Shard{2, 4});
  CHECK_THROWS_AS(shard("auto/8", four), UsageError);

  // Words that launchers set where there is no array.
  CHECK_THROWS_AS(shard("auto", {{"SGE_TASK_ID", "undefined"}}), UsageError);
  CHECK_THROWS_AS(shard("auto", {{"LSB_JOBINDEX", "0"}}), UsageError);
  CHECK(shard("auto", {{"LSB_JOBINDEX", "0"},
                       {"OMPI_COMM_WORLD_RANK", "1"},
                       {"OMPI_COMM_WORLD_SIZE", "2"}}) == Shard{2, 2});
  CHECK_THROWS_AS(shard("auto"), UsageError);
}
