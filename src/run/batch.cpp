#include "src/run/batch.hpp"

#include "src/base/atomic_file.hpp"
#include "src/base/splitmix.hpp"

namespace convfilt {

std::string Batch::folder() const {
  return selection.is_one ? folder_of(selection.out) : selection.out;
}

std::string settings_of(const Batch& batch, const std::string& (*gpu_codec_version)()) {
  std::string text = CONVFILT_VERSION;
  const auto add = [&](const auto& value) {
    if constexpr (requires { std::string(value); })
      text += "|" + std::string(value);
    else
      text += "|" + std::to_string(value);
  };
  const WriteOptions& write = batch.write;
  add(describe(*batch.filter, batch.convolver));
  add(batch.read.refuse_damaged);
  add(batch.read.page.value_or(-1));
  add(int(batch.read.loader));
  add(write.format);
  add(write.quality.value_or(-1));
  add(write.subsampling ? write.subsampling->across * 10 + write.subsampling->down : 0);
  add(write.progressive + 2 * write.optimize);
  add(write.compression.value_or(-1));
  add(int(write.strip));
  if (batch.codec == CodecKind::gpu) text += "|gpu|" + gpu_codec_version();
  const std::string hash = digits_of(stable_hash(text));
  return batch.recipe.empty() ? hash : hash + " " + batch.recipe;
}

}  // namespace convfilt
