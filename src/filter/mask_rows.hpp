/// A mask over the rows of one picture.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/filter/filter.hpp"

namespace convfilt {

/// The strategy chosen for a mask, with a plan: for bands one on one thread, for a whole picture
/// the convolver's. Copies share no plan for bands.
class MaskRows final : public Worker {
 public:
  /// `channels` of a band are filtered at once; a whole picture has those of the problem. Where
  /// there are 4, the fourth is `border_alpha` in ghost cells. `runs` such pictures there are in
  /// all, for the choice of the device. Throws UsageError and DeviceError as choose() does.
  MaskRows(const Problem& whole, int channels, double border_alpha, int runs, const Place& place);
  MaskRows(const MaskRows& other);
  MaskRows& operator=(const MaskRows&) = delete;

  std::string why_whole;  ///< see Work

  void push(BandView<const std::byte> in, BandView<std::byte> out) override;

  /// Host memory that the plan for a whole picture keeps.
  std::int64_t plan_bytes() const;

  const Problem& problem() const { return whole_; }
  const Choice& choice() const { return choice_; }

 private:
  Convolver& convolver_;
  Problem whole_;
  int channels_;
  double border_alpha_;
  int runs_;
  Choice choice_;
  std::unique_ptr<BandPlan> plan_{};
};

}  // namespace convfilt
