/// Words and signs of a kernel's file.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace convfilt::tokens {

inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A word or a sign of the code.
struct Token {
  std::size_t at = 0;
  std::string_view text;

  bool is_name() const { return is_word(text[0]) && !is_digit(text[0]); }
};

inline std::vector<Token> tokens_of(std::string_view code) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < code.size();) {
    const char c = code[at];
    std::size_t length = 1;
    if (is_word(c)) {
      while (at + length < code.size() && is_word(code[at + length])) ++length;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      ++at;
      continue;
    }
    tokens.push_back({at, code.substr(at, length)});
    at += length;
  }
  return tokens;
}

using Tokens = std::span<const Token>;

inline bool is(Tokens tokens, std::size_t i, std::string_view text) {
  return i < tokens.size() && tokens[i].text == text;
}

inline bool has(Tokens tokens, std::string_view text) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.text == text; });
}

/// The bracket that closes the one at `open`; the number of tokens where none does.
inline std::size_t closing(Tokens tokens, std::size_t open) {
  const std::string_view opens = tokens[open].text, closes = opens == "("   ? ")"
                                                             : opens == "[" ? "]"
                                                                            : "}";
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == opens) ++depth;
    if (tokens[i].text == closes && --depth == 0) return i;
  }
  return tokens.size();
}

}  // namespace convfilt::tokens
