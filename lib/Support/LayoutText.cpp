//===- LayoutText.cpp - text form of layouts ---------------------------------===//
//
//   layout := [dim { '|' dim }] '->' outs
//   dim    := NAME { digit }
//   digit  := N ':' term { '+' term }            N values, least significant digit first
//   term   := '0' | [N] ['^' N] NAME | N ['^' N]  without a name: the offset
//   outs   := '()' | size { 'x' size } | { NAME '=' size }
//   size   := N ['^' N]                          ^2^a: an xor zone of a bits
//
//===----------------------------------------------------------------------===//

#include "LayoutDetail.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::layout_detail;

namespace {

struct Term {
  DimId id;
  int64_t stride;
};
struct ParsedDigit {
  int64_t n;
  SmallVector<Term, 2> terms;
};
struct ParsedIn {
  DimId id;
  SmallVector<ParsedDigit, 8> digits;
};

class Parser {
public:
  Parser(StringRef text, std::string *why) : rest(text.trim()), why(why) {}
  FailureOr<Layout> run();

private:
  void skip() { rest = rest.ltrim(); }
  bool eat(char c) {
    if (!rest.starts_with(StringRef(&c, 1)))
      return false;
    rest = rest.drop_front();
    return true;
  }
  bool number(int64_t &n) {
    StringRef digits = rest.take_while([](char c) { return isDigit(c); });
    if (digits.empty() || digits.size() > 15)
      return false;
    (void)digits.getAsInteger(10, n);
    rest = rest.drop_front(digits.size());
    return true;
  }
  StringRef name() {
    StringRef w = rest.take_while([](char c) { return isAlnum(c); });
    if (w.empty() || isDigit(w[0]))
      return {};
    rest = rest.drop_front(w.size());
    return w;
  }
  LogicalResult bad(const Twine &what) {
    return refuse(why, what + (rest.empty() ? Twine(" at the end of the layout")
                                            : Twine(" before '") + rest.take_front(16) + "'"));
  }
  LogicalResult dim(ParsedIn &in);
  LogicalResult term(Term &t);
  LogicalResult digit(ParsedDigit &d);
  LogicalResult outs();
  LogicalResult size(Layout::Out &o);
  bool onlyOffset(bool &known) const;

  StringRef rest;
  std::string *why;
  SmallVector<ParsedIn, 4> ins;
  SmallVector<Layout::Out, 4> outList;
};

} // namespace

LogicalResult Parser::term(Term &t) {
  int64_t high = 0, low = 0;
  bool hasHigh = number(high), hasLow = false;
  if (eat('^')) {
    hasLow = true;
    if (!number(low))
      return bad("expected the number that is xored");
  }
  StringRef word = name();
  if (word.empty()) {
    if (!hasHigh && !hasLow)
      return bad("expected a stride");
    t = {DimId::Offset, high + low};
    return success();
  }
  std::optional<DimId> id = dimByName(word);
  if (!id)
    return refuse(why, Twine("'") + word + "' is no dimension");
  t = {*id, (hasHigh ? high : hasLow ? 0 : 1) + low};
  return success();
}

LogicalResult Parser::digit(ParsedDigit &d) {
  if (!number(d.n))
    return bad("expected a digit");
  if (!eat(':'))
    return bad("expected ':'");
  do {
    Term t;
    if (failed(term(t)))
      return failure();
    if (t.stride)
      d.terms.push_back(t);
  } while (eat('+'));
  if (!rest.empty() && !isSpace(rest[0]) && rest[0] != '|' && !rest.starts_with("->"))
    return bad("expected a space");
  return success();
}

LogicalResult Parser::dim(ParsedIn &in) {
  skip();
  StringRef word = name();
  if (word.empty())
    return bad("expected a dimension");
  std::optional<DimId> id = dimByName(word);
  if (!id)
    return refuse(why, Twine("'") + word + "' is no dimension");
  in.id = *id;
  for (skip(); !rest.empty() && isDigit(rest[0]); skip()) {
    ParsedDigit d;
    if (failed(digit(d)))
      return failure();
    in.digits.push_back(std::move(d));
  }
  return success();
}

LogicalResult Parser::size(Layout::Out &o) {
  int64_t zone = 1;
  if (!number(o.size))
    return bad("expected a size");
  if (eat('^') && (!number(zone) || !isPow2(zone)))
    return bad("expected a power of two");
  o.zone = log2Of(zone);
  return success();
}

