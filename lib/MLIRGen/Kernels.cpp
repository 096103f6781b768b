//===- Kernels.cpp - modules, kernels, the host level and launches -----------===//
#include "KernelGen.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/MLIRGen/MLIRGen.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mlirgen;
using namespace tilec::tile;

OwningOpRef<ModuleOp> mlirgen::generate(MLIRContext &context, const hir::Program &program) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(&context, program.moduleName, /*line=*/0, /*column=*/0));
  for (const auto *list : {&program.kernels, &program.points})
    for (const std::unique_ptr<hir::Kernel> &kernel : *list)
      if (failed(KernelGen(&context, program, *kernel).run(*module)))
        return {};
  return module;
}

KernelGen::KernelGen(MLIRContext *context, const hir::Program &program, const hir::Kernel &kernel)
    : program(program), kernel(kernel), b(context), s(b) {
  s.loc = locOf(kernel.loc);
}

Location KernelGen::locOf(const hir::Loc &loc) const {
  // What an imported macro made is at the kernel: its own file has no name here.
  const hir::Loc &at = loc.buffer == kernel.loc.buffer ? loc : kernel.loc;
  return FileLineColLoc::get(b.getContext(), program.moduleName, at.line, at.col);
}

Location KernelGen::namedLoc(StringRef name, const hir::Loc &loc) const {
  return NameLoc::get(StringAttr::get(b.getContext(), name), locOf(loc));
}

InFlightDiagnostic KernelGen::remark(const hir::Loc &loc) { return emitRemark(locOf(loc)); }

LogicalResult KernelGen::run(ModuleOp module) {
  countUses(kernel.host, uses);
  findEscapingLoopVars(kernel.host, uses);
  findIndexVars();
  createKernel(module);
  bindSymbols();
  requireEquations();
  block(kernel.host, nullptr);
  YieldOp::create(b, s.loc);
  return success();
}

//===- Parameters -------------------------------------------------------------===//
static std::optional<int64_t> constantOf(const hir::DimExpr &dim) {
  if (dim.constant)
    return dim.constant;
  return dim.symbol ? dim.symbol->fixed : std::nullopt;
}

ViewType KernelGen::viewType(const hir::TensorObj *tensor, int64_t align) {
  auto known = [](const hir::DimExpr &dim) { return ::constantOf(dim).value_or(ShapedType::kDynamic); };
  SmallVector<int64_t> shape = llvm::map_to_vector(tensor->dims, known);
  SmallVector<int64_t> strides;
  if (tensor->strided)
    strides = llvm::map_to_vector(tensor->strides, known);
  align &= -align; // the power of two in it
  return ViewType::get(b.getContext(), shape, s.memoryType(tensor->dtype), strides, align, TypedAttr());
}

static StringRef accessName(hir::Access access) {
  switch (access) {
  case hir::Access::Out:
    return "out";
  case hir::Access::InOut:
    return "inout";
  case hir::Access::None:
  case hir::Access::In:
    break;
  }
  return "in";
}

ArrayAttr KernelGen::argumentAttrs() {
  SmallVector<Attribute> all;
  auto texts = [&](ArrayRef<hir::DimExpr> dims) {
    return b.getArrayAttr(llvm::map_to_vector(
        dims, [&](const hir::DimExpr &dim) -> Attribute { return b.getStringAttr(dim.text); }));
  };
  for (const hir::Object *param : kernel.params) {
    NamedAttrList attrs;
    attrs.set(TileDialect::kNameAttrName, b.getStringAttr(param->name));
    attrs.set(TileDialect::kDTypeAttrName, b.getStringAttr(dtypeName(param->dtype)));
    if (param->kind == hir::Object::Tensor) {
      auto *tensor = static_cast<const hir::TensorObj *>(param);
      attrs.set(TileDialect::kAccessAttrName, b.getStringAttr(accessName(tensor->access)));
      attrs.set(TileDialect::kDimsAttrName, texts(tensor->dims));
      if (tensor->strided)
        attrs.set(TileDialect::kStridesAttrName, texts(tensor->strides));
    }
    all.push_back(attrs.getDictionary(b.getContext()));
  }
  return b.getArrayAttr(all);
}

