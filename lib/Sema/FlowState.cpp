//===- FlowState.cpp - what holds on the paths that reach this point ------------------===//

#include "FlowState.h"

using namespace tilec;
using namespace tilec::sema;

void FlowState::set(unsigned slot, Binding b) {
  if (!frames.empty())
    frames.back().bindings.try_emplace(slot, bindings[slot]);
  bindings[slot] = std::move(b);
}

void FlowState::setTile(unsigned id, Written w) {
  if (id >= tiles.size())
    tiles.resize(id + 1, Written::No);
  if (!frames.empty())
    frames.back().tiles.try_emplace(id, tiles[id]);
  tiles[id] = w;
}

void FlowState::push() {
  frames.emplace_back();
  frames.back().reachable = reachable;
}

FlowState::Delta FlowState::pop() {
  Frame frame = std::move(frames.back());
  frames.pop_back();
  Delta delta;
  delta.reachable = reachable;
  reachable = frame.reachable;
  for (auto &[slot, old] : frame.bindings) {
    delta.bindings.emplace(slot, std::move(bindings[slot]));
    bindings[slot] = std::move(old);
  }
  for (auto &[id, old] : frame.tiles) {
    delta.tiles.emplace(id, tiles[id]);
    tiles[id] = old;
  }
  return delta;
}

FlowState::Delta FlowState::since(unsigned depth) const {
  Delta delta;
  delta.reachable = reachable;
  for (size_t i = depth; i < frames.size(); ++i) {
    for (const auto &entry : frames[i].bindings)
      delta.bindings.emplace(entry.first, bindings[entry.first]);
    for (const auto &entry : frames[i].tiles)
      delta.tiles.emplace(entry.first, tiles[entry.first]);
  }
  return delta;
}

static bool sameBinding(const Binding &a, const Binding &b) {
  if (a.kind != b.kind)
    return false;
  return a.kind == Binding::Variable || a.kind == Binding::Ended || identical(a.value, b.value);
}

static Binding merge(const Binding &a, const Binding &b, SourceRange head, bool loop) {
  if (a.kind == Binding::Unbound && b.kind == Binding::Unbound)
    return a;
  if (a.kind == Binding::Unbound || b.kind == Binding::Unbound) {
    Binding r = a.kind == Binding::Unbound ? b : a;
    if (!r.maybe) {
      r.maybe = true;
      r.missing = head;
      r.missingLoop = loop;
    }
    return r;
  }
  Binding r = b.maybe ? b : a;
  if (!sameBinding(a, b)) {
    r.kind = Binding::Conflict;
    r.missing = a.where == r.where ? b.where : a.where;
  }
  return r;
}

static Written merge(Written a, Written b) { return a == b ? a : Written::Maybe; }

FlowState::Delta FlowState::combine(const Delta &a, const Delta &b, SourceRange head, bool loop) const {
  if (!a.reachable)
    return b;
  if (!b.reachable)
    return a;
  Delta out;
  auto bindingOf = [&](const Delta &d, unsigned slot) -> const Binding & {
    auto it = d.bindings.find(slot);
    return it == d.bindings.end() ? bindings[slot] : it->second;
  };
  auto tileOf = [&](const Delta &d, unsigned id) {
    auto it = d.tiles.find(id);
    return it == d.tiles.end() ? tile(id) : it->second;
  };
  for (const Delta *d : {&a, &b}) {
    for (const auto &entry : d->bindings)
      if (!out.bindings.count(entry.first))
        out.bindings.emplace(entry.first,
                             merge(bindingOf(a, entry.first), bindingOf(b, entry.first), head, loop));
    for (const auto &entry : d->tiles)
      if (!out.tiles.count(entry.first))
        out.tiles.emplace(entry.first, merge(tileOf(a, entry.first), tileOf(b, entry.first)));
  }
  return out;
}

void FlowState::apply(const Delta &d) {
  reachable = reachable && d.reachable;
  for (const auto &entry : d.bindings)
    set(entry.first, entry.second);
  for (const auto &entry : d.tiles)
    setTile(entry.first, entry.second);
}
