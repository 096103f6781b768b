//===- TileAsyncOps.cpp - tokens, rings, roles -----------------------------===//
#include "Verify.h"
#include "tilec/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace tilec::tile;

#define GET_OP_CLASSES
#include "tilec/Dialect/Tile/IR/TileAsyncOps.cpp.inc"

void TileDialect::addAsyncOps() {
  addOperations<
#define GET_OP_LIST
#include "tilec/Dialect/Tile/IR/TileAsyncOps.cpp.inc"
      >();
}

static LogicalResult verifyPending(Operation *op, std::optional<uint64_t> pending) {
  if (!pending || static_cast<int64_t>(*pending) >= 0)
    return success();
  return op->emitOpError() << "pending is at least 0, got " << static_cast<int64_t>(*pending);
}

//===- Copies --------------------------------------------------------------===//
LogicalResult AsyncCopyOp::verify() {
  Type source = getSource().getType(), dest = getDest().getType();
  if (failed(verifySameElement(*this, source, dest)))
    return failure();
  if (isa<ViewType>(source) == isa<ViewType>(dest))
    return emitOpError() << "moves between a view and a buffer, got " << source << " and " << dest;
  if (getEngine() == Engine::simt)
    return emitOpError() << stringifyEngine(getEngine()) << " copies are tile.copy";
  if ((getEngine() == Engine::cp_async || getEngine() == Engine::buffer_lds) && isa<ViewType>(dest))
    return emitOpError() << "engine '" << stringifyEngine(getEngine()) << "' only loads, got " << dest
                         << " as destination";
  return verifyCopy(*this, {source, dest, getSourceOffsets(), getDestOffsets(), getExtents(),
                            /*transpose=*/false, getIm2colAttr(), getEngine()});
}

//===- Products ------------------------------------------------------------===//
LogicalResult AsyncGemmOp::verify() {
  TileType result = getResult().getType().getTile();
  auto future = dyn_cast<FutureType>(getAcc().getType());
  Type acc = future ? Type(future.getTile()) : getAcc().getType();
  if (acc != result)
    return emitOpError() << "accumulator is " << acc << ", result " << result;
  InstKind kind = getInst().getKind();
  if (kind != InstKind::wgmma && kind != InstKind::tcgen05)
    return emitOpError() << "'" << stringifyInstKind(kind) << "' is not asynchronous";
  return verifyGemm(*this, {getA().getType(), getB().getType(), result, getTransA(), getTransB()});
}

LogicalResult InFlightOp::verify() {
  if (getTile().getType() == getFuture().getType().getTile())
    return success();
  return emitOpError() << "tile is " << getTile().getType() << ", future of "
                       << getFuture().getType().getTile();
}

LogicalResult AwaitOp::verify() {
  if (getTile().getType() != getFuture().getType().getTile())
    return emitOpError() << "tile is " << getTile().getType() << ", future of "
                         << getFuture().getType().getTile();
  return verifyPending(*this, getPending());
}

LogicalResult WaitOp::verify() { return verifyPending(*this, getPending()); }

//===- Rings ---------------------------------------------------------------===//
LogicalResult RingOp::verify() {
  size_t buffers = getRing().getType().getBuffers().size();
  if (getOffsets() && getOffsets()->size() != buffers)
    return emitOpError() << "expected " << buffers << " offsets, one per buffer, got "
                         << getOffsets()->size();
  for (std::optional<uint64_t> count : {getFull(), getEmpty()})
    if (count && static_cast<int64_t>(*count) < 1)
      return emitOpError() << "arrival counts are at least 1, got " << static_cast<int64_t>(*count);
  if (getOffsets())
    for (int64_t offset : getOffsetsAttr().asArrayRef())
      if (offset < 0)
        return emitOpError() << "offset is at least 0, got " << offset;
  return success();
}

OpFoldResult AdvanceOp::fold(FoldAdaptor) {
  int64_t by = getBy();
  if (by == 0)
    return getCursor();
  auto inner = getCursor().getDefiningOp<AdvanceOp>();
  if (!inner)
    return {};
  setBy(by + static_cast<int64_t>(inner.getBy()));
  getCursorMutable().assign(inner.getCursor());
  return getNext();
}

LogicalResult AcquireOp::verify() {
  if (getTxBytes() && static_cast<int64_t>(*getTxBytes()) < 1)
    return emitOpError() << "tx is at least 1 byte, got " << static_cast<int64_t>(*getTxBytes());
  return success();
}

LogicalResult SlotAtOp::verify() {
  if ((*this)->getParentOfType<WarpGroupsOp>())
    return emitOpError() << "inside roles use acquire or consume";
  return success();
}

//===- Roles ---------------------------------------------------------------===//
ParseResult WarpGroupsOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> roles;
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    RoleAttr role;
    Region *body = result.addRegion();
    if (parser.parseCustomAttributeWithFallback(role) || parser.parseRegion(*body))
      return failure();
    roles.push_back(role);
    OpTrait::SingleBlockImplicitTerminator<YieldOp>::Impl<WarpGroupsOp>::ensureTerminator(
        *body, parser.getBuilder(), result.location);
  }
  result.addAttribute(getRolesAttrName(result.name), parser.getBuilder().getArrayAttr(roles));
  return parser.parseOptionalAttrDict(result.attributes);
}

void WarpGroupsOp::print(OpAsmPrinter &printer) {
  for (auto [role, body] : llvm::zip(getRoles(), getBodies())) {
    printer << " role ";
    printer.printStrippedAttrOrType(cast<RoleAttr>(role));
    printer << " ";
    printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {getRolesAttrName()});
}

LogicalResult WarpGroupsOp::verify() {
  if (getRoles().size() != getBodies().size() || getRoles().empty())
    return emitOpError() << "expected one region per role, got " << getBodies().size() << " for "
                         << getRoles().size();
  if ((*this)->getParentOfType<WarpGroupsOp>())
    return emitOpError() << "roles do not nest";
  auto launch = (*this)->getParentOfType<LaunchOp>();
  if (!launch || !launch.getScheduleAttr())
    return success();
  ArrayRef<RoleAttr> scheduled = launch.getScheduleAttr().getRoles();
  if (scheduled.empty())
    return success();
  if (scheduled.size() != getRoles().size())
    return emitOpError() << "schedule has " << scheduled.size() << " roles, got " << getRoles().size();
  for (auto [want, got] : llvm::zip(scheduled, getRoles()))
    if (want != got)
      return emitOpError() << "schedule has " << want << ", got " << got;
  return success();
}

/// Registers of one role are out of reach of another: only scalars, memory and rings are shared.
LogicalResult WarpGroupsOp::verifyRegions() {
  for (Region &body : getBodies()) {
    WalkResult result = body.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!body.isAncestor(operand.getParentRegion()) &&
            isa<TileType, FutureType, TokenType, CursorType>(operand.getType())) {
          op->emitOpError() << operand.getType() << " crosses into a role";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult BarrierOp::verify() {
  int64_t id = getId().value_or(0);
  if (id < 0 || id > 15)
    return emitOpError() << "barrier ids are 0 to 15, got " << id;
  return success();
}

LogicalResult TurnOp::verify() {
  int64_t id = getId().value_or(0);
  if (id < 0 || id > 15)
    return emitOpError() << "barrier ids are 0 to 15, got " << id;
  return success();
}