void KernelGen::setKernelAttrs(KernelOp op) {
  if (!kernel.doc.empty())
    op->setAttr(TileDialect::kDocAttrName, b.getStringAttr(kernel.doc));
  if (!kernel.signature.empty())
    op->setAttr(TileDialect::kSignatureAttrName, b.getStringAttr(kernel.signature));
  if (!kernel.constants.empty()) {
    NamedAttrList instance;
    for (const hir::ConstBinding &binding : kernel.constants)
      instance.set(binding.name, b.getStringAttr(binding.value));
    op->setAttr(TileDialect::kInstanceAttrName, instance.getDictionary(b.getContext()));
  }
  if (!kernel.pointOf.empty())
    op->setAttr(TileDialect::kPointOfAttrName, b.getStringAttr(kernel.pointOf));
  if (kernel.inplace)
    op->setAttr(TileDialect::kInplaceAttrName, b.getUnitAttr());
  if (kernel.fastMath)
    op->setAttr(TileDialect::kFastMathAttrName, b.getUnitAttr());
  if (kernel.indexBits)
    op->setAttr(TileDialect::kIndexBitsAttrName, b.getI64IntegerAttr(kernel.indexBits));
}

KernelOp KernelGen::createKernel(ModuleOp module) {
  SmallVector<Type> types;
  SmallVector<Location> locs;
  for (const hir::Object *param : kernel.params) {
    if (param->kind == hir::Object::Tensor) {
      auto *tensor = static_cast<const hir::TensorObj *>(param);
      types.push_back(viewType(tensor, tensor->assumedAlign));
    } else if (param->kind == hir::Object::Pointer) {
      types.push_back(PtrType::get(b.getContext(), s.memoryType(param->dtype)));
    } else {
      types.push_back(s.valueType(param->dtype));
    }
    locs.push_back(namedLoc(param->name, param->loc));
  }
  b.setInsertionPointToEnd(module.getBody());
  auto op =
      KernelOp::create(b, s.loc, b.getStringAttr(kernel.name), TypeAttr::get(b.getFunctionType(types, {})),
                       /*sym_visibility=*/StringAttr(), argumentAttrs(), /*res_attrs=*/ArrayAttr());
  setKernelAttrs(op);
  mlir::Block *entry = b.createBlock(&op.getBody(), {}, types, locs);
  for (auto [param, argument] : llvm::zip(kernel.params, entry->getArguments())) {
    if (param->kind != hir::Object::Scalar) {
      memories[param] = argument;
      continue;
    }
    // An int64 parameter is most likely an extent or an offset.
    env[keyOf(param)] = param->dtype == DType::I64 ? s.toIndex(argument) : Value(argument);
  }
  return op;
}

/// A symbol is the extent where it first stands alone: extents of all parameters in order, then strides.
void KernelGen::bindSymbols() {
  auto bindAll = [&](bool strides) {
    for (const hir::Object *param : kernel.params) {
      if (param->kind != hir::Object::Tensor)
        continue;
      auto *tensor = static_cast<const hir::TensorObj *>(param);
      for (auto [axis, dim] : llvm::enumerate(strides ? tensor->strides : tensor->dims)) {
        if (!dim.symbol || symbols.contains(dim.symbol))
          continue;
        auto saved = llvm::SaveAndRestore(s.loc, namedLoc(dim.symbol->name, dim.symbol->loc));
        Value value;
        if (dim.symbol->fixed)
          value = s.index(*dim.symbol->fixed);
        else if (strides)
          value = StrideOp::create(b, s.loc, b.getIndexType(), memories[param], axis);
        else
          value = DimOp::create(b, s.loc, memories[param], axis);
        if (!strides)
          s.setNonNegative(value);
        symbols[dim.symbol] = value;
        dims[{tensor, static_cast<unsigned>(axis + (strides ? tensor->rank() : 0))}] = value;
      }
    }
  };
  bindAll(false);
  bindAll(true);
}

