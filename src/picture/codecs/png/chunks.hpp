/// The chunks of a PNG file that are no pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/picture/bytes.hpp"
#include "src/picture/codecs/canvas.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt::png {

/// The contents of an fcTL chunk: a frame's place and time.
struct FrameControl {
  FramePlace place;
  int time = 0, per_second = 100;
};

/// Nothing for a chunk that is too short.
std::optional<FrameControl> frame_control(ByteView data);

struct Contents {
  Metadata metadata;
  bool is_animated = false;
  int frames = 0;                     ///< of the animation
  int loops = 0;                      ///< 0 = without end
  std::optional<FrameControl> first;  ///< of its first frame
  bool begins_with_frame = false;     ///< the pixels that other programs show are the first frame
  bool clears = false;                ///< a frame is cleared before the next
  bool lost_profile = false;          ///< its colour profile does not inflate
  std::uint64_t pixels_at = 0;        ///< the offset of the first IDAT chunk; 0 where there is none
  std::string damage;  ///< why the file cannot be whole, with the place; empty when it may be
};

/// Walks over the chunks, of which the pixels' are passed over; the checksums of all others are
/// checked. Metadata are found wherever they stand; those that lie are left out.
Contents contents_of(ByteSource& source);

/// Appends a chunk with its checksum.
void append_chunk(ByteSink& sink, std::string_view type, ByteView data);

/// Appends the chunks that hold metadata; they stand before the pixels.
void append_metadata(ByteSink& sink, const Metadata& metadata);

}  // namespace convfilt::png
