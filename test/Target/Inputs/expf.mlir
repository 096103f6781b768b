module {
  llvm.func @__nv_expf(f32) -> f32
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%a: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %s = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %p = llvm.getelementptr %a[%0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32 loc("axpy.tile":3:4)
    %q = llvm.getelementptr %s[%0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32 loc("axpy.tile":3:4)
    %v = llvm.load %p : !llvm.ptr<1> -> f32 loc("axpy.tile":4:4)
    llvm.store %v, %q : f32, !llvm.ptr<3>
    nvvm.barrier0
    %w = llvm.load %q : !llvm.ptr<3> -> f32
    %e = llvm.call @__nv_expf(%w) : (f32) -> f32 loc("axpy.tile":5:4)
    llvm.store %e, %p : f32, !llvm.ptr<1> loc("axpy.tile":6:4)
    llvm.return
  }
}
