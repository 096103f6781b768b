//===- VerifyStageTrace.h - the scalar program of one role, executed -------===//
//
// A launch's synchronisation depends on scalars only, so it can be run at compile time with small extents.
// One Tracer runs one role: it evaluates scalars, follows loops and branches, keeps for each piece of shared
// memory what happened to it since the last barrier, and writes down the ring operations for the replay of
// all roles together.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_DIALECT_TILE_TRANSFORMS_VERIFYSTAGETRACE_H
#define TILEC_LIB_DIALECT_TILE_TRANSFORMS_VERIFYSTAGETRACE_H

#include "tilec/Dialect/Tile/IR/Tile.h"

#include <map>
#include <optional>
#include <tuple>

namespace tilec::tile {

/// What the sizes that the source leaves open are taken to be in one run.
struct TraceSample {
  int64_t extent = 1;       // of the last two axes of a view, and of integer parameters
  int64_t batch = 2;        // of the other axes
  int64_t block = 0;        // each block id
  int64_t unknownTrips = 2; // of loops whose bounds depend on data
  bool unknownBranch = true;
};

enum class RingEvent { acquire, commit, consume, release };

struct RingStep {
  RingEvent event;
  mlir::Value ring;
  int64_t use;
  mlir::Operation *op;
};

/// How far apart two threads may be for a barrier to order them. Values compare: larger holds more threads.
enum class Reach : int8_t { thread, warp, group, role, block };

/// Which threads of the launch or role run: needed to know when two scopes are the same.
struct RunningThreads {
  int64_t warps = 1;
  int64_t groups = 1; // of four warps
  int64_t role = -1;  // -1: all threads of the block
  Reach widest() const { return role < 0 ? Reach::block : Reach::role; }
};

/// One access to shared memory that later ones may conflict with.
struct MemoryAccess {
  enum Engine : uint8_t { threads, copyEngine, matrixEngine };
  mlir::Operation *op = nullptr;
  bool write = false;
  Engine engine = threads;
  LayoutAttr layout; // which thread touches which element; null: any
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4>
      region; // per axis of the root, [from, to); empty: everything
  int64_t role = -1;
  std::optional<Reach> ordered; // widest barrier since
  bool fenced = false;          // made visible to the engines, and the widest barrier since that
  std::optional<Reach> fencedOrdered;
  int64_t token = 0; // in flight until this is done
};

/// Answers of reachBetween(): a launch meets few pairs of layouts, each of them very often.
using ReachCache = llvm::DenseMap<std::pair<LayoutAttr, LayoutAttr>, Reach>;

class Tracer {
public:
  /// `stepsLeft`: operations that this run and the later ones may still go through.
  Tracer(LaunchOp launch, TraceSample sample, std::optional<unsigned> role, ReachCache &reaches,
         int64_t &stepsLeft);

  /// Runs the launch up to the end of the role. Fails with a message at the first hazard.
  llvm::LogicalResult run();

  llvm::ArrayRef<RingStep> getRingSteps() const { return ringSteps; }
  /// The step limit was reached: what was recorded is only a beginning.
  bool isTruncated() const { return truncated; }
  /// A branch or trip count depended on data, so the other choice deserves a run too.
  bool sawUnknown() const { return unknownSeen; }

private:
  using Key = std::tuple<const void *, unsigned, int64_t>; // root value, buffer of the ring, use of the slot
  struct Home {
    Key key;
    bool whole = true;                    // alias with the root's shape
    llvm::SmallVector<int64_t, 4> origin; // per axis of the root; kDynamic: unknown
    llvm::SmallVector<int64_t, 4> extents;
  };

  // Scalars (VerifyStageScalars.cpp).
  std::optional<int64_t> get(mlir::Value value) const;
  void set(mlir::Value value, std::optional<int64_t> known);
  void evaluate(mlir::Operation *op);
  void findWritten();
  void seedArguments();
  int64_t assume(mlir::Type type);
  bool isAgreed(ElemLoadOp load) const;
  void evaluateRaster(RasterOp raster);

