#include "app/commands.hpp"
#include "src/mask/file.hpp"

namespace convfilt {

void run(const ApplyCommand& command) {
  set_loudness(command.picture.loudness);
  check_keeps_mask(command.mask, command.picture.out);
  const Mask mask = finished(load_mask(command.mask), command.picture);
  filter_pictures(command.picture, filter_by(mask));
}

}  // namespace convfilt
