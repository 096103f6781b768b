//===- SampleLibraries.cpp - libraries written by hand ----------------------------===//
#include "SampleLibraries.h"

using namespace tilec;
using namespace tilec::target;

static Dim symbol(int index, std::string text) {
  Dim d;
  d.symbol = index;
  d.text = std::move(text);
  return d;
}

static Dim constant(int64_t value) {
  Dim d;
  d.constant = value;
  d.text = std::to_string(value);
  return d;
}

static Arg tensor(std::string name, DType dtype, std::vector<Dim> dims, Arg::Access access) {
  Arg a;
  a.kind = Arg::Tensor;
  a.name = std::move(name);
  a.dtype = dtype;
  a.dims = std::move(dims);
  a.access = access;
  return a;
}

static Arg scalar(std::string name, DType dtype) {
  Arg a;
  a.kind = Arg::Scalar;
  a.name = std::move(name);
  a.dtype = dtype;
  return a;
}

static Arg pointer(std::string name, DType dtype) {
  Arg a;
  a.kind = Arg::Pointer;
  a.name = std::move(name);
  a.dtype = dtype;
  return a;
}

static KernelDesc axpyKernel() {
  KernelDesc k;
  k.name = "axpy";
  k.signature = "axpy(X: Tensor((N,), float32), Y: Tensor((N,), float32), alpha: float32)";
  k.doc = "Y += alpha * X.";
  k.file = "axpy.tile";
  k.line = 7;
  k.args = {tensor("X", DType::F32, {symbol(0, "N")}, Arg::In),
            tensor("Y", DType::F32, {symbol(0, "N")}, Arg::InOut), scalar("alpha", DType::F32)};
  k.symbols = {"N"};
  k.preconditions = {"N % 2 == 0"};
  k.launches = {{"axpy.0", 1, 8}};
  return k;
}

static Library axpy() {
  Library lib;
  lib.prefix = "my";
  lib.module = "axpy.tile";
  lib.sourceHash = std::string(64, 'a');
  lib.kernels = {axpyKernel()};
  return lib;
}

static Variant gpuVariant(std::string symbol) {
  Variant v;
  v.symbol = std::move(symbol);
  v.threads = 384;
  v.dynamicShared = 230000;
  v.persistent = true;
  v.minBlocks = 1;
  v.resources.registers = 168;
  v.resources.staticShared = 48;
  v.conditions = {{Condition::MultipleOf, 6, 8, "stride 0 of A is a multiple of 8"},
                  {Condition::AtLeast, 4, 1, "M >= 1"},
                  {Condition::AtMost, 4, 1 << 20, "M <= 1048576"},
                  {Condition::Equal, 7, 1, "stride 1 of A is 1"},
                  {Condition::Maps, 0, 0, "the copy engine can read A"}};
  Param map, rounded, slot;
  map.kind = rounded.kind = Param::Map;
  map.map = {3, DType::F16, 2, 0, {128, 64}, 128};
  rounded.map = {3, DType::F32, 2, 0, {128, 32}, 128, /*tf32=*/true};
  slot.kind = Param::Slot;
  slot.slot = 2;
  slot.bytes = 4;
  v.params = {map, slot, rounded};
  return v;
}

/// Two kernels, three images, a launch with a variant that has everything.
static Library tables() {
  Library lib;
  lib.module = "tables.tile";
  KernelDesc mm;
  mm.name = "mm";
  Arg a = tensor("A", DType::F16, {symbol(0, "M"), symbol(1, "K")}, Arg::In);
  a.align = 16;
  Arg c = tensor("C", DType::BF16, {symbol(0, "M"), constant(64)}, Arg::Out);
  c.strided = true;
  c.strides = {symbol(2, "ldc"), constant(1)};
  Arg d = tensor("D", DType::Bool, {symbol(1, "K")}, Arg::InOut);
  d.dims.push_back({std::nullopt, -1, "K // 2"});
  mm.args = {a, c, scalar("flag", DType::Bool), pointer("p", DType::I32), d};
  mm.symbols = {"M", "K", "ldc"};
  mm.launches = {{"mm.0", 2, 12}, {"mm.1", 1, 3}};
  mm.inplace = true;
  mm.indexBits = 32;
  KernelDesc none;
  none.name = "none";
  none.file = mm.file = "tables.tile";
  lib.kernels = {mm, none};
  Image sm90{Image::Cubin,
             "sm_90a",
             std::string("\x7f"
                         "CUBIN\0\1\2",
                         9),
             {{{gpuVariant("mm.0")}, {}}, {}},
             "13.0"};
  Variant plain;
  plain.symbol = "mm.0";
  plain.threads = 128;
  Variant second = plain;
  second.symbol = "mm.1";
  Image ptx{Image::PTX, "compute_80", std::string("// ptx\n\0", 8), {{{plain}, {second}}, {}}};
  Image amd{Image::HSACO, "gfx942", "HSACO", {{{}, {second}}, {}}};
  lib.images = {sm90, ptx, amd};
  return lib;
}

static Library hostile() {
  Library lib = axpy();
  lib.module = "a \"$#b?\?/\n.tile";
  KernelDesc &k = lib.kernels[0];
  k.file = "a \"$#b*/.tile";
  k.doc = "*/ int main(void){return 1;} /*\nends with a backslash \\\n%n %s ?\?/ \x01\x7f \xff "
          "\xe2\x80\xae*\\\n/ int x;\n\"quoted\"";
  k.signature = "axpy(/*X*/)";
  k.preconditions = {"N % 2 == 0 /* %n%n%n */ \\"};
  k.constants = {{"S", "\"*/\""}};
  return lib;
}

static Library names() {
  Library lib = axpy();
  lib.prefix = "";
  KernelDesc &k = lib.kernels[0];
  k.args.clear();
  for (const char *name :
       {"launch", "bytes", "device", "class", "class_", "int32_t", "uint64_t", "INT8_MAX", "NULL", "and",
        "tile_tensor", "TILE_OK", "__x", "_X", "restrict", "linux", "typeof", "a"})
    k.args.push_back(tensor(name, DType::F32, {symbol(0, "N")}, Arg::In));
  for (const char *name : {"half", "register", "new"})
    k.args.push_back(scalar(name, DType::F16));
  KernelDesc empty;
  empty.name = "empty";
  empty.file = k.file;
  lib.kernels.push_back(empty);
  return lib;
}

static Library clashes() {
  Library lib;
  lib.module = "clashes.tile";
  for (const char *name : {"while", "expf", "tile_x", "_x", "size_t", "a", "a_check", "fine"}) {
    KernelDesc k;
    k.name = name;
    lib.kernels.push_back(k);
  }
  return lib;
}

std::optional<Library> sampleLibrary(llvm::StringRef name) {
  if (name == "axpy")
    return axpy();
  if (name == "tables")
    return tables();
  if (name == "hostile")
    return hostile();
  if (name == "names")
    return names();
  if (name == "clashes")
    return clashes();
  return std::nullopt;
}
