//===- Literals.cpp - the insides of numbers and strings -----------------------------------===//

#include "Literals.h"
#include "tilec/AST/AST.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Unicode.h"

using namespace tilec;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Longer ones say nothing more to a double, and would take a while to convert.
static constexpr size_t maxFloatText = 1000;

namespace {
class NumberDecoder {
public:
  NumberDecoder(StringRef text, SourceRange range, DiagnosticEngine &diags)
      : text(text), range(range), diags(diags) {}

  std::optional<NumberValue> run();

private:
  std::optional<NumberValue> integer(StringRef digits, unsigned radix);
  std::optional<NumberValue> decimal();
  std::optional<NumberValue> fail(const llvm::Twine &why) {
    std::string shown = text.size() > 40 ? (text.take_front(40) + "...").str() : text.str();
    diags.report(diag::E0013, range, shown, why);
    return std::nullopt;
  }
  /// Takes digits with single underscores between them; "" when there are none, none for a stray underscore.
  std::optional<std::string> takeDigits(StringRef &rest) const;

  StringRef text;
  SourceRange range;
  DiagnosticEngine &diags;
};
} // namespace

std::optional<std::string> NumberDecoder::takeDigits(StringRef &rest) const {
  std::string digits;
  while (!rest.empty() && (llvm::isDigit(rest[0]) || rest[0] == '_')) {
    if (rest[0] == '_' && (digits.empty() || rest.size() < 2 || !llvm::isDigit(rest[1])))
      return std::nullopt;
    if (rest[0] != '_')
      digits += rest[0];
    rest = rest.drop_front();
  }
  return digits;
}

std::optional<NumberValue> NumberDecoder::run() {
  if (text.size() > 1 && text[0] == '0') {
    switch (text[1]) {
    case 'x':
    case 'X':
      return integer(text.drop_front(2), 16);
    case 'o':
    case 'O':
      return integer(text.drop_front(2), 8);
    case 'b':
    case 'B':
      return integer(text.drop_front(2), 2);
    default:
      break;
    }
  }
  return decimal();
}

/// The digits behind 0x, 0o or 0b, where an underscore may come first.
std::optional<NumberValue> NumberDecoder::integer(StringRef digits, unsigned radix) {
  std::string clean;
  char previous = '0';
  for (char c : digits) {
    if (c == '_' && previous == '_')
      return fail("two underscores in a row");
    if (c != '_' && llvm::hexDigitValue(c) >= radix)
      return fail(llvm::Twine("`") + StringRef(&c, 1) + "` is no digit to base " + llvm::Twine(radix));
    if (c != '_')
      clean += c;
    previous = c;
  }
  if (clean.empty())
    return fail("digits are missing");
  if (previous == '_')
    return fail("an underscore at its end");
  NumberValue value;
  value.text = clean;
  StringRef significant = StringRef(clean).ltrim('0');
  if (significant.empty())
    return value;
  unsigned bitsPerDigit = radix == 16 ? 4 : radix == 8 ? 3 : 1;
  bool tooLong = significant.size() > ast::IntLiteral::maxIntBits + 1;
  unsigned bits = tooLong ? 0 : unsigned(significant.size()) * bitsPerDigit;
  if (!tooLong)
    value.integer = llvm::APInt(std::max(bits, 64u), significant, uint8_t(radix));
  if (tooLong || value.integer.getActiveBits() > ast::IntLiteral::maxIntBits) {
    diags.report(diag::E0014, range, ast::IntLiteral::maxIntBits);
    return std::nullopt;
  }
  return value;
}

