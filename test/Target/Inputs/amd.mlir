module {
  gpu.module @kernels {
    llvm.func @k(%a: !llvm.ptr<1>, %n: i32) attributes {rocdl.kernel, rocdl.flat_work_group_size = "256,256", rocdl.reqd_work_group_size = array<i32: 256, 1, 1>} {
      %0 = rocdl.workitem.id.x : i32
      %p = llvm.getelementptr %a[%0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %e = llvm.intr.exp2(%v) : (f32) -> f32
      llvm.store %e, %p : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
