//===- ObjectTables.cpp - the constants of runtime/tile_rt_gen.h as LLVM IR -----------===//
// The order of fields is that of the C structures; a test reads the constants back through the real header.
#include "ObjectTables.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include <map>
#include <set>

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

namespace {

// The enumerators of tile_rt_gen.h.
enum { DimAny = 0, DimConst = 1, DimBind = 2, DimEqual = 3 };
enum { VariantPersistent = 1 };
enum { KernelInplace = 1 };

class Tables {
public:
  Tables(Module &module, const Library &library)
      : module(module), context(module.getContext()), library(library) {}
  void build();

private:
  using Fields = SmallVector<Constant *, 16>;

  Constant *i64(int64_t v) { return ConstantInt::getSigned(Type::getInt64Ty(context), v); }
  Constant *i32(int64_t v) { return ConstantInt::getSigned(Type::getInt32Ty(context), v); }
  Constant *i8(uint8_t v) { return ConstantInt::get(Type::getInt8Ty(context), v); }
  Constant *null() { return ConstantPointerNull::get(PointerType::getUnqual(context)); }
  Constant *text(StringRef s);
  Constant *i32Array(ArrayRef<int32_t> values) { return ConstantDataArray::get(context, values); }
  Constant *record(ArrayRef<Constant *> fields) { return ConstantStruct::getAnon(context, fields); }
  GlobalVariable *constant(Constant *value, const Twine &name);
  Constant *array(ArrayRef<Constant *> elements, const Twine &name);

  Constant *dim(const Dim &dim, std::set<int> &bound);
  Constant *args(const KernelDesc &kernel);
  Constant *argument(const Arg &arg, Constant *dims, Constant *strides);
  Constant *images();
  Constant *condition(const Condition &condition);
  Constant *param(const Param &param, int32_t &maps);
  Constant *map(const TensorMap &map);
  Constant *cpuFunction(const Twine &name, FunctionType *type);
  Constant *variant(unsigned image, const Variant &variant);
  Constant *launches(size_t kernel);
  Constant *kernels();

  Module &module;
  LLVMContext &context;
  const Library &library;
  StringMap<Constant *> strings;
  std::map<std::pair<unsigned, std::string>, int32_t> functions; ///< GPU functions by image and symbol
};

} // namespace

Constant *target::makeString(Module &module, StringRef text) {
  std::string clean = text.str();
  std::replace(clean.begin(), clean.end(), '\0', ' ');
  Constant *value = ConstantDataArray::getString(module.getContext(), clean, /*AddNull=*/true);
  auto *global = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, value, "tilec.str");
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  global->setAlignment(Align(1));
  return global;
}

Constant *Tables::text(StringRef s) {
  Constant *&entry = strings[s];
  if (!entry)
    entry = makeString(module, s);
  return entry;
}

GlobalVariable *Tables::constant(Constant *value, const Twine &name) {
  return new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage,
                            value, "tilec." + name);
}

