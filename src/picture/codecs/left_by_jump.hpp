/// For libraries in C whose functions are left by std::longjmp() when they give up.
#pragma once

#include <csetjmp>
#include <type_traits>

namespace convfilt {

/// Calls `work`; false when it was left by exit.jump. Nothing that has a destructor may live in the
/// frames between, which belong to the library, its callbacks and `work`.
template <class Exit, class Work>
bool attempt(Exit& exit, const Work& work) {
  static_assert(std::is_trivially_destructible_v<Work>);
  if (setjmp(exit.jump)) return false;
  work();
  return true;
}

}  // namespace convfilt
