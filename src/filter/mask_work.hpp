/// A mask over the rows of one picture.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/filter/filter.hpp"

namespace convfilt {

/// The strategy chosen for a mask. The worker of bands is a plan for one thread; a whole picture is
/// filtered by the convolver's plan.
class MaskWork final : public Work {
 public:
  /// `channels` of a band are filtered at once; a whole picture has those of the problem. Where
  /// there are 4, the fourth is `border_alpha` in ghost cells. `runs` such pictures there are in
  /// all, for the choice of the device, which so many masks share. Throws UsageError and
  /// DeviceError as choose() does.
  MaskWork(const Problem& whole, int channels, double border_alpha, int runs, const Place& place,
           int sharers = 1);

  Needs needs(int rows) const override;
  std::unique_ptr<Worker> make_worker() const override;
  std::vector<const MaskWork*> mask_works() const override { return {this}; }

  /// Host memory that the plan for a whole picture keeps.
  std::int64_t plan_bytes() const;

  /// Names the problem in the report.
  void note() const { convolver_.note(whole_); }

  const Problem& problem() const { return whole_; }
  const Choice& choice() const { return choice_; }

  /// Its work on one picture.
  MaskJob job() const { return {whole_, runs_ / sharers_}; }

 private:
  Convolver& convolver_;
  Problem whole_;
  int channels_;
  double border_alpha_;
  int runs_, sharers_;
  Choice choice_;
};

}  // namespace convfilt