  // Control (VerifyStageTrace.cpp).
  llvm::LogicalResult runHost();
  llvm::LogicalResult runBlock(mlir::Block &block);
  llvm::LogicalResult step(mlir::Operation *op);
  llvm::LogicalResult runFor(mlir::scf::ForOp loop);
  llvm::LogicalResult runWhile(mlir::scf::WhileOp loop);
  llvm::LogicalResult runIf(mlir::scf::IfOp branch);
  llvm::LogicalResult runRoles(WarpGroupsOp roles);
  void bind(mlir::ValueRange targets, llvm::ArrayRef<std::optional<int64_t>> values);
  llvm::SmallVector<std::optional<int64_t>> values(mlir::ValueRange range) const;

  // Memory (VerifyStageMemory.cpp).
  llvm::LogicalResult stepMemory(mlir::Operation *op);
  llvm::LogicalResult stepAsync(mlir::Operation *op);
  llvm::LogicalResult stepGeneric(GenericOp generic);
  llvm::LogicalResult stepAsyncCopy(AsyncCopyOp copy);
  llvm::LogicalResult stepAsyncGemm(AsyncGemmOp gemm);
  llvm::LogicalResult stepCommit(CommitOp commit);
  llvm::LogicalResult stepRelease(ReleaseOp release);
  llvm::LogicalResult record(RingEvent event, mlir::Operation *op, mlir::Value ring, mlir::Value cursor);
  void placeSlot(mlir::Operation *op, mlir::Value ring, mlir::ValueRange buffers, int64_t use);
  void placeSubbuffer(SubbufferOp subbuffer);
  llvm::LogicalResult touch(mlir::Operation *op, mlir::Value buffer, mlir::ValueRange offsets,
                            llvm::ArrayRef<int64_t> extents, MemoryAccess access);
  llvm::LogicalResult touchWhole(mlir::Operation *op, mlir::Value buffer, bool write);
  llvm::LogicalResult checkAgainst(const MemoryAccess &earlier, const MemoryAccess &later);
  llvm::LogicalResult hazard(mlir::Operation *op, llvm::StringRef what, mlir::Operation *other);
  Reach needed(const MemoryAccess &earlier, const MemoryAccess &later) const;
  Reach reachOf(Scope scope) const;
  /// A look at so many accesses: usual lists are short and free, a loop over ever other places makes long
  /// ones.
  void charge(size_t accesses) { stepsLeft -= accesses / 8; }
  void barrier(Scope scope);
  void fence();
  void finish(int64_t token);
  void finishMembers(int64_t token);
  llvm::LogicalResult checkNothingInFlight();

  LaunchOp launch;
  TraceSample sample;
  std::optional<unsigned> role;
  ReachCache &reaches;
  int64_t &stepsLeft;
  RunningThreads threads;
  llvm::DenseMap<mlir::Value, int64_t> env;
  llvm::DenseSet<mlir::Value> written; // views and buffers
  llvm::DenseMap<mlir::Value, Home> homes;
  std::map<Key, llvm::SmallVector<MemoryAccess, 4>> memory;
  llvm::DenseMap<int64_t, llvm::SmallVector<int64_t, 2>> groups; // token of a join -> its members
  llvm::SmallVector<int64_t> productsInFlight;                   // oldest first: they end in order
  llvm::DenseMap<mlir::Value, std::pair<AcquireOp, int64_t>>
      acquired; // ring -> open acquire, bytes copied so far
  llvm::SmallVector<RingStep> ringSteps;
  int64_t nextToken = 0;
  bool truncated = false, unknownSeen = false;
};

/// How far apart the threads that hold the same element in two fragments can be.
Reach reachBetween(LayoutAttr writer, LayoutAttr reader);
} // namespace tilec::tile

#endif // TILEC_LIB_DIALECT_TILE_TRANSFORMS_VERIFYSTAGETRACE_H
