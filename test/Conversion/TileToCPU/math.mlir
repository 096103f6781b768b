// Elementary functions against libm on doubles: largest errors in units in the last place, per level.
// RUN: sh %S/Inputs/lower.sh %s 2 %t2.o | FileCheck --allow-empty --check-prefix=SYMBOLS %s
// RUN: %cc -O1 -std=gnu11 %S/Inputs/math.c %t2.o -lm -o %t2
// RUN: %t2
// RUN: sh %S/Inputs/lower.sh %s 3 %t3.o | FileCheck --allow-empty --check-prefix=SYMBOLS %s
// RUN: %cc -O1 -std=gnu11 %S/Inputs/math.c %t3.o -lm -o %t3
// RUN: %t3
// SYMBOLS-NOT: U {{[^m]}}

tile.kernel @exp_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.exp %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @exp2_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.exp2 %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @expm1_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.expm1 %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.log %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log2_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.log2 %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log10_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.log10 %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log1p_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.log1p %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @tanh_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.tanh %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @erf_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.erf %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @rsqrt_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.rsqrt %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @sin_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.sin %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @cos_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.cos %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @tan_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.tan %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @sqrt_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.sqrt %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @round_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.round %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @roundeven_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.roundeven %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @floor_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.floor %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @ceil_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.ceil %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @trunc_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.trunc %x : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @pow_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.powf %x, %y : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @rem_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = arith.remf %x, %y : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @fma_f32(%g: index, %X: !tile.view<?xf32>, %Z: !tile.view<?xf32>, %Y: !tile.view<?xf32>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf32>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf32>, !tile.view<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f32, %y: f32):
      %r = math.fma %x, %y, %y : f32
      tile.elem_store %r to %Y[%i] : !tile.view<?xf32>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @exp_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.exp %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @exp2_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.exp2 %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @expm1_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.expm1 %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.log %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log2_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.log2 %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log10_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.log10 %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @log1p_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.log1p %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @tanh_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.tanh %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @erf_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.erf %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @rsqrt_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.rsqrt %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @sin_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.sin %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @cos_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.cos %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @tan_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.tan %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @sqrt_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.sqrt %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @round_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.round %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @roundeven_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.roundeven %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @floor_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.floor %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @ceil_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.ceil %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @trunc_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.trunc %x : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @pow_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.powf %x, %y : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @rem_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = arith.remf %x, %y : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
tile.kernel @fma_f64(%g: index, %X: !tile.view<?xf64>, %Z: !tile.view<?xf64>, %Y: !tile.view<?xf64>) attributes {tile.device, tile.target = #tile.target<"LEVEL">} {
  tile.launch (%b) in (%g) {
    %c0 = arith.constant 0 : index
    %n = tile.dim %X, 0 : !tile.view<?xf64>
    tile.generic [%n] ins(%X, %Z : !tile.view<?xf64>, !tile.view<?xf64>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
    ^bb0(%i: index, %x: f64, %y: f64):
      %r = math.fma %x, %y, %y : f64
      tile.elem_store %r to %Y[%i] : !tile.view<?xf64>
      tile.yield
    }
  }
  tile.yield
}
