/// The sizes of the results of a chain's steps, for plans on a device.
#pragma once

namespace convfilt {

/// The size of a step's result. Its samples are floats.
struct StepResult {
  int width, height, channels;
};

}  // namespace convfilt
