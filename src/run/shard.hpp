/// A part of a long list of pictures, for one of several machines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace convfilt {

/// The index-th of `count` parts, from 1. A picture belongs to one of them by a hash of its name,
/// so that neither the order of a list nor other pictures matter.
struct Shard {
  int index = 1, count = 1;

  bool takes(std::string_view name) const;
  bool operator==(const Shard&) const = default;
};

inline constexpr int kMostShards = 1'000'000;

/// The value of an environment variable, or null.
using Environment = std::function<const char*(const char* variable)>;

/// Reads "2/8"; or "auto", which takes both numbers from the variables of the launcher that
/// started the program, or "auto/8", where the launcher says the index alone, as Kubernetes does.
/// Throws UsageError that names the variables.
Shard shard_in(const std::string& word, const Environment& environment);

}  // namespace convfilt
