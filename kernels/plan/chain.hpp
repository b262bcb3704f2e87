/// What a chain plan on a device knows of its steps.
#pragma once

namespace convfilt {

/// The size of a step's result. Its samples are floats.
struct StepResult {
  int width, height, channels;
};

}  // namespace convfilt
