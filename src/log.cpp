#include "log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace convfilt {
namespace {

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger fresh("convfilt", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    fresh.set_pattern("%n: %v");
    fresh.flush_on(spdlog::level::trace);
    return fresh;
  }();
  return instance;
}

}  // namespace

void set_loudness(Loudness loudness) {
  logger().set_level(loudness == Loudness::quiet     ? spdlog::level::err
                     : loudness == Loudness::verbose ? spdlog::level::debug
                                                     : spdlog::level::info);
}

void log_detail(std::string_view message) {
  logger().debug("{}", message);
}
void log_note(std::string_view message) {
  logger().info("{}", message);
}
void log_warning(std::string_view message) {
  logger().warn("warning: {}", message);
}
void log_error(std::string_view message) {
  logger().error("{}", message);
}

}  // namespace convfilt