std::optional<NumberValue> NumberDecoder::decimal() {
  StringRef rest = text;
  NumberValue value;
  std::optional<std::string> whole = takeDigits(rest), fraction = "", exponent = "";
  bool hasPoint = whole && rest.consume_front(".");
  if (hasPoint)
    fraction = takeDigits(rest);
  std::string sign;
  bool hasExponent = whole && fraction && (rest.starts_with("e") || rest.starts_with("E"));
  if (hasExponent) {
    rest = rest.drop_front();
    if (rest.starts_with("+") || rest.starts_with("-")) {
      sign = rest.take_front().str();
      rest = rest.drop_front();
    }
    exponent = takeDigits(rest);
  }
  if (!whole || !fraction || !exponent)
    return fail("an underscore may only stand between two digits");
  if (hasExponent && exponent->empty())
    return fail("the exponent has no digits");
  if (rest == "j" || rest == "J") {
    diags.report(diag::E0513, range);
    return std::nullopt;
  }
  if (!rest.empty())
    return fail("`" + rest.take_front() + "` cannot follow the digits");

  value.isFloat = hasPoint || hasExponent;
  value.text = *whole + (hasPoint ? "." : "") + *fraction + (hasExponent ? "e" : "") + sign + *exponent;
  if (value.isFloat) {
    if (value.text.size() > maxFloatText)
      return fail("more than " + llvm::Twine(maxFloatText) + " characters");
    llvm::APFloat real(llvm::APFloat::IEEEdouble());
    // LLVM wants a digit on one side of the point at least; "1." and ".5" are fine with it.
    auto status = real.convertFromString(value.text, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return fail("it is no number");
    }
    value.real = real.convertToDouble();
    return value;
  }
  StringRef significant = StringRef(*whole).ltrim('0');
  if (whole->size() > 1 && (*whole)[0] == '0' && !significant.empty())
    return fail("a leading zero; write 0o for base 8");
  if (significant.empty())
    return value;
  constexpr size_t maxDigits = ast::IntLiteral::maxIntBits * 302 / 1000;
  if (significant.size() <= maxDigits)
    value.integer = llvm::APInt(unsigned(significant.size()) * 4 + 64, significant, 10);
  if (significant.size() > maxDigits || value.integer.getActiveBits() > ast::IntLiteral::maxIntBits) {
    diags.report(diag::E0014, range, ast::IntLiteral::maxIntBits);
    return std::nullopt;
  }
  return value;
}

