//===- Manifest.cpp - the JSON that describes a library --------------------------------===//
#include "tilec/Target/Manifest.h"
#include "tilec/Support/Occupancy.h"
#include "tilec/Target/Header.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::target;

namespace {

/// Writes objects with their members in a fixed, readable order.
class Writer {
public:
  Writer(raw_ostream &os, unsigned indent, const Library &library, const ManifestOptions &options)
      : j(os, indent), library(library), options(options) {}

  void document(ArrayRef<size_t> kernels) {
    j.object([&] {
      header();
      j.attributeArray("kernels", [&] {
        for (size_t index : kernels)
          kernel(index);
      });
      j.attributeArray("images", [&] {
        for (const Image &image : library.images)
          imageSummary(image);
      });
    });
  }

private:
  static json::Value text(StringRef s) { return json::Value(json::fixUTF8(s)); }
  static StringRef imageKind(Image::Kind kind) {
    switch (kind) {
    case Image::Cubin:
      return "cubin";
    case Image::PTX:
      return "ptx";
    case Image::HSACO:
      return "hsaco";
    case Image::CPU:
      break;
    }
    return "cpu";
  }
  static StringRef accessName(Arg::Access access) {
    return access == Arg::In ? "in" : access == Arg::Out ? "out" : access == Arg::InOut ? "inout" : "none";
  }

  void header() {
    j.attribute("schema", "tile-manifest");
    j.attribute("version", kManifestVersion);
    j.attribute("tilec", text(options.tilecVersion));
    j.attribute("language", "0.1");
    j.attribute("runtimeAbi", kRuntimeABI);
    auto assembled = find_if(library.images, [](const Image &image) { return !image.ptxasVersion.empty(); });
    if (assembled != library.images.end())
      j.attribute("ptxas", text(assembled->ptxasVersion));
    j.attributeArray("flags", [&] {
      for (const std::string &flag : options.flags)
        j.value(text(flag));
    });
    j.attribute("source", text(library.module));
    j.attribute("sha256", text(library.sourceHash));
    j.attribute("prefix", text(library.prefix));
  }

  void dims(StringRef key, ArrayRef<Dim> list, ArrayRef<std::string> symbols) {
    j.attributeArray(key, [&] {
      for (const Dim &dim : list)
        j.object([&] {
          j.attribute("text", text(dim.text));
          if (dim.constant)
            j.attribute("value", *dim.constant);
          if (dim.symbol >= 0 && size_t(dim.symbol) < symbols.size())
            j.attribute("symbol", text(symbols[dim.symbol]));
        });
    });
  }

  void argument(const Arg &arg, const KernelDesc &kernel) {
    j.object([&] {
      j.attribute("name", text(arg.name));
      j.attribute("kind", arg.kind == Arg::Tensor    ? "tensor"
                          : arg.kind == Arg::Pointer ? "pointer"
                                                     : "scalar");
      j.attribute("dtype", dtypeName(arg.dtype));
      if (arg.kind == Arg::Scalar)
        j.attribute("ctype", cScalarType(arg.dtype));
      if (arg.align > 1)
        j.attribute("align", arg.align);
      if (arg.kind != Arg::Tensor)
        return;
      j.attribute("access", accessName(arg.access));
      j.attribute("rank", int64_t(arg.dims.size()));
      dims("shape", arg.dims, kernel.symbols);
      if (arg.strided)
        dims("strides", arg.strides, kernel.symbols);
    });
  }

  void resources(const Image &image, const Variant &variant) {
    const Resources &r = variant.resources;
    if (r.registers >= 0)
      j.attribute("registers", r.registers);
    if (r.spillStores >= 0)
      j.attribute("spillStoreBytes", r.spillStores);
    if (r.spillLoads >= 0)
      j.attribute("spillLoadBytes", r.spillLoads);
    if (r.stackBytes >= 0)
      j.attribute("stackBytes", r.stackBytes);
    j.attribute("staticSharedBytes", r.staticShared);
    if (const TargetDesc *target = lookupTarget(image.arch); target && r.registers >= 0) {
      Occupancy occupancy =
          occupancyOf(*target, {variant.threads, r.registers, r.staticShared + variant.dynamicShared});
      j.attribute("blocksPerMultiprocessor", occupancy.blocks);
      j.attribute("occupancyLimiter", occupancy.limiter);
    }
    if (r.idealWaves)
      j.attribute("bankConflicts", double(r.bankWaves) / double(r.idealWaves));
    if (!r.advisories.empty())
      j.attributeArray("advisories", [&] {
        for (const std::string &line : r.advisories)
          j.value(text(line));
      });
  }

