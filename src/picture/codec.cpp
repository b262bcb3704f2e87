#include "src/picture/codec.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {

std::size_t row_bytes(const Header& header) {
  return std::size_t(header.width) * std::size_t(header.channels) * size_of(header.depth);
}

std::int64_t bytes_of(const Header& header) {
  return std::int64_t(row_bytes(header)) * header.height;
}

std::string ends_early(const std::string& where) {
  return "the file ends too early (" + where + ")";
}

std::string data_damaged(const std::string& where) {
  return "its data is damaged (" + where + ")";
}

std::string foreign_colour(std::int64_t index, std::int64_t colours) {
  return "colour " + std::to_string(index) + " of a palette of " + std::to_string(colours);
}

std::string row_text(std::int64_t y, std::int64_t height) {
  return "row " + std::to_string(y) + " of " + std::to_string(height);
}

std::string cannot_hold(std::uint64_t bytes, const Header& header) {
  return ends_early(std::to_string(bytes) + " bytes cannot hold " +
                    size_text(header.width, header.height) + " pixels");
}

void fail_to_encode(const Header& header, const std::string& why) {
  throw IoError("cannot encode " + size_text(header.width, header.height) + " pixels as " +
                std::string(name_of(header.format)) + (why.empty() ? "" : ": " + why) +
                "; choose another format, such as png");
}

void ReadContext::fail(const std::string& why) const {
  throw IoError("cannot read " + name_ + ": " + why);
}

void ReadContext::warn(const std::string& text) {
  if (warned_.insert(text).second) warnings_.push_back(name_ + ": " + text);
}

int ReadContext::first_page(int count) const {
  const int page = options_.page.value_or(0);
  if (page < 0 || page >= count)
    fail("it has no page " + std::to_string(page) + "; --page counts from 0, and there " +
         (count == 1 ? "is 1" : "are " + std::to_string(count)));
  return page;
}

void ReadContext::begin_next() {
  name_ = file_ + " (page " + std::to_string(++pictures_) + ")";
}

void RowWriter::next(const Header& header) {
  throw std::logic_error(std::string(name_of(header.format)) + " holds one picture");
}

void ReadContext::damaged(const std::string& why) {
  if (options_.refuse_damaged) fail(why + "; --on-damage=warn takes what can be read");
  if (!damaged_) leaves_out(why, "; read as far as possible");
  damaged_ = true;
}

void ReadContext::leaves_out(const std::string& what, const std::string& remedy) {
  warn(what + remedy);
  left_out_.push_back(what);
}

void ReadContext::check_size(std::int64_t width, std::int64_t height) const {
  constexpr std::int64_t kLargestSide = std::int64_t{1} << 28;
  const std::string size = size_text(width, height) + " pixels";
  if (width < 1 || height < 1) fail("its header promises " + size);
  if (width > kLargestSide || height > kLargestSide)
    fail("its header promises " + size + ", more than 2^28 a side; cut it first");
  if (width > options_.max_pixels / height) {
    fail("its header promises " + size + ", more than the limit of " +
         std::to_string(options_.max_pixels) +
         "; raise it with --max-pixels if you trust the file");
  }
}

std::uint64_t ReadContext::most_memory() const {
  const std::int64_t pixels = std::max(options_.max_pixels, ReadOptions{}.max_pixels);
  return std::uint64_t(pixels) / 2 * 3;
}

void ReadContext::check_plausible(const Header& header, std::uint64_t bytes,
                                  std::uint64_t file_bytes) const {
  constexpr std::uint64_t kMostOfByte = 8192;
  if (bytes <= most_memory() || bytes / kMostOfByte <= file_bytes) return;
  fail(std::to_string(file_bytes) + " bytes cannot hold " + size_text(header.width, header.height) +
       " pixels, unless all are of one colour; raise the limit with"
       " --max-pixels " +
       std::to_string(bytes / 3 * 2 + 2) + " if you trust the file");
}

void ReadContext::check_memory(std::uint64_t bytes) const {
  const std::uint64_t most = most_memory();
  if (bytes <= most) return;
  const auto mebibytes = [](std::uint64_t count) { return std::to_string(count >> 20) + " MiB"; };
  fail("this kind of picture must be held whole, in " + mebibytes(bytes) +
       ", more than the limit of " + mebibytes(most) + "; raise it with --max-pixels " +
       std::to_string(bytes / 3 * 2 + 2) + " if you trust the file");
}

}  // namespace convfilt