std::optional<NumberValue> tilec::decodeNumber(StringRef text, SourceRange range, DiagnosticEngine &diags) {
  return NumberDecoder(text, range, diags).run();
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

namespace {
class StringDecoder {
public:
  StringDecoder(StringRef text, SourceRange range, DiagnosticEngine &diags)
      : text(text), rest(text), range(range), diags(diags) {}

  std::optional<std::string> run();

private:
  bool prefix();
  /// `rest` stands behind the backslash.
  void escape();
  void octal();
  void hex(char kind, unsigned digits);
  void named();
  void append(uint32_t codePoint, size_t escapeBegin);
  void fail(size_t begin, const llvm::Twine &why) {
    diags.report(diag::E0012, at(begin), why);
    good = false;
  }
  /// From offset `begin` of the token to where `rest` stands.
  SourceRange at(size_t begin) const {
    uint32_t end = range.begin + uint32_t(text.size() - rest.size());
    return {range.buffer, range.begin + uint32_t(begin), std::max(end, range.begin + uint32_t(begin) + 1)};
  }
  size_t position() const { return text.size() - rest.size(); }

  StringRef text;
  StringRef rest;
  SourceRange range;
  DiagnosticEngine &diags;
  bool raw = false;
  bool good = true;
  /// One warning a string is enough.
  bool warned = false;
  std::string value;
};
} // namespace

bool StringDecoder::prefix() {
  StringRef letters = rest.take_while([](char c) { return llvm::isAlpha(c); });
  rest = rest.drop_front(letters.size());
  std::string lower = letters.lower();
  raw = StringRef(lower).contains('r');
  if (StringRef(lower).contains('b'))
    diags.report(diag::E0508, range);
  else if (StringRef(lower).contains('f') || StringRef(lower).contains('t'))
    diags.report(diag::E0507, range, StringRef(lower).contains('f') ? "f-strings" : "t-strings");
  else
    return true;
  return false;
}

std::optional<std::string> StringDecoder::run() {
  if (!prefix())
    return std::nullopt;
  size_t quotes = rest.starts_with("\"\"\"") || rest.starts_with("'''") ? 3 : 1;
  rest = rest.drop_front(quotes);
  StringRef closing = text.take_back(quotes);
  while (rest.size() > closing.size()) {
    char c = rest[0];
    rest = rest.drop_front();
    if (c == '\\' && raw) {
      // The backslash stays, and so does a quote or backslash that it guards.
      value += c;
      if (rest[0] == '\\' || rest[0] == '"' || rest[0] == '\'') {
        value += rest[0];
        rest = rest.drop_front();
      }
    } else if (c == '\\') {
      escape();
    } else if (c == '\r') {
      value += '\n';
      rest.consume_front("\n");
    } else {
      value += c;
    }
  }
  return good ? std::optional<std::string>(std::move(value)) : std::nullopt;
}

void StringDecoder::escape() {
  static constexpr StringRef letters = "abfnrtv\\'\"";
  static constexpr StringRef values = "\a\b\f\n\r\t\v\\'\"";
  char c = rest[0];
  if (size_t index = letters.find(c); index != StringRef::npos) {
    value += values[index];
    rest = rest.drop_front();
    return;
  }
  if (c >= '0' && c <= '7')
    return octal();
  switch (c) {
  case '\n':
    rest = rest.drop_front();
    return;
  case '\r':
    rest = rest.drop_front();
    rest.consume_front("\n");
    return;
  case 'x':
    return hex(c, 2);
  case 'u':
    return hex(c, 4);
  case 'U':
    return hex(c, 8);
  case 'N':
    return named();
  default:
    break;
  }
  // Python keeps the backslash, with a warning. Show the whole code point.
  size_t begin = position() - 1;
  size_t size = std::max<size_t>(1, llvm::getNumBytesForUTF8(llvm::UTF8(c)));
  StringRef shown = rest.take_front(std::min(size, rest.size()));
  value += '\\';
  value += shown;
  rest = rest.drop_front(shown.size());
  SourceRange place = at(begin);
  if (!std::exchange(warned, true))
    diags.report(diag::W0002, place, shown).fixit(place.atBegin(), "\\");
}

void StringDecoder::octal() {
  size_t begin = position() - 1;
  uint32_t codePoint = 0;
  for (unsigned i = 0; i != 3 && rest[0] >= '0' && rest[0] <= '7'; ++i) {
    codePoint = codePoint * 8 + uint32_t(rest[0] - '0');
    rest = rest.drop_front();
  }
  append(codePoint, begin);
}

void StringDecoder::hex(char kind, unsigned digits) {
  size_t begin = position() - 1;
  rest = rest.drop_front();
  uint64_t codePoint = 0;
  unsigned count = 0;
  for (; count != digits && llvm::isHexDigit(rest[0]); ++count) {
    codePoint = codePoint * 16 + llvm::hexDigitValue(rest[0]);
    rest = rest.drop_front();
  }
  if (count != digits)
    return fail(begin, llvm::Twine("`\\") + StringRef(&kind, 1) + "` needs " + llvm::Twine(digits) +
                           " hexadecimal digits, found " + llvm::Twine(count));
  append(uint32_t(codePoint), begin);
}

void StringDecoder::named() {
  size_t begin = position() - 1;
  rest = rest.drop_front();
  size_t close = rest.find('}');
  if (!rest.consume_front("{") || close == StringRef::npos)
    return fail(begin, "`\\N` needs the name of a character in braces");
  StringRef name = rest.take_front(close - 1);
  rest = rest.drop_front(close);
  std::optional<char32_t> codePoint = llvm::sys::unicode::nameToCodepointStrict(name);
  if (!codePoint)
    return fail(begin, "no character is named `" + name + "`");
  append(uint32_t(*codePoint), begin);
}

void StringDecoder::append(uint32_t codePoint, size_t escapeBegin) {
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
  char *end = bytes;
  if ((codePoint >= 0xD800 && codePoint < 0xE000) || !llvm::ConvertCodePointToUTF8(codePoint, end))
    return fail(escapeBegin, "U+" + llvm::utohexstr(codePoint) + " is no character");
  value.append(bytes, end);
}

std::optional<std::string> tilec::decodeString(StringRef text, SourceRange range, DiagnosticEngine &diags) {
  return StringDecoder(text, range, diags).run();
}