LogicalResult Parser::outs() {
  skip();
  if (rest == "()") {
    rest = {};
    return success();
  }
  if (!rest.empty() && isDigit(rest[0])) {
    do {
      Layout::Out o{DimId::D0, 1, 0};
      if (failed(size(o)))
        return failure();
      if (outList.size() == kMaxRank)
        return bad("too many axes");
      o.id = coord(outList.size());
      outList.push_back(o);
    } while (eat('x'));
    // One size may be the offset's: when a stride has no name, or when nothing has one and the inputs are
    // coordinates.
    bool known = false;
    bool offset = onlyOffset(known);
    if (known && offset && outList.size() != 1)
      return bad("strides without a name need one size, that of the offset");
    if (offset && outList.size() == 1)
      outList[0].id = DimId::Offset;
    skip();
    return rest.empty() ? success() : bad("unexpected text");
  }
  while (!rest.empty()) {
    StringRef word = name();
    std::optional<DimId> id = dimByName(word);
    Layout::Out o{DimId::D0, 1, 0};
    if (!id || !eat('='))
      return bad("expected a size");
    o.id = *id;
    if (failed(size(o)))
      return failure();
    outList.push_back(o);
    skip();
  }
  return outList.empty() ? bad("expected the sizes of the outputs") : success();
}

bool Parser::onlyOffset(bool &known) const {
  bool fromMemory = false;
  for (const ParsedIn &in : ins) {
    fromMemory |= isCoord(in.id) || in.id == DimId::Slot;
    for (const ParsedDigit &d : in.digits)
      for (const Term &t : d.terms) {
        known = true;
        return t.id == DimId::Offset;
      }
  }
  return fromMemory;
}

FailureOr<Layout> Parser::run() {
  skip();
  if (!rest.starts_with("->")) {
    do {
      ParsedIn in;
      if (failed(dim(in)))
        return failure();
      ins.push_back(std::move(in));
      skip();
    } while (eat('|'));
  }
  if (!rest.consume_front("->"))
    return bad("expected '->'");
  if (failed(outs()))
    return failure();
  SmallVector<Layout::In, 4> digits;
  for (const ParsedIn &in : ins) {
    Layout::In made{in.id, {}};
    for (const ParsedDigit &d : in.digits) {
      Layout::Digit g{d.n, Layout::Vec(outList.size(), 0)};
      for (const Term &t : d.terms) {
        auto it = llvm::find_if(outList, [&](const Layout::Out &o) { return o.id == t.id; });
        if (it == outList.end())
          return refuse(why, Twine("a stride moves ") + dimName(t.id) + ", which has no size");
        g.v[it - outList.begin()] += t.stride;
      }
      made.digits.push_back(std::move(g));
    }
    digits.push_back(std::move(made));
  }
  return Layout::get(digits, outList, why);
}

FailureOr<Layout> Layout::parse(StringRef text, std::string *why) { return Parser(text, why).run(); }

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printVec(raw_ostream &os, const Layout::Vec &v, ArrayRef<Layout::Out> outs) {
  bool any = false;
  for (unsigned o = 0; o < outs.size(); ++o) {
    if (!v[o])
      continue;
    if (any)
      os << '+';
    any = true;
    int64_t low = v[o] & lowMask(outs[o].zone), high = v[o] - low;
    bool named = outs[o].id != DimId::Offset;
    if (low && high)
      os << high << '^' << low;
    else if (v[o] != 1 || !named)
      os << v[o];
    if (named)
      os << dimName(outs[o].id);
  }
  if (!any)
    os << '0';
}

static bool positional(const Layout &l) {
  ArrayRef<Layout::Out> outs = l.outs();
  bool moves = false, fromMemory = false;
  for (const Layout::In &in : l.ins()) {
    fromMemory |= isCoord(in.id) || in.id == DimId::Slot;
    for (const Layout::Digit &d : in.digits)
      moves |= d.moves();
  }
  if (outs.size() == 1 && outs[0].id == DimId::Offset)
    return moves || fromMemory;
  for (unsigned i = 0; i < outs.size(); ++i)
    if (outs[i].id != coord(i))
      return false;
  return outs.size() != 1 || moves || !fromMemory;
}

void Layout::print(raw_ostream &os) const {
  for (const In &in : inputs) {
    os << dimName(in.id);
    // Bits that double in their low and in their high part alike are written as one digit.
    int64_t n = 0;
    Vec v;
    auto flush = [&] {
      if (n) {
        os << ' ' << n << ':';
        printVec(os, v, outputs);
      }
    };
    for (const Digit &d : in.digits) {
      if (n && continues(n, v, d.v)) {
        n *= d.n;
        continue;
      }
      flush();
      n = d.n;
      v = d.v;
    }
    flush();
    os << (&in == &inputs.back() ? " " : " | ");
  }
  os << "->";
  if (outputs.empty())
    os << " ()";
  bool plain = positional(*this);
  for (const Out &o : outputs) {
    if (plain)
      os << (&o == outputs.begin() ? " " : "x");
    else
      os << ' ' << dimName(o.id) << '=';
    os << o.size;
    if (o.zone)
      os << '^' << lowMask(o.zone) + 1;
  }
}

std::string Layout::str() const {
  std::string s;
  raw_string_ostream os(s);
  print(os);
  return s;
}

raw_ostream &tilec::operator<<(raw_ostream &os, const Layout &l) {
  l.print(os);
  return os;
}
