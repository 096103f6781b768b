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
  if (auto a = dict.getAs<IntegerAttr>("panel_rows"))
    hints.panelRows = a.getInt();
  if (auto a = dict.getAs<IntegerAttr>("panel_columns"))
    hints.panelColumns = a.getInt();
  return hints;
}

RasterAttr tilec::tile::rasterOf(MLIRContext *context, const LaunchHints &hints, bool chained) {
  if (hints.panelColumns)
    return RasterAttr::get(context, RasterKind::column, *hints.panelColumns);
  int64_t rows = hints.panelRows.value_or(chained ? 1 : 8);
  return RasterAttr::get(context, rows == 1 ? RasterKind::row : RasterKind::grouped, rows);
}