/// Every other occurrence of a symbol, and every extent that is an expression, must agree with what was
/// bound.
void KernelGen::requireEquations() {
  auto require = [&](const hir::TensorObj *tensor, unsigned axis, bool stride, Value expected,
                     StringRef text) {
    auto position = llvm::find(kernel.params, static_cast<const hir::Object *>(tensor));
    Value view = memories[tensor];
    Value actual = stride ? StrideOp::create(b, s.loc, b.getIndexType(), view, axis).getResult()
                          : DimOp::create(b, s.loc, view, axis).getResult();
    RequireEqualOp::create(b, s.loc, actual, expected, position - kernel.params.begin(), axis, stride, text);
  };
  for (const hir::Object *param : kernel.params) {
    if (param->kind != hir::Object::Tensor)
      continue;
    auto *tensor = static_cast<const hir::TensorObj *>(param);
    At at(*this, tensor->loc);
    for (bool stride : {false, true})
      for (auto [axis, dim] : llvm::enumerate(stride ? tensor->strides : tensor->dims)) {
        unsigned slot = axis + (stride ? tensor->rank() : 0);
        if (dim.symbol && !dim.symbol->fixed && !dims.contains({tensor, slot}))
          require(tensor, axis, stride, symbols[dim.symbol], dim.text);
        else if (dim.expr && !dim.constant)
          require(tensor, axis, stride, indexExpr(dim.expr), dim.text);
      }
  }
  for (const hir::Kernel::Equation &equation : kernel.equations) {
    const hir::DimExpr &dim =
        (equation.stride ? equation.tensor->strides : equation.tensor->dims)[equation.axis];
    if (dim.symbol || dim.expr || dim.constant)
      continue; // the annotation itself says it
    At at(*this, equation.tensor->loc);
    require(equation.tensor, equation.axis, equation.stride, indexExpr(equation.expr), equation.text);
  }
}

//===- What is decided before code exists --------------------------------------===//
bool KernelGen::isIndexArithmetic(const hir::Expr *e) const {
  if (e->type != DType::I64)
    return false;
  switch (e->kind) {
  case hir::Expr::IntConst:
  case hir::Expr::DimRef:
  case hir::Expr::SymRef:
    return true;
  case hir::Expr::ObjRef: {
    const hir::Object *object = static_cast<const hir::ObjRef *>(e)->object;
    return object->kind != hir::Object::Var || indexVars.contains(object);
  }
  case hir::Expr::Unary:
    return isIndexArithmetic(static_cast<const hir::Unary *>(e)->operand);
  case hir::Expr::Binary:
    return isIndexArithmetic(static_cast<const hir::Binary *>(e)->lhs) &&
           isIndexArithmetic(static_cast<const hir::Binary *>(e)->rhs);
  case hir::Expr::Select:
    return isIndexArithmetic(static_cast<const hir::Select *>(e)->onTrue) &&
           isIndexArithmetic(static_cast<const hir::Select *>(e)->onFalse);
  default:
    return false; // data
  }
}

/// The largest set of int64 scalars that are assigned only constants, extents, loop variables and each other.
void KernelGen::findIndexVars() {
  SmallVector<const hir::Assign *> assigns;
  forEachStmt(kernel.host, [&](const hir::Stmt *stmt) {
    if (stmt->kind != hir::Stmt::Assign)
      return;
    auto *assign = static_cast<const hir::Assign *>(stmt);
    if (assign->var->dtype != DType::I64)
      return;
    assigns.push_back(assign);
    indexVars.insert(assign->var);
  });
  for (bool changed = true; changed;) {
    changed = false;
    for (const hir::Assign *assign : assigns)
      if (indexVars.contains(assign->var) && !isIndexArithmetic(assign->value)) {
        indexVars.erase(assign->var);
        changed = true;
      }
  }
}

void KernelGen::findEscapingLoopVars(Stmts stmts, UseCounts total) {
  forEachStmt(stmts, [&](const hir::Stmt *stmt) {
    if (stmt->kind != hir::Stmt::For)
      return;
    auto *loop = static_cast<const hir::For *>(stmt);
    if (!total.lookup(loop->var))
      return;
    UseCounts inside;
    countUses(loop->body, inside);
    if (total.lookup(loop->var) > inside.lookup(loop->var))
      escapingVars.insert(loop->var);
  });
}

/// The view with a safe value; zero, and one known only at run time, are not in the type.
static ViewType withSafe(ViewType type, TypedAttr safe) {
  if (!safe || safe == Builder(type.getContext()).getZeroAttr(type.getElementType()))
    return type;
  return ViewType::get(type.getContext(), type.getShape(), type.getElementType(), type.getStrides(),
                       type.getAlign(), safe);
}

