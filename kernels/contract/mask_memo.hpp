/// Facts found about the latest masks. Every picture of a folder asks for them again, and to
/// factorise a large mask takes milliseconds.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// A copy of the mask, one for all who keep such a mask: a large one takes megabytes. Several
/// threads may ask at once.
inline std::shared_ptr<const Mask> shared_copy(const Mask& mask) {
  static std::mutex mutex;
  static auto& copies = *new std::vector<std::weak_ptr<const Mask>>;
  const std::lock_guard lock(mutex);
  std::erase_if(copies, [](const auto& copy) { return copy.expired(); });
  for (const auto& copy : copies)
    if (auto found = copy.lock(); found && filter_alike(*found, mask)) return found;
  auto made = std::make_shared<const Mask>(mask);
  copies.push_back(made);
  return made;
}

/// Keeps the latest few values. Several threads may ask at once.
template <class Key, class Value>
class MaskMemo {
 public:
  /// The value for this mask and key, which make() gives where it is not kept.
  template <class Make>
  std::shared_ptr<const Value> find(const Mask& mask, const Key& key, Make make) {
    const auto is_asked_for = [&](const Kept& kept) {
      return kept.key == key && filter_alike(*kept.mask, mask);
    };
    // Large masks take long to compare, for which no thread shall wait.
    const std::vector<Kept> before = kept();
    if (const auto found = std::ranges::find_if(before, is_asked_for); found != before.end())
      return found->value;
    Kept made{shared_copy(mask), key, std::make_shared<const Value>(make())};
    const std::lock_guard lock(mutex_);
    // Another thread may have made the same meanwhile.
    if (const auto found = std::ranges::find_if(kept_, is_asked_for); found != kept_.end())
      return found->value;
    if (kept_.size() == kMost) kept_.erase(kept_.begin());
    kept_.push_back(std::move(made));
    return kept_.back().value;
  }

 private:
  static constexpr std::size_t kMost = 8;

  struct Kept {
    std::shared_ptr<const Mask> mask;
    Key key;
    std::shared_ptr<const Value> value;
  };

  std::vector<Kept> kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

  std::mutex mutex_;
  std::vector<Kept> kept_;  ///< the latest last
};

}  // namespace convfilt
