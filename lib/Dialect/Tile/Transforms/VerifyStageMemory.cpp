//===- VerifyStageMemory.cpp - hazards in shared memory --------------------===//
//
// For each piece of shared memory (an alloc, or one use of a slot) the accesses since they were last ordered
// are kept. A new access that conflicts with one of them needs a barrier between, wide enough for the threads
// involved; an access of an engine also needs a fence after ordinary stores; what an engine still works on
// needs a wait.
//
//===----------------------------------------------------------------------===//
#include "VerifyStageTrace.h"

using namespace mlir;

namespace tilec::tile {
//===- Who touches what ----------------------------------------------------===//
namespace {
/// The threads that hold each element of a fragment: one of them, or `many`.
struct Owners {
  static constexpr int64_t none = -1, many = -2;
  std::vector<int64_t> thread, warp, group;

  explicit Owners(const Layout &layout) {
    int64_t count = 1;
    for (int64_t extent : layout.shape())
      count *= extent;
    for (std::vector<int64_t> *list : {&thread, &warp, &group})
      list->assign(count, none);
    int64_t lanes = layout.inSize(DimId::Lane), warps = layout.inSize(DimId::Warp),
            groups = layout.inSize(DimId::Group);
    SmallVector<DimId> order = {DimId::Block, DimId::Group, DimId::Warp, DimId::Lane, DimId::Reg};
    SmallVector<std::vector<int64_t>> coordinates;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      coordinates.push_back(layout.table(coord(axis), order));
    SmallVector<int64_t, 4> shape = layout.shape();
    int64_t regs = layout.inSize(DimId::Reg);
    for (size_t i = 0; i < coordinates[0].size(); ++i) {
      int64_t element = 0;
      bool valid = true;
      for (auto [axis, extent] : llvm::enumerate(shape)) {
        valid &= coordinates[axis][i] < extent;
        element = element * extent + coordinates[axis][i];
      }
      if (!valid)
        continue;
      int64_t t = i / regs, w = t / lanes, g = w / warps;
      add(thread[element], t % (lanes * warps * groups));
      add(warp[element], w % (warps * groups));
      add(group[element], g % groups);
    }
  }

private:
  static void add(int64_t &owner, int64_t who) {
    if (owner == none)
      owner = who;
    else if (owner != who)
      owner = many;
  }
};

bool sameOwners(const std::vector<int64_t> &lhs, const std::vector<int64_t> &rhs) {
  return lhs == rhs && !llvm::is_contained(lhs, Owners::many);
}
} // namespace

Reach reachBetween(LayoutAttr writer, LayoutAttr reader) {
  constexpr int64_t enumerable = 1 << 18;
  if (writer.getLayout().domainSize() > enumerable || reader.getLayout().domainSize() > enumerable ||
      writer.getLayout().shape() != reader.getLayout().shape())
    return Reach::block;
  static_assert(Reach::thread < Reach::warp && Reach::group < Reach::block, "ordered");
  Owners from(writer.getLayout()), to(reader.getLayout());
  if (sameOwners(from.thread, to.thread))
    return Reach::thread;
  if (sameOwners(from.warp, to.warp))
    return Reach::warp;
  return sameOwners(from.group, to.group) ? Reach::group : Reach::block;
}

/// Does each warp group hold a part of the tile of its own?
static bool isSplitByGroup(LayoutAttr layout, int64_t groups) {
  if (!layout || layout.getLayout().inSize(DimId::Group) != groups)
    return false;
  return llvm::all_of(layout.getLayout().digits(DimId::Group),
                      [](const Layout::Digit &digit) { return digit.moves(); });
}

Reach Tracer::reachOf(Scope scope) const {
  switch (scope) {
  case Scope::warp:
    return threads.warps <= 1 ? threads.widest() : Reach::warp;
  case Scope::group:
    return threads.groups <= 1 ? threads.widest() : Reach::group;
  case Scope::role:
    return threads.widest();
  case Scope::block:
  case Scope::cluster:
    return Reach::block;
  }
  return Reach::block;
}

/// The narrowest barrier that orders two conflicting accesses.
Reach Tracer::needed(const MemoryAccess &earlier, const MemoryAccess &later) const {
  if (earlier.role != later.role)
    return Reach::block;
  Reach reach = threads.widest();
  bool engines = earlier.engine == MemoryAccess::copyEngine || later.engine == MemoryAccess::copyEngine;
  if (engines) {
    // Each group hands the part that it stored to the engine, and waits for that part alone.
    LayoutAttr layout = earlier.layout ? earlier.layout : later.layout;
    if (isSplitByGroup(layout, threads.groups))
      reach = Reach::group;
  } else if (earlier.layout && later.layout && earlier.region == later.region) {
    auto [known, fresh] = reaches.try_emplace({earlier.layout, later.layout}, Reach::block);
    if (fresh)
      known->second = reachBetween(earlier.layout, later.layout);
    reach = std::min(reach, known->second);
  }
  if (reach == Reach::group && threads.groups <= 1)
    return threads.widest();
  return reach;
}

//===- Conflicts -----------------------------------------------------------===//
LogicalResult Tracer::hazard(Operation *op, StringRef what, Operation *other) {
  auto diagnostic = op->emitError() << what << " (extents of " << sample.extent << ")";
  if (other && other != op)
    diagnostic.attachNote(other->getLoc()) << "the other access";
  return diagnostic;
}

static bool overlap(const MemoryAccess &lhs, const MemoryAccess &rhs) {
  if (lhs.region.size() != rhs.region.size())
    return true; // one of them is everything
  for (auto [a, b] : llvm::zip_equal(lhs.region, rhs.region))
    if (a.second <= b.first || b.second <= a.first)
      return false;
  return true;
}

LogicalResult Tracer::checkAgainst(const MemoryAccess &earlier, const MemoryAccess &later) {
  if (!earlier.write && !later.write)
    return success();
  bool isEngine = later.engine != MemoryAccess::threads;
  if (earlier.token && earlier.write)
    return hazard(later.op, "the copy into this buffer has not been waited for", earlier.op);
  if (earlier.token)
    return hazard(later.op,
                  earlier.engine == MemoryAccess::matrixEngine ? "a product may still read this buffer"
                                                               : "the copy engine may still read this buffer",
                  earlier.op);
  bool needsFence = isEngine && earlier.write && earlier.engine == MemoryAccess::threads;
  if (needsFence && !earlier.fenced)
    return hazard(later.op,
                  later.engine == MemoryAccess::matrixEngine
                      ? "no fence between the stores and the product's read"
                      : "no fence between the stores and the copy engine's read",
                  earlier.op);
  Reach need = needed(earlier, later);
  std::optional<Reach> have = needsFence ? earlier.fencedOrdered : earlier.ordered;
  if (need == Reach::thread || (have && *have >= need))
    return success();
  if (have)
    return hazard(later.op,
                  earlier.write ? "the barrier after the write of another thread is too narrow"
                                : "the barrier after the reads of other threads is too narrow",
                  earlier.op);
  return hazard(later.op,
                earlier.write ? "no barrier after the write of another thread"
                              : "no barrier after the reads of other threads",
                earlier.op);
}

LogicalResult Tracer::touch(Operation *op, Value buffer, ValueRange offsets, ArrayRef<int64_t> extents,
                            MemoryAccess access) {
  auto it = homes.find(buffer);
  if (it == homes.end())
    return success(); // a view, or a slot whose use is not known
  const Home &home = it->second;
  access.op = op;
  access.role = threads.role;
  if (home.whole)
    for (size_t axis = 0; axis < home.origin.size(); ++axis) {
      std::optional<int64_t> at = offsets.empty() ? 0 : get(offsets[axis]);
      bool known =
          at && !ShapedType::isDynamic(home.origin[axis]) && (offsets.empty() || axis < extents.size());
      int64_t from = known ? home.origin[axis] + *at : 0;
      int64_t size = offsets.empty() ? home.extents[axis] : axis < extents.size() ? extents[axis] : 1;
      access.region.push_back(
          known ? std::make_pair(from, from + size)
                : std::make_pair(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
    }
  SmallVector<MemoryAccess, 4> &earlier = memory[home.key];
  charge(earlier.size());
  for (const MemoryAccess &other : earlier)
    if (other.op != op || other.token || access.token)
      if (overlap(other, access) && failed(checkAgainst(other, access)))
        return failure();
  // The same op again says nothing new: whatever orders this one, or waits for it, does so for those that are
  // done. Long loops would make long lists of them.
  llvm::erase_if(earlier, [&](const MemoryAccess &other) {
    return other.op == op && !other.token && other.write == access.write && other.region == access.region;
  });
  earlier.push_back(std::move(access));
  return success();
}

LogicalResult Tracer::touchWhole(Operation *op, Value buffer, bool write) {
  MemoryAccess access;
  access.write = write;
  return touch(op, buffer, {}, {}, access);
}

void Tracer::barrier(Scope scope) {
  Reach reach = reachOf(scope);
  for (auto &[key, accesses] : memory) {
    charge(accesses.size());
    for (MemoryAccess &access : accesses) {
      if (access.token)
        continue;
      access.ordered = std::max(access.ordered.value_or(reach), reach);
      if (access.fenced)
        access.fencedOrdered = std::max(access.fencedOrdered.value_or(reach), reach);
    }
  }
}

/// Each thread makes its own stores visible to the engines; others learn of it by a barrier after this.
void Tracer::fence() {
  for (auto &[key, accesses] : memory)
    for (MemoryAccess &access : accesses)
      access.fenced |= access.write && access.engine == MemoryAccess::threads && !access.token;
}

//===- Tokens --------------------------------------------------------------===//
void Tracer::finishMembers(int64_t token) {
  for (int64_t member : groups.lookup(token))
    finishMembers(member);
  for (auto &[key, accesses] : memory)
    for (MemoryAccess &access : accesses)
      if (access.token == token) {
        access.token = 0;
        access.ordered.reset(); // known to the thread that waited, not yet to the others
      }
}

/// Products end in order, so the older ones are done as well. Of copies only what was named is known to be
/// done.
void Tracer::finish(int64_t token) {
  auto it = llvm::find(productsInFlight, token);
  if (it != productsInFlight.end()) {
    for (int64_t older : llvm::make_range(productsInFlight.begin(), it))
      finishMembers(older);
    productsInFlight.erase(productsInFlight.begin(), it + 1);
  }
  finishMembers(token);
}

/// The memory of a block that has ended belongs to the next one.
LogicalResult Tracer::checkNothingInFlight() {
  for (auto &[key, accesses] : memory)
    for (const MemoryAccess &access : accesses)
      if (access.token)
        return hazard(access.op, "still at work on shared memory when the block ends: not waited for",
                      nullptr);
  return success();
}

//===- Places --------------------------------------------------------------===//
void Tracer::placeSlot(Operation *op, Value ring, ValueRange buffers, int64_t use) {
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    Home home;
    home.key = {ring.getAsOpaquePointer(), static_cast<unsigned>(i), use};
    home.extents.assign(getShapeOf(buffer.getType()).begin(), getShapeOf(buffer.getType()).end());
    home.origin.assign(home.extents.size(), 0);
    homes[buffer] = home;
  }
}

void Tracer::placeSubbuffer(SubbufferOp subbuffer) {
  auto it = homes.find(subbuffer.getSource());
  if (it == homes.end())
    return;
  Home home = it->second;
  ArrayRef<int64_t> extents = subbuffer.getExtents();
  for (auto [axis, offset] : llvm::enumerate(subbuffer.getOffsets())) {
    std::optional<int64_t> at = get(offset);
    bool known = home.whole && at && !ShapedType::isDynamic(home.origin[axis]);
    if (home.whole) {
      home.origin[axis] = known ? home.origin[axis] + *at : ShapedType::kDynamic;
      home.extents[axis] = extents[axis];
    }
  }
  // Axes that the result drops make offsets ambiguous: then it is everything.
  home.whole &= subbuffer.getResult().getType().getRank() == static_cast<int64_t>(extents.size());
  homes[subbuffer.getResult()] = home;
}

LogicalResult Tracer::record(RingEvent event, Operation *op, Value ring, Value cursor) {
  std::optional<int64_t> use = get(cursor);
  if (!use)
    return op->emitError("cursor depends on data: the ring operation cannot be checked");
  ringSteps.push_back({event, ring, *use, op});
  return success();
}
} // namespace tilec::tile
