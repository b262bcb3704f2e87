/// Words of options that several files know.
#pragma once

#include <string_view>

#include "app/grammar/words.hpp"
#include "src/filter/mapped.hpp"
#include "src/picture/io.hpp"
#include "src/run/batch.hpp"

namespace convfilt {

// The first of each is the default.
inline const Choices<Negative> kNegatives = {
    {"clamp", Negative::clamp}, {"abs", Negative::absolute}, {"signed", Negative::centred}};
inline const Choices<Loader> kLoaders = {{"auto", Loader::automatic}, {"opencv", Loader::opencv}};
inline const Choices<IfExists> kIfExists = {
    {"overwrite", IfExists::overwrite}, {"skip", IfExists::skip}, {"fail", IfExists::fail}};
inline const Choices<CodecKind> kCodecs = {
    {"auto", CodecKind::automatic}, {"cpu", CodecKind::cpu}, {"gpu", CodecKind::gpu}};

/// The word of explain's --table for the costs of overlap-discard and overlap-add.
inline constexpr std::string_view kOverlapTable = "overlap";

}  // namespace convfilt
