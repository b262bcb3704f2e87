/// Weights of 0 in float pictures that have NaN or infinities.
///
/// 0 times NaN is NaN, so that kernels, which multiply every weight with every sample, spread it
/// over the whole mask. An output without such a sample under the mask is finite. So the others are
/// computed anew from the weights that are not 0, tap by tap as the direct family does
/// (contract/arithmetic.hpp). The kernels pay nothing for it, and finite pictures a look at the
/// results, only where the mask has a 0.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/contract/border.hpp"
#include "kernels/contract/finish.hpp"
#include "kernels/plan/band.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// Whether samples under weights of 0 may reach results, or terms of a mask turn an infinity to
/// NaN. Not in transforms, which are for finite pictures.
bool takes_zero_weights(const Problem& problem, Family family);

/// A weight that is not 0, and where its sample lies from the output.
struct MaskTap {
  int dx, dy;
  float weight;
  int begins_row;  ///< of the mask, or of a part
};

/// The sum of one output without the weights of 0, on a processor or in a kernel.
struct SumOfTaps {
  const MaskTap* taps;
  int count;
  Border border;
  int width, channels;  ///< of the picture
  float ghost;

  /// `row_at(y)` is the picture's row for any y; null for one of ghosts.
  template <class RowAt>
  CONVFILT_HD float at(int x, int y, int channel, const RowAt& row_at) const {
    float sum = 0, chain = 0;
    const float* row = nullptr;
    for (const MaskTap* tap = taps; tap != taps + count; ++tap) {
      if (tap->begins_row) {
        sum += chain;
        if (sum != sum) return sum;
        chain = 0;
        row = row_at(y + tap->dy);
      }
      const int column = border_index(border, x + tap->dx, width);
      const float sample =
          row && column >= 0 ? row[std::ptrdiff_t(column) * channels + channel] : ghost;
      chain = multiply_add(tap->weight, sample, chain);
    }
    return sum + chain;
  }
};

/// In the order in which the direct family adds them, and how it ends their sums.
struct MaskTaps {
  std::vector<MaskTap> taps;
  FloatFinish finish;
};
MaskTaps taps_but_zero(const Problem& problem);

/// The plan of a family, which then takes no sample under a weight of 0; the plan itself where it
/// never does. run_resident() of a plan that is not on the CPU is its own affair, by
/// PlanOptions::skips_zeros.
std::unique_ptr<Plan> without_zero_weights(const Problem& problem, Family family, int threads,
                                           bool is_on_cpu, std::unique_ptr<Plan> plan);

/// The same for a worker of bands on one thread. `border_alpha`: prepare_direct_bands.
std::unique_ptr<Worker> bands_without_zero_weights(const Problem& problem, Family family,
                                                   std::optional<double> border_alpha,
                                                   std::unique_ptr<Worker> worker);

}  // namespace convfilt
