//===- CNames.cpp - which names C and C++ leave to us --------------------------------===//
#include "tilec/Target/Header.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace tilec;

/// Keywords of C99 to C23 and C++11 to C++23, alternative tokens included.
static bool isKeyword(StringRef name) {
  static const StringSet<> keywords = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "char8_t",
                                       "char16_t",
                                       "char32_t",
                                       "class",
                                       "compl",
                                       "concept",
                                       "const",
                                       "consteval",
                                       "constexpr",
                                       "constinit",
                                       "const_cast",
                                       "continue",
                                       "co_await",
                                       "co_return",
                                       "co_yield",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "private",
                                       "protected",
                                       "public",
                                       "register",
                                       "reinterpret_cast",
                                       "requires",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "typeof",
                                       "typeof_unqual",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq"};
  return keywords.contains(name);
}

/// Macros and types of the headers that every user of a generated header may have included before it.
static bool isStandardName(StringRef name) {
  static const StringSet<> names = {
      "NULL",   "offsetof", "size_t",    "ptrdiff_t", "max_align_t", "nullptr_t", "unreachable",
      "assert", "complex",  "imaginary", "errno",     "EOF",         "stdin",     "stdout",
      "stderr", "linux",    "unix",      "noreturn",  "I",           "INFINITY",  "NAN",
      "WEOF",   "far",      "near",      "min",       "max"};
  if (names.contains(name))
    return true;
  StringRef rest = name;
  rest.consume_front("u");
  if (rest.starts_with("int") && rest.ends_with("_t"))
    return true;
  bool limit = any_of(ArrayRef<StringRef>{"_MAX", "_MIN", "_C", "_WIDTH"},
                      [&](StringRef end) { return name.ends_with(end); });
  return limit && any_of(ArrayRef<StringRef>{"INT", "UINT", "SIZE", "PTRDIFF", "WCHAR", "WINT", "SIG_ATOMIC"},
                         [&](StringRef start) { return name.starts_with(start); });
}

/// C's library functions that compilers know by name; declaring one otherwise is an error or a warning.
static bool isLibraryFunction(StringRef name) {
  static const StringSet<> names = {
      "abort",    "abs",         "acos",     "acosh",     "alloca",    "asin",      "asinh",    "atan",
      "atan2",    "atanh",       "atexit",   "atof",      "atoi",      "atol",      "bcmp",     "bcopy",
      "bsearch",  "bzero",       "calloc",   "cbrt",      "ceil",      "clock",     "close",    "conj",
      "copysign", "cos",         "cosh",     "creal",     "cimag",     "div",       "erf",      "erfc",
      "exit",     "exp",         "exp10",    "exp2",      "expm1",     "fabs",      "fdim",     "ffs",
      "floor",    "fma",         "fmax",     "fmin",      "fmod",      "fork",      "fprintf",  "fputc",
      "fputs",    "free",        "frexp",    "fscanf",    "fwrite",    "gamma",     "gets",     "hypot",
      "ilogb",    "index",       "isalnum",  "isalpha",   "iscntrl",   "isdigit",   "isfinite", "isgraph",
      "isinf",    "islower",     "isnan",    "isnormal",  "isprint",   "ispunct",   "isspace",  "isupper",
      "isxdigit", "j0",          "j1",       "jn",        "labs",      "ldexp",     "lgamma",   "link",
      "log",      "log10",       "log1p",    "log2",      "logb",      "longjmp",   "lrint",    "lround",
      "main",     "malloc",      "memccpy",  "memchr",    "memcmp",    "memcpy",    "memmove",  "mempcpy",
      "memset",   "mkdir",       "modf",     "nan",       "nearbyint", "nextafter", "open",     "pipe",
      "pow",      "pow10",       "printf",   "putc",      "putchar",   "puts",      "qsort",    "raise",
      "rand",     "read",        "realloc",  "remainder", "remove",    "remquo",    "rename",   "rindex",
      "rint",     "round",       "scalb",    "scalbln",   "scanf",     "select",    "setjmp",   "signal",
      "signbit",  "significand", "sin",      "sincos",    "sinh",      "sleep",     "snprintf", "socket",
      "sprintf",  "sqrt",        "srand",    "sscanf",    "stpcpy",    "strcat",    "strchr",   "strcmp",
      "strcpy",   "strdup",      "strerror", "strlen",    "strncat",   "strncmp",   "strncpy",  "strstr",
      "strtol",   "system",      "tan",      "tanh",      "tgamma",    "time",      "toascii",  "tolower",
      "toupper",  "trunc",       "vfprintf", "vprintf",   "vsnprintf", "vsprintf",  "wait",     "write",
      "y0",       "y1",          "yn"};
  if (names.contains(name))
    return true;
  // The float and long double forms: sinf, sinl.
  return (name.ends_with("f") || name.ends_with("l")) && names.contains(name.drop_back()) && name.size() > 3;
}

static bool isReserved(StringRef name) {
  return name.contains("__") || (name.size() > 1 && name[0] == '_' && isUpper(name[1]));
}

StringRef target::reservedCName(StringRef name) {
  if (isKeyword(name))
    return "a keyword of C or C++";
  if (isReserved(name) || name.starts_with("_"))
    return "reserved for C and C++ implementations";
  if (name.starts_with("tile_") || name.starts_with("TILE_"))
    return "reserved for the tile runtime";
  if (isStandardName(name))
    return "a macro or type of the standard headers";
  if (isLibraryFunction(name))
    return "a function of the C library";
  return "";
}

std::string target::cParameterName(StringRef name) {
  if (isReserved(name)) {
    std::string plain;
    for (char c : name.ltrim('_'))
      if (c != '_' || (!plain.empty() && plain.back() != '_'))
        plain += c;
    return (plain.empty() || isDigit(plain[0]) ? "p" + plain : plain) + "_";
  }
  if (isKeyword(name) || isStandardName(name) || name.starts_with("tile_") || name.starts_with("TILE_"))
    return (name + "_").str();
  return name.str();
}
