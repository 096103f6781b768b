//===- Pipelines.h - the stages, in order ------------------------------------===//
#ifndef TILEC_PIPELINES_PIPELINES_H
#define TILEC_PIPELINES_PIPELINES_H
#include "mlir/Pass/PassManager.h"
#include "tilec/Support/Target.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

/// Where the IR can be looked at and entered. Each stage ends with its contract check (tile-verify-stage).
enum class Stage : uint8_t { Tile, Scheduled, LaidOut, Async, Threads, LLVM };

/// "tile", "scheduled", "laid-out", "async", "threads", "llvm": as in --emit-ir-STAGE and tile-verify-stage.
llvm::StringRef stageName(Stage stage);

struct PipelineOptions {
  std::string symbolPrefix; ///< of the library, with its underscore
  bool delays = false;      ///< --sanitize=schedule
};

/// Are points of tuning spaces compared for that target?
bool hasCostModel(const TargetDesc &target);

/// Kernels as MLIRGen makes them -> one host kernel and one device kernel per launch and point of the tuning
/// space. Targets have a part only in which points those are; `mostPoints` for each of them, 0 for the
/// default. `shapes`, when there are any, want the points that are best for them ("M=512:N=512").
void buildTileStage(mlir::OpPassManager &pm, llvm::ArrayRef<std::string> targets, unsigned mostPoints,
                    llvm::ArrayRef<std::string> shapes = {});

/// One stage of the device kernels of one target (`tile.target` is set on them). The pass manager is anchored
/// on builtin.module.
void buildDeviceStage(mlir::OpPassManager &pm, Stage stage, const TargetDesc &target,
                      const PipelineOptions &options);

/// Host kernels -> LLVM dialect.
void buildHostPipeline(mlir::OpPassManager &pm);

/// The dialects that stages Tile to LLVM need, and nothing else: start-up time is every user's time.
void registerPipelineDialects(mlir::DialectRegistry &registry);

} // namespace tilec
#endif
