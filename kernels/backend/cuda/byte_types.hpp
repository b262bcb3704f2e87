/// CONVFILT_PRODUCT_OF(A, B): CONVFILT_PRODUCT with the names that PTX has for two types of bytes.
#pragma once

#include <type_traits>

#define CONVFILT_PRODUCT_OF(A, B)        \
  if constexpr (std::is_signed_v<A>) {   \
    if constexpr (std::is_signed_v<B>) { \
      CONVFILT_PRODUCT("s8", "s8");      \
    } else {                             \
      CONVFILT_PRODUCT("s8", "u8");      \
    }                                    \
  } else {                               \
    if constexpr (std::is_signed_v<B>) { \
      CONVFILT_PRODUCT("u8", "s8");      \
    } else {                             \
      CONVFILT_PRODUCT("u8", "u8");      \
    }                                    \
  }