//===- Launches -----------------------------------------------------------------===//
Value KernelGen::makeView(const hir::TensorObj *tensor) {
  At at(*this, tensor->loc);
  auto dynamic = [&](ArrayRef<hir::DimExpr> all) {
    SmallVector<Value> values;
    for (const hir::DimExpr &dim : all)
      if (!::constantOf(dim))
        values.push_back(dim.symbol ? symbol(dim.symbol) : indexExpr(dim.expr));
    return values;
  };
  Location loc = namedLoc(tensor->name, tensor->loc);
  SmallVector<Value> sizes = dynamic(tensor->dims);
  if (tensor->kind == hir::Object::Workspace)
    return WorkspaceOp::create(b, loc, viewType(tensor, 256), sizes);
  auto *pointer = static_cast<const hir::ObjRef *>(tensor->base)->object;
  int64_t align = std::max(tensor->assumedAlign, static_cast<const hir::ParamObj *>(pointer)->assumedAlign);
  SmallVector<Value> strides = dynamic(tensor->strides);
  ViewType type = viewType(tensor, align);
  if (tensor->safeValue)
    type = withSafe(type, s.constantAttr(tensor->safeValue));
  return MakeViewOp::create(b, loc, type, memories[pointer], sizes, strides);
}

DictionaryAttr KernelGen::hints(const hir::Launch *stmt) {
  NamedAttrList list;
  if (stmt->threads)
    list.set("threads", b.getI64IntegerAttr(*stmt->threads));
  if (stmt->persistent)
    list.set("persistent", b.getBoolAttr(*stmt->persistent));
  if (stmt->minBlocks)
    list.set("min_blocks", b.getI64IntegerAttr(*stmt->minBlocks));
  if (stmt->panel)
    list.set(stmt->panelColumns ? "panel_columns" : "panel_rows", b.getI64IntegerAttr(*stmt->panel));
  if (!stmt->cluster.empty())
    list.set("cluster", b.getI64ArrayAttr(stmt->cluster));
  return list.getDictionary(b.getContext());
}

void KernelGen::launch(const hir::Launch *stmt) {
  SmallVector<Value> grid;
  for (const hir::Expr *extent : stmt->grid)
    grid.push_back(s.atLeastZero(indexExpr(extent)));
  auto op = LaunchOp::create(b, s.loc, grid, ScheduleAttr());
  if (DictionaryAttr wishes = hints(stmt); !wishes.empty())
    op->setAttr(TileDialect::kHintsAttrName, wishes);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locs;
  for (const hir::VarObj *id : stmt->blockIds)
    locs.push_back(namedLoc(id->name, id->loc));
  locs.resize(grid.size(), s.loc);
  mlir::Block *body =
      b.createBlock(&op.getBody(), {}, SmallVector<Type>(grid.size(), b.getIndexType()), locs);
  auto savedEnv = env;
  auto savedMemories = memories;
  for (auto [id, argument] : llvm::zip(stmt->blockIds, body->getArguments())) {
    s.setNonNegative(argument);
    env[keyOf(id)] = id->dtype == DType::I64 ? Value(argument) : s.convert(argument, DType::I64, id->dtype);
  }
  applySafeValues(stmt);
  block(stmt->body, nullptr);
  YieldOp::create(b, s.loc);
  env = std::move(savedEnv);
  memories = std::move(savedMemories);
}

/// A constant safe value becomes part of the view's type for this launch; a run-time one is selected at each
/// read.
void KernelGen::applySafeValues(const hir::Launch *stmt) {
  UseCounts inside;
  countUses(stmt->body, inside);
  SmallVector<const hir::TensorObj *> tensors;
  for (auto &[object, view] : memories)
    if (inside.contains(object) && isa<ViewType>(view.getType()))
      tensors.push_back(static_cast<const hir::TensorObj *>(object));
  llvm::sort(tensors, [](auto *lhs, auto *rhs) { return lhs->id < rhs->id; });
  for (const hir::TensorObj *tensor : tensors) {
    auto type = cast<ViewType>(memories[tensor].getType());
    ViewType sharper = tensor->safeValue ? withSafe(type, s.constantAttr(tensor->safeValue)) : type;
    if (sharper != type)
      memories[tensor] = RecastViewOp::create(b, namedLoc(tensor->name, tensor->loc), sharper,
                                              memories[tensor], ValueRange{});
  }
}
