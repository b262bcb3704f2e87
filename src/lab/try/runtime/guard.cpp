/// Bytes that lie before and behind a student's shared and constant memory, so that an index which
/// is too large or negative is seen. It is linked twice, around the runner.
#include "src/lab/try/runtime/call.hpp"

[[gnu::section("lesson_shared"), gnu::used,
  gnu::aligned(1)]] static char around_shared[kLessonGuard];
[[gnu::section("lesson_constant"), gnu::used,
  gnu::aligned(1)]] static char around_constant[kLessonGuard];
