#include "app/commands.hpp"
#include "src/mask/make.hpp"

namespace convfilt {

void run(const BlurCommand& command) {
  set_loudness(command.picture.loudness);
  const Mask mask = finished(command.box ? box_mask(*command.box)
                                         : gaussian_mask(command.sigma.value_or(kDefaultBlurSigma)),
                             command.picture);
  filter_pictures(command.picture, filter_by(mask));
}

}  // namespace convfilt
