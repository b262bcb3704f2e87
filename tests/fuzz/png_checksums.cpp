/// Mutations of a PNG get right checksums mostly, since behind a wrong one little is read.
#include <zlib.h>

#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 8 == 0) return size;
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, type and checksum of a chunk
  for (std::size_t at = kSignature; at + kAround <= size;) {
    const std::size_t length = big_endian(data + at);
    if (length > size - at - kAround) break;
    const auto checksum = std::uint32_t(crc32(0, data + at + 4, uInt(length + 4)));
    for (std::size_t i = 0; i < 4; ++i)
      data[at + 8 + length + i] = std::uint8_t(checksum >> (24 - 8 * i));
    at += kAround + length;
  }
  return size;
}
