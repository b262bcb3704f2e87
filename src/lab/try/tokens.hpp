/// Words and signs of a kernel's file.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convfilt::tokens {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/// A word, a number or a sign of the code.
struct Token {
  std::size_t at = 0;  ///< in the file
  std::string_view text;

  bool is_name() const { return is_word(text[0]) && !is_digit(text[0]); }
};

using Tokens = std::span<const Token>;

bool is(Tokens tokens, std::size_t i, std::string_view text);
bool has(Tokens tokens, std::string_view text);
/// Whether one of the words is among the tokens.
bool has_one(Tokens tokens, std::initializer_list<std::string_view> words);
/// Whether such a sign stands there in that many tokens: "<<<" is three.
bool is_sign(Tokens tokens, std::size_t i, std::string_view sign);
/// The first such token from `i` on; the number of tokens where there is none.
std::size_t index_of(Tokens tokens, std::size_t i, std::string_view text);
/// The bracket that closes the one at `open`; the number of tokens where none does.
std::size_t closing(Tokens tokens, std::size_t open);
/// The tokens between the bracket at `open` and the one that closes it.
Tokens inside(Tokens tokens, std::size_t open);
/// Where an expression ends: at a comma, a semicolon, or a bracket that was opened before it.
std::size_t end_of_expression(Tokens tokens, std::size_t i);
/// Parts between commas, outside of brackets.
std::vector<Tokens> parts_of(Tokens tokens);
/// The code from the first to the last, with a blank for each gap.
std::string text_of(Tokens tokens);

/// A file's code without comments, strings and characters, so that nothing reads the words in them;
/// and without what `#if 0` leaves out.
struct Code {
  explicit Code(const std::string& file);
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  std::string text;                            ///< in which tokens lie; joined lines are one
  std::vector<Token> tokens;                   ///< without directives
  std::vector<std::vector<Token>> directives;  ///< each from the word behind its # on
};

}  // namespace convfilt::tokens
