/// Which problems strategies refuse, as README, kernels/README.md and their messages say it.
///
/// Limits are written down here a second time, by strategy; none of the strategies' own answers is
/// asked. A strategy that stands in no line here has the limits of its family alone.
#pragma once

#include <string>

#include "kernels/problem.hpp"
#include "tests/support/environment.hpp"

namespace convfilt::test {

/// What a strategy has to say to a problem.
enum class Answer {
  takes,
  refuses,
  either,  ///< so near to a limit that roundings decide, or a limit that depends on a search
};

struct Expected {
  Answer answer = Answer::takes;
  std::string why;  ///< the limit; empty where the answer is `takes`
};

Expected expected_answer(const Problem& problem, const Runner& runner);

/// A limit of one strategy alone, beside those of its family. A strategy's own test file declares
/// it, as a constant of its namespace.
struct OwnLimit {
  OwnLimit(std::string_view strategy, Expected (*expected)(const Problem&, const Runner&));
};

/// What the runner's answer contradicts; empty when it is as expected. `refusal` is what it said.
std::string wrong_answer(const Problem& problem, const Runner& runner, const std::string& refusal);

}  // namespace convfilt::test
