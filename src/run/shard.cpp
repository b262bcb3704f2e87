#include "src/run/shard.hpp"

#include <cstdint>
#include <iterator>
#include <optional>

#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/base/splitmix.hpp"

namespace convfilt {
namespace {

/// A launcher's names for its numbers. A variable that it does not have is null.
struct Launcher {
  const char* name;
  const char* index;
  const char* first;  ///< the lowest index; without it `lowest`
  int lowest;
  const char* step;  ///< between indices; 1 without it
  const char* last;  ///< the highest index
  const char* count;
  bool zero_is_none = false;  ///< the index is 0 outside of arrays
};

// The manuals: sbatch(1); Kubernetes, "Job: completion mode"; AWS Batch, "Job environment
// variables"; qsub(1) of Grid Engine; LSF, "Environment variables set for job execution"; PBS
// Professional's user's guide, "Job arrays"; mpirun(1) of Open MPI; MPICH's and Intel's Hydra.
// Arrays come before ranks, since a launcher of ranks may run in a job of an array.
constexpr Launcher kArrays[] = {
    {"Slurm's array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", 0, "SLURM_ARRAY_TASK_STEP",
     "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"},
    {"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", nullptr, 0, nullptr, nullptr,
     "AWS_BATCH_JOB_ARRAY_SIZE"},
    {"Kubernetes", "JOB_COMPLETION_INDEX", nullptr, 0, nullptr, nullptr, nullptr},
    {"Grid Engine", "SGE_TASK_ID", "SGE_TASK_FIRST", 1, "SGE_TASK_STEPSIZE", "SGE_TASK_LAST",
     nullptr},
    {"LSF", "LSB_JOBINDEX", nullptr, 1, "LSB_JOBINDEX_STEP", "LSB_JOBINDEX_END", nullptr, true},
    {"PBS", "PBS_ARRAY_INDEX", nullptr, 1, nullptr, nullptr, nullptr},
    {"Torque", "PBS_ARRAYID", nullptr, 1, nullptr, nullptr, nullptr},
};
// Slurm's step is the last: mpirun starts a step of its own on each machine, whose number all ranks
// there inherit. Slurm sets SLURM_PROCID in a batch script, too, where no other tasks run; a step
// alone has a number of tasks.
constexpr Launcher kRanks[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", nullptr, 0, nullptr, nullptr, "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", nullptr, 0, nullptr, nullptr, "MV2_COMM_WORLD_SIZE"},
    {"MPICH", "PMI_RANK", nullptr, 0, nullptr, nullptr, "PMI_SIZE"},
    {"Slurm's step", "SLURM_PROCID", nullptr, 0, nullptr, nullptr, "SLURM_STEP_NUM_TASKS"},
};

[[noreturn]] void fail(const std::string& why) {
  throw UsageError("--shard: " + why);
}

Shard checked(int index, int count, const std::string& whose) {
  if (count < 1 || count > kMostShards || index < 1 || index > count)
    fail(whose + " is part " + std::to_string(index) + " of " + std::to_string(count) +
         "; parts count from 1, and there are at most " + std::to_string(kMostShards));
  return {index, count};
}

/// A variable's number; nothing where it is not set, or set to a word as Grid Engine does outside
/// of arrays ("undefined").
std::optional<int> number_of(const char* variable, const Environment& environment) {
  const char* text = variable ? environment(variable) : nullptr;
  return text ? number_of_word<int>(text) : std::nullopt;
}

bool is_here(const Launcher& launcher, const Environment& environment) {
  const std::optional<int> index = number_of(launcher.index, environment);
  const bool has_count = !launcher.count || number_of(launcher.count, environment);
  return index && has_count && !(launcher.zero_is_none && *index == 0);
}

Shard part_of(const Launcher& launcher, std::optional<int> said_count,
              const Environment& environment) {
  const auto value = [&](const char* variable) { return number_of(variable, environment); };
  const int index = *value(launcher.index);
  const int first = value(launcher.first).value_or(launcher.lowest);
  const int step = value(launcher.step).value_or(1);
  const std::string name(launcher.name);
  std::optional<int> count = said_count ? said_count : value(launcher.count);
  if (const std::optional<int> last = value(launcher.last); last && step > 0) {
    const int by_last = (*last - first) / step + 1;
    if (count && !said_count && *count != by_last)
      fail("the indices of " + name +
           " have gaps; write --shard I/N, with a number from 1 for "
           "each");
    if (!count) count = by_last;
  }
  if (!count)
    fail(name + " says the index alone (" + launcher.index +
         "); add how many there are, e.g. --shard auto/8");
  if (step < 1 || (index - first) % step != 0)
    fail(std::string(launcher.index) + " is " + std::to_string(index) + ", which is none of " +
         name + "'s indices from " + std::to_string(first) + " on; write --shard I/N");
  const int part = (index - first) / step + 1;
  if (part < 1 || part > *count)
    fail(std::string(launcher.index) + " is " + std::to_string(index) + ", and " + name + " has " +
         std::to_string(*count) + " parts from " + std::to_string(first) +
         " on; number them so, or write --shard I/N");
  return checked(part, *count, name);
}

}  // namespace

bool Shard::takes(std::string_view name) const {
  return int(stable_hash(name) % std::uint64_t(count)) == index - 1;
}

Shard shard_in(const std::string& word, const Environment& environment) {
  const std::size_t slash = word.find('/');
  const std::string_view before = std::string_view(word).substr(0, slash);
  const std::optional<int> count =
      slash == word.npos ? std::nullopt
                         : number_of_word<int>(std::string_view(word).substr(slash + 1));
  if (before != "auto") {
    const std::optional<int> index = number_of_word<int>(before);
    if (!index || !count)
      fail(in_quotes(word) + " is neither I/N, such as 2/8, nor auto, nor auto/N; N is 1 to " +
           std::to_string(kMostShards));
    return checked(*index, *count, in_quotes(word));
  }
  if (slash != word.npos && !count) fail(in_quotes(word) + ": write a number after auto/");

  Shard shard;
  bool found = false;
  std::optional<int> left = count;  // the count that was said is for the launcher without one
  for (const Launcher& launcher : kArrays) {
    if (!is_here(launcher, environment)) continue;
    shard = part_of(launcher, left, environment);
    left.reset();
    found = true;
    break;
  }
  for (const Launcher& launcher : kRanks) {
    if (!is_here(launcher, environment)) continue;
    const Shard rank = part_of(launcher, std::nullopt, environment);
    if (left && *left != rank.count)
      fail(in_quotes(word) + ": " + launcher.name + " runs " + std::to_string(rank.count) +
           "; write auto alone");
    shard = checked((shard.index - 1) * rank.count + rank.index, shard.count * rank.count,
                    launcher.name);
    found = true;
    break;
  }
  if (!found) {
    std::string names;
    for (const Launcher& launcher : kArrays) names += std::string(launcher.index) + ", ";
    for (const Launcher& launcher : kRanks)
      names += std::string(launcher.index) + (&launcher == std::end(kRanks) - 1 ? "" : ", ");
    fail("auto finds no launcher's variables here (" + names + "); write --shard I/N");
  }
  return shard;
}

}  // namespace convfilt