  void variant(const Image &image, const Variant &v) {
    j.object([&] {
      j.attribute("arch", text(image.arch));
      j.attribute("symbol", text(v.symbol));
      if (!v.schedule.empty())
        j.attribute("schedule", text(v.schedule));
      if (v.point) {
        j.attribute("point", int64_t(v.point));
        j.attributeObject("constants", [&] {
          for (const auto &[name, value] : v.constants)
            j.attribute(json::fixUTF8(name), text(value));
        });
      }
      j.attributeArray("conditions", [&] {
        for (const Condition &c : v.conditions)
          j.value(text(c.text));
      });
      if (image.kind == Image::CPU) {
        j.attribute("arenaBytes", v.arenaBytes);
        return;
      }
      j.attribute("threads", int64_t(v.threads));
      j.attribute("dynamicSharedBytes", v.dynamicShared);
      j.attribute("persistent", v.persistent);
      if (v.persistent)
        j.attribute("minBlocks", int64_t(v.minBlocks));
      resources(image, v);
    });
  }

  void launch(size_t kernelIndex, size_t launchIndex) {
    const LaunchDesc &launch = library.kernels[kernelIndex].launches[launchIndex];
    j.object([&] {
      j.attribute("name", text(launch.name));
      j.attribute("gridRank", int64_t(launch.gridRank));
      j.attributeArray("variants", [&] {
        for (const Image &image : library.images)
          if (kernelIndex < image.variants.size() && launchIndex < image.variants[kernelIndex].size())
            for (const Variant &v : image.variants[kernelIndex][launchIndex])
              variant(image, v);
      });
    });
  }

  void kernel(size_t index) {
    const KernelDesc &kernel = library.kernels[index];
    j.object([&] {
      j.attribute("name", text(kernel.name));
      j.attribute("function", text(apiName(library, kernel)));
      j.attribute("signature", text(kernel.signature));
      j.attribute("doc", text(kernel.doc));
      j.attribute("file", text(kernel.file));
      j.attribute("line", int64_t(kernel.line));
      j.attributeArray("parameters", [&] {
        for (const Arg &arg : kernel.args)
          argument(arg, kernel);
      });
      strings("symbols", kernel.symbols);
      strings("preconditions", kernel.preconditions);
      j.attributeObject("constants", [&] {
        for (const auto &[name, value] : kernel.constants)
          j.attribute(json::fixUTF8(name), text(value));
      });
      j.attribute("inplace", kernel.inplace);
      j.attribute("workspace", kernel.needsWorkspace);
      if (kernel.indexBits)
        j.attribute("indexBits", int64_t(kernel.indexBits));
      j.attributeArray("launches", [&] {
        for (size_t i = 0; i < kernel.launches.size(); ++i)
          launch(index, i);
      });
    });
  }

  void strings(StringRef key, ArrayRef<std::string> list) {
    j.attributeArray(key, [&] {
      for (const std::string &s : list)
        j.value(text(s));
    });
  }

  void imageSummary(const Image &image) {
    j.object([&] {
      j.attribute("arch", text(image.arch));
      j.attribute("kind", imageKind(image.kind));
      if (image.kind != Image::CPU)
        j.attribute("bytes", int64_t(image.bytes.size()));
    });
  }

  json::OStream j;
  const Library &library;
  const ManifestOptions &options;
};

} // namespace

std::string target::emitManifest(const Library &library, const ManifestOptions &options) {
  std::string result;
  raw_string_ostream os(result);
  SmallVector<size_t> all;
  for (size_t i = 0; i < library.kernels.size(); ++i)
    all.push_back(i);
  Writer(os, 2, library, options).document(all);
  os << "\n";
  return result;
}

std::string target::emitKernelManifest(const Library &library, unsigned kernel,
                                       const ManifestOptions &options) {
  std::string result;
  raw_string_ostream os(result);
  Writer(os, 0, library, options).document({size_t(kernel)});
  return result;
}
