module {
  llvm.func @axpy.0(%g: i64, %x: !llvm.ptr<1>, %nx: i64, %sx: i64, %y: !llvm.ptr<1>, %ny: i64, %sy: i64, %alpha: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
    %c256 = llvm.mlir.constant(256 : i64) : i64
    %b32 = nvvm.read.ptx.sreg.ctaid.x : i32
    %t32 = nvvm.read.ptx.sreg.tid.x : i32
    %b = llvm.zext %b32 : i32 to i64
    %t = llvm.zext %t32 : i32 to i64
    %b0 = llvm.mul %b, %c256 : i64
    %i = llvm.add %b0, %t : i64
    %in = llvm.icmp "slt" %i, %nx : i64
    llvm.cond_br %in, ^go, ^end
  ^go:
    %ox = llvm.mul %i, %sx : i64
    %oy = llvm.mul %i, %sy : i64
    %px = llvm.getelementptr %x[%ox] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr %y[%oy] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %vx = llvm.load %px : !llvm.ptr<1> -> f32
    %vy = llvm.load %py : !llvm.ptr<1> -> f32
    %p = llvm.fmul %vx, %alpha : f32
    %r = llvm.fadd %p, %vy : f32
    llvm.store %r, %py : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
