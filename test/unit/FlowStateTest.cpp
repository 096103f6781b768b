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
  flow.set(a, numberAt(2));
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
