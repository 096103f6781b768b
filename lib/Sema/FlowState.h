//===- FlowState.h - what holds on the paths that reach this point --------------------===//
//
// While a body is elaborated, each name has a binding and each tile has or has not been written. Branches are
// elaborated one after the other from the same state: push(), elaborate, pop() gives what the branch changed
// and restores the state before it; combine() and apply() join the branches. The work is proportional to the
// changes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SEMA_FLOWSTATE_H
#define TILEC_LIB_SEMA_FLOWSTATE_H

#include "Value.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <map>
#include <vector>

namespace tilec::sema {

struct Binding {
  enum Kind : uint8_t {
    Unbound,
    Constant, ///< a compile-time value or an object
    Variable, ///< a run-time scalar in a hir::VarObj
    Fixed,    ///< parameters, loop variables, block ids: cannot be assigned
    Ended,    ///< the variable of a loop that has ended
    Conflict, ///< different objects on different paths
  };
  Kind kind = Unbound;
  bool maybe = false;       ///< some path arrives without it
  bool missingLoop = false; ///< that path is a loop that runs zero times
  Value value;              ///< not for Variable
  const ast::Node *node = nullptr;
  SourceRange where;
  SourceRange missing; ///< head of the branch or loop that leaves it out
};

enum class Written : uint8_t { No, Maybe, Yes };

class FlowState {
public:
  struct Delta {
    std::map<unsigned, Binding> bindings;
    std::map<unsigned, Written> tiles;
    bool reachable = true;
  };

  bool reachable = true;

  unsigned newSlot() {
    bindings.emplace_back();
    return bindings.size() - 1;
  }
  /// The reference holds as long as the FlowState; what it refers to changes with the flow.
  const Binding &get(unsigned slot) const { return bindings[slot]; }
  void set(unsigned slot, Binding b);
  Written tile(unsigned id) const { return id < tiles.size() ? tiles[id] : Written::No; }
  void setTile(unsigned id, Written w);

  unsigned depth() const { return frames.size(); }
  void push();
  /// What changed since push(); the state is as it was then.
  Delta pop();
  /// What changed since the frame pushed at `depth` (for break and continue); changes nothing.
  Delta since(unsigned depth) const;
  /// Joins two branches that started from the current state. `head` and `loop` say what leaves names out.
  Delta combine(const Delta &a, const Delta &b, SourceRange head, bool loop) const;
  void apply(const Delta &d);

private:
  struct Frame {
    std::map<unsigned, Binding> bindings;
    std::map<unsigned, Written> tiles;
    bool reachable;
  };
  std::deque<Binding> bindings; // elements stay where they are
  std::vector<Written> tiles;
  std::vector<Frame> frames;
};

} // namespace tilec::sema

#endif // TILEC_LIB_SEMA_FLOWSTATE_H
