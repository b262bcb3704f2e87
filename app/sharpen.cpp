#include "app/commands.hpp"
#include "src/mask/make.hpp"

namespace convfilt {

void run(const SharpenCommand& command) {
  set_loudness(command.picture.loudness);
  const Mask mask = finished(sharpen_mask(command.amount, command.sigma), command.picture);
  filter_pictures(command.picture, filter_by(mask));
}

}  // namespace convfilt
