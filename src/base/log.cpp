#include "src/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "src/base/terminal.hpp"

namespace convfilt {
namespace {

const std::shared_ptr<spdlog::logger>& logger() {
  static const auto& instance = *new const std::shared_ptr<spdlog::logger>([] {
    auto fresh = std::make_shared<spdlog::logger>(
        "convfilt", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    fresh->set_pattern("%n: %v");
    fresh->flush_on(spdlog::level::trace);
    return fresh;
  }());
  return instance;
}

}  // namespace

void set_loudness(Loudness loudness) {
  // In convfilt itself, whose standard output is for pictures, spdlog's default writes elsewhere,
  // too. A program that only calls the library keeps its own default.
  spdlog::set_default_logger(logger());
  logger()->set_level(loudness == Loudness::quiet     ? spdlog::level::err
                      : loudness == Loudness::verbose ? spdlog::level::debug
                                                      : spdlog::level::info);
}

void log_detail(std::string_view message) {
  // Continued lines begin below the first word.
  const std::string line = wrapped("convfilt: " + std::string(message), terminal_width(2));
  logger()->debug("{}", std::string_view(line).substr(10));
}
void log_note(std::string_view message) {
  logger()->info("{}", message);
}
void log_warning(std::string_view message) {
  logger()->warn("warning: {}", message);
}
void log_error(std::string_view message) {
  logger()->error("{}", message);
}

}  // namespace convfilt
