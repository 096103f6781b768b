//===- Target.cpp - the chip table -------------------------------------------===//
// Sources: CUDA C++ Programming Guide, "Compute Capabilities" (threads, shared memory, registers); PTX ISA,
// "Release Notes" (first version that knows a target); AMD CDNA2/CDNA3 ISA guides (MFMA shapes, LDS); x86-64
// psABI (levels).
#include "tilec/Support/Target.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilec;

namespace {
using K = MatrixKind;
using D = DType;
} // namespace

static constexpr MatrixInst ampere[] = {
    {K::MMASync, D::F16, D::F16, D::F32, 16, 8, 16},   {K::MMASync, D::F16, D::F16, D::F16, 16, 8, 16},
    {K::MMASync, D::BF16, D::BF16, D::F32, 16, 8, 16}, {K::MMASync, D::I8, D::I8, D::I32, 16, 8, 32},
    {K::MMASync, D::U8, D::U8, D::I32, 16, 8, 32},
};
static constexpr MatrixInst hopper[] = {
    {K::WGMMA, D::F16, D::F16, D::F32, 64, 0, 16},   {K::WGMMA, D::F16, D::F16, D::F16, 64, 0, 16},
    {K::WGMMA, D::BF16, D::BF16, D::F32, 64, 0, 16}, {K::WGMMA, D::E4M3, D::E4M3, D::F32, 64, 0, 32},
    {K::WGMMA, D::E5M2, D::E5M2, D::F32, 64, 0, 32}, {K::MMASync, D::F16, D::F16, D::F32, 16, 8, 16},
    {K::MMASync, D::F16, D::F16, D::F16, 16, 8, 16}, {K::MMASync, D::BF16, D::BF16, D::F32, 16, 8, 16},
    {K::MMASync, D::I8, D::I8, D::I32, 16, 8, 32},   {K::MMASync, D::U8, D::U8, D::I32, 16, 8, 32},
};
static constexpr MatrixInst cdna[] = {
    {K::MFMA, D::F16, D::F16, D::F32, 32, 32, 8},   {K::MFMA, D::F16, D::F16, D::F32, 16, 16, 16},
    {K::MFMA, D::BF16, D::BF16, D::F32, 32, 32, 8}, {K::MFMA, D::BF16, D::BF16, D::F32, 16, 16, 16},
    {K::MFMA, D::F32, D::F32, D::F32, 32, 32, 2},   {K::MFMA, D::F32, D::F32, D::F32, 16, 16, 4},
};
static constexpr MatrixInst cpuFma[] = {
    {K::CPUFMA, D::F32, D::F32, D::F32, 0, 0, 1},
};

static TargetDesc nvidia(llvm::StringRef name, unsigned sm, unsigned sharedKiB, unsigned ptx, unsigned sms) {
  TargetDesc t;
  t.name = name.str();
  t.family = Family::NVIDIA;
  t.warpSize = 32;
  t.warpsPerGroup = 1;
  t.maxThreads = 1024;
  t.sharedBytes = sharedKiB * 1024;
  t.registersPerBlock = 65536;
  t.maxRegisters = 255;
  t.multiprocessors = sms;
  t.vectorBytes = 16;
  t.ptxVersion = ptx;
  t.smVersion = sm;
  t.engines.cpAsync = true;
  t.matrix = ampere;
  return t;
}

static TargetDesc hopperChip(llvm::StringRef name) {
  TargetDesc t = nvidia(name, 90, 227, 80, 132);
  t.warpsPerGroup = 4;
  t.archSpecific = true;
  t.roles = t.mbarriers = t.engines.tma = true;
  t.matrix = hopper;
  return t;
}

static TargetDesc ptxImage(llvm::StringRef name, TargetDesc base) {
  base.name = name.str();
  base.emitsPTX = true;
  base.archSpecific = false;
  return base;
}

static TargetDesc amd(llvm::StringRef name, unsigned cus) {
  TargetDesc t;
  t.name = name.str();
  t.family = Family::AMD;
  t.warpSize = 64;
  t.warpsPerGroup = 1;
  t.maxThreads = 1024;
  t.sharedBytes = 64 * 1024;
  t.registersPerBlock = 4 * 512 * 64; // four SIMDs of 512 VGPRs (AGPRs included) by 64 lanes
  t.maxRegisters = 512;
  t.multiprocessors = cus;
  t.vectorBytes = 16;
  t.matrix = cdna;
  return t;
}

static TargetDesc x86(llvm::StringRef name, unsigned level, unsigned lanes, bool fma) {
  TargetDesc t;
  t.name = name.str();
  t.family = Family::CPU;
  t.warpSize = t.warpsPerGroup = 1;
  t.maxThreads = 1024;
  t.sharedBytes = 8u << 20; // the arena of one worker: a bound against mistakes, not a chip limit
  t.registersPerBlock = t.maxRegisters = level == 4 ? 32 : 16;
  t.multiprocessors = 16;
  t.vectorBytes = lanes * 4;
  t.matrix = cpuFma;
  t.cpuLevel = level;
  t.vectorLanes32 = lanes;
  t.l1Bytes = level == 4 ? 48 << 10 : 32 << 10;
  t.l2Bytes = 1 << 20;
  t.hasFMA = fma;
  return t;
}

static llvm::ArrayRef<TargetDesc> table() {
  static const TargetDesc targets[] = {
      x86("x86-64-v2", 2, 4, false),
      x86("x86-64-v3", 3, 8, true),
      x86("x86-64-v4", 4, 16, true),
      nvidia("sm_80", 80, 163, 70, 108),
      nvidia("sm_86", 86, 99, 71, 84),
      nvidia("sm_89", 89, 99, 78, 128),
      hopperChip("sm_90a"),
      // The driver compiles this PTX for any later chip, so it counts on no more than the 99 KiB that all of
      // them have.
      ptxImage("compute_80", nvidia("sm_80", 80, 99, 70, 108)),
      ptxImage("compute_89", nvidia("sm_89", 89, 99, 78, 128)),
      amd("gfx90a", 110),
      amd("gfx942", 304),
  };
  return targets;
}

const TargetDesc *tilec::lookupTarget(llvm::StringRef name) {
  auto all = table();
  auto it = llvm::find_if(all, [&](const TargetDesc &t) { return t.name == name; });
  return it == all.end() ? nullptr : &*it;
}

llvm::ArrayRef<llvm::StringRef> tilec::targetNames() {
  static const llvm::SmallVector<llvm::StringRef> names = [] {
    llvm::SmallVector<llvm::StringRef> n = {"cpu"};
    for (const TargetDesc &t : table())
      n.push_back(t.name);
    return n;
  }();
  return names;
}

llvm::SmallVector<llvm::StringRef, 3> tilec::expandTarget(llvm::StringRef name) {
  if (name == "cpu")
    return {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return {name};
}

llvm::StringRef tilec::nearestTarget(llvm::StringRef name) {
  llvm::StringRef best;
  unsigned bestDistance = ~0u;
  for (llvm::StringRef n : targetNames())
    if (unsigned d = name.edit_distance(n, true, bestDistance); d < bestDistance) {
      bestDistance = d;
      best = n;
    }
  return best;
}