Constant *Tables::array(ArrayRef<Constant *> elements, const Twine &name) {
  if (elements.empty())
    return null();
  return constant(ConstantArray::get(ArrayType::get(elements.front()->getType(), elements.size()), elements),
                  name);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Constant *Tables::dim(const Dim &dim, std::set<int> &bound) {
  int kind = DimAny;
  if (dim.constant)
    kind = DimConst;
  else if (dim.symbol >= 0)
    kind = bound.insert(dim.symbol).second ? DimBind : DimEqual;
  return record({i64(dim.constant.value_or(0)), text(dim.text), i32(kind), i32(std::max(dim.symbol, 0))});
}

Constant *Tables::argument(const Arg &arg, Constant *dims, Constant *strides) {
  bool pointer = arg.kind == Arg::Pointer;
  int64_t align = arg.kind == Arg::Scalar ? 1 : std::max<int64_t>(arg.align, dtypeBytes(arg.dtype));
  Constant *reserved = ConstantDataArray::get(context, ArrayRef<uint8_t>{0, 0});
  return record({text(arg.name), dims, strides, i64(align), i32(arg.kind), i32(arg.dims.size()),
                 i32(arg.access), i8(pointer ? 0 : dtypeDLPackCode(arg.dtype)),
                 i8(pointer ? 0 : dtypeBits(arg.dtype)), reserved});
}

Constant *Tables::args(const KernelDesc &kernel) {
  // The runtime binds symbols in this order: extents of all tensors, then strides of all tensors.
  std::set<int> bound;
  SmallVector<Constant *> extents, strides, records;
  auto list = [&](ArrayRef<Dim> dims, StringRef what) {
    SmallVector<Constant *> values;
    for (const Dim &d : dims)
      values.push_back(dim(d, bound));
    return array(values, kernel.name + "." + what);
  };
  for (const Arg &arg : kernel.args)
    extents.push_back(list(arg.dims, "dims"));
  for (const Arg &arg : kernel.args)
    strides.push_back(arg.strided ? list(arg.strides, "strides") : null());
  for (size_t i = 0; i < kernel.args.size(); ++i)
    records.push_back(argument(kernel.args[i], extents[i], strides[i]));
  return array(records, kernel.name + ".args");
}

//===----------------------------------------------------------------------===//
// Images and variants
//===----------------------------------------------------------------------===//

Constant *Tables::images() {
  SmallVector<Constant *> records;
  for (const Image &image : library.images) {
    Constant *data = null();
    int64_t size = 0;
    if (image.kind != Image::CPU) {
      Constant *bytes = ConstantDataArray::getString(context, image.bytes, /*AddNull=*/false);
      GlobalVariable *global = constant(bytes, "image." + image.arch);
      global->setAlignment(Align(64));
      data = global;
      size = image.bytes.size();
    }
    // The runtime counts from TILE_IMAGE_CUBIN = 1 in the same order.
    records.push_back(record({text(image.arch), data, i64(size), i32(int(image.kind) + 1), i32(0)}));
  }
  return array(records, "images");
}

Constant *Tables::condition(const Condition &condition) {
  // TILE_COND_MULTIPLE, _GE, _LE, _EQ, _MAPS = 1..5
  return record(
      {i64(condition.value), text(condition.text), i32(int(condition.kind) + 1), i32(condition.slot)});
}

/// CUtensorMapDataType. fp8 and bool travel as bytes.
static int tensorMapType(DType type) {
  switch (type) {
  case DType::Bool:
  case DType::I8:
  case DType::U8:
  case DType::E4M3:
  case DType::E5M2:
    return 0;
  case DType::I16:
  case DType::U16:
    return 1;
  case DType::U32:
    return 2;
  case DType::I32:
    return 3;
  case DType::U64:
    return 4;
  case DType::I64:
    return 5;
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::F64:
    return 8;
  case DType::BF16:
    return 9;
  }
  return 0;
}

constexpr int kMapTF32 = 11;

static int swizzleNumber(unsigned bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }

Constant *Tables::map(const TensorMap &map) {
  // The runtime counts axes from the innermost.
  int32_t axes[5] = {}, box[5] = {}, step[5] = {};
  for (unsigned j = 0; j < map.rank && j < 5; ++j) {
    axes[j] = map.rank - 1 - j;
    box[j] = map.box[map.rank - 1 - j];
    step[j] = 1;
  }
  // Rows of a box are 128 bytes. Fetching 256 around each gains nothing where all of them are wanted and
  // costs where rows do not start at multiples of 256: 15 % of an H200's memory-bound products, 10 % at a
  // pitch of 2000 bytes.
  constexpr int32_t promotion128 = 2;
  return record({i32(map.viewSlot), i32(map.rank), i32(map.argument),
                 i32(map.tf32 ? kMapTF32 : tensorMapType(map.elementType)), i32(dtypeBits(map.elementType)),
                 i32(map.rank), i32Array(axes), i32Array(box), i32Array(step),
                 /*interleave*/ i32(0), i32(swizzleNumber(map.swizzleBytes)), i32(promotion128),
                 /*oob_fill*/ i32(0), i32Array({0, 0, 0})});
}

Constant *Tables::param(const Param &param, int32_t &maps) {
  if (param.kind == Param::Map)
    return record({i32(1), i32(maps++), i32(128), i32(0)});
  if (param.kind == Param::Seed)
    return record({i32(2), i32(0), i32(4), i32(0)});
  return record({i32(0), i32(param.slot), i32(param.bytes), i32(0)});
}

Constant *Tables::cpuFunction(const Twine &name, FunctionType *type) {
  SmallString<64> storage;
  StringRef text = name.toStringRef(storage);
  if (Function *known = module.getFunction(text))
    return known;
  Function *f = Function::Create(type, GlobalValue::ExternalLinkage, text, module);
  f->setVisibility(GlobalValue::HiddenVisibility);
  return f;
}

Constant *Tables::variant(unsigned image, const Variant &v) {
  bool cpu = library.images[image].kind == Image::CPU;
  SmallVector<Constant *> conditions, params, maps;
  for (const Condition &c : v.conditions)
    conditions.push_back(condition(c));
  int32_t numMaps = 0;
  for (const Param &p : v.params) {
    if (p.kind == Param::Map)
      maps.push_back(map(p.map));
    params.push_back(param(p, numMaps));
  }
  Type *ptr = PointerType::getUnqual(context), *word = Type::getInt64Ty(context);
  Constant *count = null(), *work = null();
  int32_t function = 0;
  if (cpu) {
    count = cpuFunction(v.symbol + ".count", FunctionType::get(word, {ptr}, false));
    work =
        cpuFunction(v.symbol + ".work", FunctionType::get(Type::getVoidTy(context), {ptr, word, ptr}, false));
  } else {
    function = functions.try_emplace({image, v.symbol}, functions.size()).first->second;
  }
  return record({text(v.symbol),
                 array(conditions, "conditions"),
                 array(params, "params"),
                 array(maps, "maps"),
                 count,
                 work,
                 i64(v.arenaBytes),
                 i64(v.dynamicShared),
                 i64(v.resources.staticShared),
                 i32(image),
                 i32(function),
                 i32(conditions.size()),
                 i32(params.size()),
                 i32(maps.size()),
                 i32(v.threads),
                 i32(v.minBlocks),
                 i32(std::max(v.resources.registers, 0)),
                 i32(v.persistent ? VariantPersistent : 0),
                 i32(v.point),
                 i64(v.cost.trip),
                 i64(v.cost.block),
                 i64(v.cost.launch),
                 i32(v.cost.resident),
                 i32(v.measured)});
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Constant *Tables::launches(size_t k) {
  SmallVector<Constant *> records;
  const KernelDesc &kernel = library.kernels[k];
  for (size_t l = 0; l < kernel.launches.size(); ++l) {
    const LaunchDesc &launch = kernel.launches[l];
    SmallVector<Constant *> variants;
    for (unsigned i = 0; i < library.images.size(); ++i) {
      const Image &image = library.images[i];
      if (k < image.variants.size() && l < image.variants[k].size())
        for (const Variant &v : image.variants[k][l])
          variants.push_back(variant(i, v));
    }
    records.push_back(
        record({text(launch.name), array(variants, launch.name + ".variants"), i32(variants.size()),
                i32(launch.gridRank), i32(launch.slots), i32(launch.points)}));
  }
  return array(records, kernel.name + ".launches");
}

Constant *Tables::kernels() {
  SmallVector<Constant *> records;
  for (size_t k = 0; k < library.kernels.size(); ++k) {
    const KernelDesc &kernel = library.kernels[k];
    int64_t tensors = std::count_if(kernel.args.begin(), kernel.args.end(),
                                    [](const Arg &arg) { return arg.kind == Arg::Tensor; });
    records.push_back(
        record({text(kernel.name), args(kernel), launches(k), i32(kernel.args.size()), i32(tensors),
                i32(kernel.symbols.size()), i32(kernel.launches.size()),
                i32(kernel.indexBits == 32 ? 32 : 64), i32(kernel.inplace ? KernelInplace : 0), i64(0)}));
  }
  return array(records, "kernels");
}

void Tables::build() {
  Type *ptr = PointerType::getUnqual(context);
  auto *state = new GlobalVariable(module, ptr, /*isConstant=*/false, GlobalValue::InternalLinkage, null(),
                                   "tilec.state");
  Constant *imageTable = images(), *kernelTable = kernels();
  Constant *value = record({text(library.prefix.empty() ? library.module : library.prefix), imageTable,
                            kernelTable, state, i32(kRuntimeABI), i32(library.images.size()),
                            i32(library.kernels.size()), i32(functions.size()), i64(0)});
  GlobalVariable *declared = module.getNamedGlobal(kLibrarySymbol);
  auto *defined =
      new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, value);
  if (declared) {
    declared->replaceAllUsesWith(defined);
    declared->eraseFromParent();
  }
  defined->setName(kLibrarySymbol);
}

void target::buildTables(Module &module, const Library &library) { Tables(module, library).build(); }
