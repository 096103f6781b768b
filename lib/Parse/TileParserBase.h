//===- TileParserBase.h - stack guard for the generated parser ----------------------------===//

#ifndef TILEC_LIB_PARSE_TILEPARSERBASE_H
#define TILEC_LIB_PARSE_TILEPARSERBASE_H

#include "antlr4-runtime.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif

namespace tilec {

/// Thrown by the parser when rules nest so deeply that the stack is in danger.
struct NestedTooDeep {};

class TileParserBase : public antlr4::Parser {
public:
  explicit TileParserBase(antlr4::TokenStream *input) : antlr4::Parser(input), stackBase(here()) {}

  void enterRule(antlr4::ParserRuleContext *context, size_t state, size_t rule) override {
    guard();
    antlr4::Parser::enterRule(context, state, rule);
  }
  using antlr4::Parser::enterRecursionRule;
  void enterRecursionRule(antlr4::ParserRuleContext *context, size_t state, size_t rule,
                          int precedence) override {
    guard();
    antlr4::Parser::enterRecursionRule(context, state, rule, precedence);
  }

private:
  /// What the rules may use; the prediction that runs on top of them needs a few times as much.
#if __has_feature(address_sanitizer)
  static constexpr size_t maxStack = 16u << 20; // frames are larger by far
#else
  static constexpr size_t maxStack = 4u << 20;
#endif

  static uintptr_t here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }
  void guard() const {
    // The stack grows downwards on every target that tilec runs on.
    if (stackBase - here() > maxStack)
      throw NestedTooDeep();
  }

  const uintptr_t stackBase;
};

} // namespace tilec

using tilec::TileParserBase;

#endif // TILEC_LIB_PARSE_TILEPARSERBASE_H
