/// JPEGs that keep parts of the JPEGs they are made from.
#pragma once

#include <memory>
#include <vector>

#include "src/picture/codec.hpp"
#include "src/picture/codecs/jpeg/stream.hpp"
#include "src/picture/region.hpp"

namespace convfilt::jpeg {

/// A writer of pictures that differ from that of `file` in the regions alone. A block without a
/// pixel of a region keeps its coefficients; the others are coded anew, with the file's
/// quantisation and sampling. Of a file that is damaged, or changes its tables between scans, the
/// whole picture is coded anew, with a warning. The file, whose Header::coefficient_bytes are not
/// 0, must stay in memory.
std::unique_ptr<RowWriter> patch(ByteSink& sink, const Header& header, const WriteOptions& options,
                                 ByteView file, std::vector<Region> regions);

/// A writer of rows of luma. The result has the chroma of another JPEG bit for bit, and that one's
/// quantisation; codes of luma are the standard's.
std::unique_ptr<RowWriter> write_luma(ByteSink& sink, const Header& header,
                                      std::shared_ptr<const KeptChroma> chroma);

}  // namespace convfilt::jpeg
