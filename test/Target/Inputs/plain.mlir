module {
  llvm.func @k(%a: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %0, %a : i32, !llvm.ptr<1>
    llvm.return
  }
}
