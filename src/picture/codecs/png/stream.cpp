#include "src/picture/codecs/png/stream.hpp"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "src/picture/byte_order.hpp"

namespace convfilt::png {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 16;
constexpr std::size_t kMostStored = 0xffff;  // bytes of a stored block
constexpr std::size_t kFrame = 12;           // a chunk's length, type and checksum

}  // namespace

struct StoredPixels::Inflater {
  inflate_state state;
};

StoredPixels::StoredPixels(ByteSource& source, std::uint64_t pixels_at)
    : source_(source), pixels_at_(pixels_at), inflater_(std::make_unique<Inflater>()) {
  isal_inflate_init(&inflater_->state);
  inflater_->state.crc_flag = ISAL_ZLIB;
}

StoredPixels::~StoredPixels() = default;

std::size_t StoredPixels::next(std::span<unsigned char> into) {
  if (given_ == ready_.size()) make_more();
  const std::size_t count = std::min(into.size(), ready_.size() - given_);
  std::memcpy(into.data(), ready_.data() + given_, count);
  given_ += count;
  return count;
}

void StoredPixels::make_more() {
  ready_.clear();
  given_ = 0;
  if (part_ == head && at_ == pixels_at_) {
    // The stream's head in a chunk. Even without pixels libpng ends the file's header only there.
    ready_ = {0, 0, 0, 2, 'I', 'D', 'A', 'T', 0x78, 0x01, 0, 0, 0, 0};
    part_ = pixels;
    return;
  }
  if (part_ == pixels) return make_chunk();
  // All rows are whole by now, so damage at the stream's end is reported after the last.
  if (part_ == tail && damage_.empty()) damage_ = std::exchange(damage_at_end_, {});
  const std::uint64_t end = part_ == head ? pixels_at_ : source_.size();
  ready_.resize(std::size_t(std::min<std::uint64_t>(kPart, end - std::min(at_, end))));
  ready_.resize(source_.read(at_, ready_));
  at_ += ready_.size();
}

/// More of the compressed stream; false where the file's IDAT chunks end.
bool StoredPixels::read_compressed() {
  while (left_in_chunk_ == 0) {
    std::array<unsigned char, 8> frame{};
    if (source_.read(at_, frame) < frame.size() || std::memcmp(&frame[4], "IDAT", 4) != 0)
      return false;
    left_in_chunk_ = big_endian(frame, 0);
    checksum_ = crc32_gzip_refl(0, &frame[4], 4);
    at_ += frame.size();
    if (left_in_chunk_ == 0) at_ += 4;
  }
  compressed_.resize(std::size_t(std::min<std::uint64_t>(kPart, left_in_chunk_)));
  compressed_.resize(source_.read(at_, compressed_));
  if (compressed_.empty()) return false;
  at_ += compressed_.size();
  left_in_chunk_ -= compressed_.size();
  checksum_ = crc32_gzip_refl(checksum_, compressed_.data(), compressed_.size());
  if (left_in_chunk_ == 0) {
    std::array<unsigned char, 4> told{};
    const bool whole = source_.read(at_, told) == told.size();
    at_ += told.size();
    if (whole && big_endian(told, 0) != checksum_ && damage_.empty())
      damage_ = "IDAT: wrong checksum";
  }
  return true;
}

void StoredPixels::make_chunk() {
  inflate_state& state = inflater_->state;
  constexpr std::size_t kStart = 8 + 5;  // length and type, the block's head
  ready_.resize(kStart + kMostStored + 4 + 4);
  unsigned char* const raw = ready_.data() + kStart;
  std::size_t count = 0;
  while (count < kMostStored && !ended_ && trouble_.empty()) {
    // ISA-L holds back some bits and bytes, which it gives when it is asked without more input.
    if (state.avail_in == 0 && read_compressed()) {
      state.next_in = compressed_.data();
      state.avail_in = std::uint32_t(compressed_.size());
    }
    const std::size_t before = count;
    const std::uint32_t left = state.avail_in;
    state.next_out = raw + count;
    state.avail_out = std::uint32_t(kMostStored - count);
    const int result = isal_inflate(&state);
    count = kMostStored - state.avail_out;
    if (state.block_state == ISAL_BLOCK_FINISH) {
      ended_ = true;
    } else if (result >= 0 && count == before && state.avail_in == left) {
      if (count == 0) trouble_ = "IDAT: the compressed data end too early";
      break;
    }
    if (result == ISAL_INCORRECT_CHECKSUM) {
      damage_at_end_ = "IDAT: incorrect data check";
      ended_ = true;
    } else if (result < 0) {
      trouble_ = "IDAT: invalid compressed data";
    } else if (result > ISAL_END_INPUT) {
      trouble_ = "IDAT: a compression that PNG does not have";
    }
  }
  // Bytes that were inflated before the trouble still give their rows.
  if (count == 0 && !ended_) return ready_.clear();
  const std::size_t data = 5 + count + (ended_ ? 4 : 0);
  put_number(ready_, 0, data, 4, false);
  std::memcpy(&ready_[4], "IDAT", 4);
  ready_[8] = ended_ ? 1 : 0;
  put_number(ready_, 9, count, 2, true);
  put_number(ready_, 11, ~count, 2, true);
  std::memset(raw + count, 0, 8);
  if (ended_) put_number(ready_, kStart + count, state.crc, 4, false);
  ready_.resize(8 + data + 4);
  if (!ended_) return;
  part_ = tail;
  bool more = state.avail_in > 0;
  while (read_compressed()) more = true;  // checksums of what follows count, too
  if (more && damage_at_end_.empty()) damage_at_end_ = "IDAT: extra compressed data";
}

}  // namespace convfilt::png
