/// A mask over the rows of one picture.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/filter/filter.hpp"

namespace convfilt {

/// The strategy chosen for a mask, with its plans: in bands one for each number of rows, on one
/// thread; for a whole picture the convolver's. Copies share no plans for bands.
class MaskRows final : public Worker {
 public:
  /// `channels` of a band are filtered at once; a whole picture has those of the problem. `runs`
  /// such pictures there are in all, for the choice of the device. Throws UsageError and
  /// DeviceError as choose() does.
  MaskRows(const Problem& whole, int channels, int runs, const Place& place);
  MaskRows(const MaskRows& other);
  MaskRows& operator=(const MaskRows&) = delete;

  std::string why_whole;  ///< see Work

  void push(PictureView<const std::byte> in, PictureView<std::byte> out, int y = 0) override;

  /// What the plan for a whole picture keeps of host memory.
  std::int64_t plan_bytes() const;

  const Problem& problem() const { return whole_; }

 private:
  Convolver& convolver_;
  Problem whole_;
  int channels_, runs_;
  const Strategy* strategy_;
  struct Sized {
    int rows;
    std::unique_ptr<Plan> plan;
  };
  std::vector<Sized> plans_{};  ///< the latest last
};

}  // namespace convfilt
