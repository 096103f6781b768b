//===- FlowStateTest.cpp - bindings and their life --------------------------===//
#include "FlowState.h"
#include <gtest/gtest.h>

using namespace tilec::sema;

static Binding numberAt(uint32_t begin) {
  Binding b;
  b.kind = Binding::Constant;
  b.where = {0, begin, begin + 1};
  return b;
}

/// Elaboration holds on to a binding while it makes slots for other names.
TEST(FlowState, BindingsStayWhileSlotsAreAdded) {
  FlowState flow;
  unsigned first = flow.newSlot();
  flow.set(first, numberAt(7));
  const Binding &held = flow.get(first);
  for (unsigned i = 0; i < 10000; ++i) {
    flow.newSlot();
    ASSERT_EQ(&held, &flow.get(first));
  }
  EXPECT_EQ(held.where.begin, 7u);
}

TEST(FlowState, PopRestoresAndTellsWhatChanged) {
  FlowState flow;
  unsigned a = flow.newSlot(), b = flow.newSlot();
  flow.set(a, numberAt(1));
  flow.push();
  flow.set(a, numberAt(8));
  flow.set(a, numberAt(2)); // what is restored is the binding before the push, not the one before this
  flow.set(b, numberAt(3));
  flow.reachable = false;
  FlowState::Delta delta = flow.pop();
  EXPECT_EQ(flow.get(a).where.begin, 1u);
  EXPECT_EQ(flow.get(b).kind, Binding::Unbound);
  EXPECT_TRUE(flow.reachable);
  EXPECT_EQ(delta.bindings.at(a).where.begin, 2u);
  EXPECT_EQ(delta.bindings.at(b).where.begin, 3u);
  EXPECT_FALSE(delta.reachable);
}

TEST(FlowState, NamesOfOneBranchAreMaybe) {
  FlowState flow;
  unsigned slot = flow.newSlot();
  flow.push();
  flow.set(slot, numberAt(4));
  FlowState::Delta left = flow.pop();
  flow.apply(flow.combine(left, FlowState::Delta(), {0, 9, 10}, /*loop=*/false));
  EXPECT_TRUE(flow.get(slot).maybe);
  EXPECT_EQ(flow.get(slot).missing.begin, 9u);
}

TEST(FlowState, NamesThatBranchesBindDifferentlyConflict) {
  FlowState flow;
  unsigned same = flow.newSlot(), differs = flow.newSlot();
  Binding number = numberAt(1), variable = numberAt(2);
  variable.kind = Binding::Variable;
  flow.push();
  flow.set(same, number);
  flow.set(differs, number);
  FlowState::Delta left = flow.pop();
  flow.push();
  flow.set(same, number);
  flow.set(differs, variable);
  FlowState::Delta right = flow.pop();
  flow.apply(flow.combine(left, right, {0, 9, 10}, /*loop=*/false));
  EXPECT_EQ(flow.get(same).kind, Binding::Constant);
  EXPECT_EQ(flow.get(differs).kind, Binding::Conflict);
  EXPECT_EQ(flow.get(differs).missing.begin, 2u);
}

/// A branch that ends in `break` leaves no trace behind the condition.
TEST(FlowState, OnlyReachableBranchesCount) {
  FlowState flow;
  unsigned slot = flow.newSlot();
  flow.push();
  flow.set(slot, numberAt(4));
  FlowState::Delta stays = flow.pop();
  flow.push();
  flow.reachable = false;
  FlowState::Delta leaves = flow.pop();
  for (bool first : {false, true}) {
    FlowState::Delta out =
        first ? flow.combine(leaves, stays, {}, false) : flow.combine(stays, leaves, {}, false);
    EXPECT_TRUE(out.reachable);
    EXPECT_FALSE(out.bindings.at(slot).maybe);
  }
}

TEST(FlowState, SinceTellsWithoutTakingBack) {
  FlowState flow;
  unsigned a = flow.newSlot(), b = flow.newSlot();
  flow.push();
  flow.set(a, numberAt(1));
  unsigned depth = flow.depth();
  flow.push();
  flow.set(b, numberAt(2));
  flow.push();
  flow.set(b, numberAt(3));
  FlowState::Delta delta = flow.since(depth);
  EXPECT_EQ(delta.bindings.count(a), 0u);
  EXPECT_EQ(delta.bindings.at(b).where.begin, 3u);
  EXPECT_EQ(flow.get(b).where.begin, 3u);
}
