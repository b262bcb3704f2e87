/// Runs doctest and says afterwards what was covered.
///
/// `--need-cuda` exits with 77, which ctest shows as skipped, where there is no CUDA device.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>

#include "tests/support/environment.hpp"

namespace {

constexpr int kSkipped = 77;          // CTest's SKIP_RETURN_CODE, after automake
constexpr int kFailuresPrinted = 30;  // a broken strategy fails thousands of cases

unsigned selected_cases = 0;

/// Notes how many test cases the filters left: a misspelt filter must not pass by testing nothing.
struct SelectionListener : doctest::IReporter {
  explicit SelectionListener(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    selected_cases = stats.numTestCasesPassingFilters;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("selection", 1, SelectionListener);

}  // namespace

int main(int argc, char** argv) {
  // What somebody measured on this machine must not decide what the tests see.
  setenv("XDG_CACHE_HOME", "/nonexistent", 1);
  unsetenv("CONVFILT_PROFILES");
  try {
    for (int k = 1; k < argc; ++k) {
      if (std::strcmp(argv[k], "--need-cuda") != 0) continue;
      if (const auto why = convfilt::test::cuda_missing(); !why.empty()) {
        std::cout << "skipped, needs a CUDA device: " << why << '\n';
        return kSkipped;
      }
    }
    convfilt::test::read_environment();
  } catch (const std::exception& error) {
    std::cerr << "convfilt_tests: " << error.what() << '\n';
    return 1;
  }
  doctest::Context context;
  context.setOption("abort-after", kFailuresPrinted);
  context.applyCommandLine(argc, argv);
  const int result = context.run();
  if (context.shouldExit()) return result;
  convfilt::test::print_coverage(std::cout);
  if (selected_cases == 0) {
    std::cerr << "convfilt_tests: the filters leave no test case\n";
    return 1;
  }
  return result;
}
