//===- ScheduleHints.cpp - what the user wrote in Kernel(...) ----------------===//
#include "ScheduleHints.h"

using namespace mlir;
using namespace tilec::tile;

LaunchHints tilec::tile::readHints(LaunchOp launch) {
  LaunchHints hints;
  auto dict = launch->getAttrOfType<DictionaryAttr>(TileDialect::kHintsAttrName);
  if (!dict)
    return hints;
  if (auto a = dict.getAs<IntegerAttr>("threads"))
    hints.threads = a.getInt();
  if (auto a = dict.getAs<BoolAttr>("persistent"))
    hints.persistent = a.getValue();
  if (auto a = dict.getAs<IntegerAttr>("min_blocks"))
    hints.minBlocks = a.getInt();
  return hints;
}
