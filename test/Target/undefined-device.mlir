// A function that no device library has is found here, not by the driver at load time.
// RUN: not target-check image sm_90a %s report 2>&1 | FileCheck %s --check-prefix=NV
// RUN: not target-check image gfx942 %s report 2>&1 | FileCheck %s --check-prefix=AMD
// NV: error: code for sm_90a calls `nobody`, which nothing defines there
// AMD: error: code for gfx942 calls `nobody`, which nothing defines there
module {
  llvm.func @nobody(f32) -> f32
  llvm.func @k(%a: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %e = llvm.call @nobody(%x) : (f32) -> f32
    llvm.store %e, %a : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @l(%a: !llvm.ptr<1>, %x: f32) attributes {rocdl.kernel} {
    %e = llvm.call @nobody(%x) : (f32) -> f32
    llvm.store %e, %a : f32, !llvm.ptr<1>
    llvm.return
  }
}
