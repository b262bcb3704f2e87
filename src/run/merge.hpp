/// Joins what several machines have done to one folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/run/shard.hpp"

namespace convfilt {

/// The summary of all journals of a folder.
struct MergeReport {
  std::int64_t done = 0;
  std::vector<Shard> missing_shards;  ///< without a journal
  std::vector<Shard> unfinished_shards;
  std::vector<Shard> changed_shards;  ///< whose journals say something else than at their end
  std::vector<std::string> kept;      ///< names whose result was there, and may be of other options
  std::vector<std::string> missing;   ///< names without a result, or whose result has changed
  std::vector<std::pair<std::string, std::string>> failed;  ///< names, and why
  std::vector<std::string> twice;                           ///< names that two shards have done
  std::int64_t bad_lines = 0;

  bool is_whole() const {
    return missing_shards.empty() && unfinished_shards.empty() && changed_shards.empty() &&
           missing.empty() && failed.empty() && twice.empty();
  }
};

/// Joins the journals of shards to one, which takes their place where nothing is missing. Where the
/// folder has just that one, it stays, and the report says whether its results are still there.
/// Throws IoError where the folder has none, or where they are those of several divisions, settings
/// or kinds of decoders.
MergeReport merge_journals(const std::string& folder);

}  // namespace convfilt
