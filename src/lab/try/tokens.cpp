#include "src/lab/try/tokens.hpp"

#include <algorithm>

namespace convfilt::tokens {
namespace {

/// Where a string or a character ends that begins at `begin`; a line's end ends it, too.
std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != text[begin] && text[i] != '\n')
    i += text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n' ? 2 : 1;
  return i < text.size() && text[i] == text[begin] ? i + 1 : i;
}

/// Where a word or a number ends. Quotes separate the digits of a number.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  const bool is_number = !is_word(text[begin]) || is_digit(text[begin]);
  std::size_t i = begin + 1;
  while (i < text.size() &&
         (is_word(text[i]) || (is_number && text[i] == '.') ||
          (is_number && text[i] == '\'' && i + 1 < text.size() && is_word(text[i + 1]))))
    ++i;
  return i;
}

/// Where a raw string ends whose quote is at `quote`; `quote` where none begins there.
std::size_t end_of_raw(std::string_view text, std::size_t quote) {
  constexpr std::size_t kMostDelimiter = 16;
  const std::size_t open = text.find_first_of("()\\ \n", quote);
  if (open == text.npos || text[open] != '(' || open - quote - 1 > kMostDelimiter) return quote;
  const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == text.npos ? text.size() : end + close.size();
}

}  // namespace

bool is(Tokens tokens, std::size_t i, std::string_view text) {
  return i < tokens.size() && tokens[i].text == text;
}

bool has(Tokens tokens, std::string_view text) {
  return index_of(tokens, 0, text) < tokens.size();
}

bool has_one(Tokens tokens, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return has(tokens, word); });
}

bool is_sign(Tokens tokens, std::size_t i, std::string_view sign) {
  for (std::size_t k = 0; k < sign.size(); ++k)
    if (!is(tokens, i + k, sign.substr(k, 1))) return false;
  return true;
}

std::size_t index_of(Tokens tokens, std::size_t i, std::string_view text) {
  while (i < tokens.size() && tokens[i].text != text) ++i;
  return std::min(i, tokens.size());
}

std::size_t closing(Tokens tokens, std::size_t open) {
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

Tokens inside(Tokens tokens, std::size_t open) {
  return tokens.subspan(open + 1, closing(tokens, open) - open - 1);
}

std::size_t end_of_expression(Tokens tokens, std::size_t i) {
  for (; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "{" || text == "[")
      i = closing(tokens, i);
    else if (text == "," || text == ";" || text == ")" || text == "}" || text == "]")
      return i;
  }
  return tokens.size();
}

std::vector<Tokens> parts_of(Tokens tokens) {
  std::vector<Tokens> parts;
  for (std::size_t begin = 0, end; begin < tokens.size(); begin = end + 1) {
    end = end_of_expression(tokens, begin);
    while (end < tokens.size() && tokens[end].text != ",") end = end_of_expression(tokens, end + 1);
    parts.push_back(tokens.subspan(begin, end - begin));
  }
  return parts;
}

std::string text_of(Tokens tokens) {
  std::string text;
  if (tokens.empty()) return text;
  for (const char* c = tokens.front().text.data();
       c < tokens.back().text.data() + tokens.back().text.size(); ++c)
    if (const bool is_blank = *c == ' ' || *c == '\n' || *c == '\r' || *c == '\t'; !is_blank)
      text += *c;
    else if (!text.ends_with(' '))
      text += ' ';
  return text;
}

Code::Code(const std::string& file) {
  // A backslash at a line's end joins it with the next line, wherever it stands.
  std::vector<std::size_t> places;  // of the text's characters
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::size_t next =
        file[i] == '\\' ? file.find_first_not_of(" \t\r\f\v", i + 1) : file.npos;
    if (next != file.npos && file[next] == '\n') {
      i = next;
      continue;
    }
    text += file[i];
    places.push_back(i);
  }
  places.push_back(file.size());

  std::vector<Token> line;
  int left_out = 0;  // depth of #if in what `#if 0` leaves out
  const auto end_line = [&] {
    if (!is(line, 0, "#")) {
      if (left_out == 0) tokens.insert(tokens.end(), line.begin(), line.end());
    } else if (line.size() > 1) {
      const std::string_view word = line[1].text;
      const bool is_never =
          line.size() == 3 && word == "if" && (line[2].text == "0" || line[2].text == "false");
      if (left_out > 0 ? word.starts_with("if") : is_never)
        ++left_out;
      else if (left_out > 0 && (word == "endif" || (left_out == 1 && word.starts_with("el"))))
        left_out -= 1;
      else if (left_out == 0)
        directives.emplace_back(line.begin() + 1, line.end());
    }
    line.clear();
  };
  for (std::size_t i = 0, end = 0; i < text.size(); i = end) {
    const std::string_view rest = std::string_view(text).substr(i);
    bool is_code = false;
    if (rest.starts_with("//")) {
      end = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("/*")) {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if (rest[0] == '"' && !line.empty() && line.back().text.ends_with("R") &&
               line.back().text.data() + line.back().text.size() == rest.data()) {
      // In a raw string a backslash joins nothing.
      end = std::size_t(std::ranges::lower_bound(places, end_of_raw(file, places[i])) -
                        places.begin());
      if (end == i) end = end_of_quoted(text, i);
    } else if (rest[0] == '"' || rest[0] == '\'') {
      end = end_of_quoted(text, i);
    } else {
      const bool is_number = rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]);
      is_code = std::string_view(" \t\r\f\v\n").find(rest[0]) == std::string_view::npos;
      end = is_number || is_word(rest[0]) ? end_of_word(text, i) : i + 1;
      if (is_code) line.push_back({places[i], rest.substr(0, end - i)});
      if (rest[0] == '\n') end_line();
    }
    if (!is_code)
      for (std::size_t k = i; k < end; ++k)
        if (text[k] != '\n' && text[k] != '\r') text[k] = ' ';
  }
  end_line();
}

}  // namespace convfilt::tokens
