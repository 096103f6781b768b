//===- MLIRGenTest.cpp - statements and expressions -> the tile dialect ------===//
#include "MLIRGenUtil.h"

using namespace tilec;
using namespace tilec::test;

namespace {
/// One launch of one block; `body` runs inside.
struct OneBlock : HIRBuilder {
  OneBlock() : HIRBuilder("k") {}
  std::string run(llvm::function_ref<void()> body) {
    auto *id = var("bx", DType::I64, Object::BlockId);
    launch({num(1)}, {id}, body);
    return print();
  }
  VarObj *index(std::string name) { return var(std::move(name), DType::I64, Object::LoopVar); }
};
} // namespace

TEST(MLIRGen, Gemm) {
  HIRBuilder h("matmul");
  auto *M = h.symbol("M"), *K = h.symbol("K"), *N = h.symbol("N");
  auto *A = h.tensor("A", DType::F16, {h.dim(M), h.dim(K)});
  auto *B = h.tensor("B", DType::F16, {h.dim(K), h.dim(N)});
  auto *C = h.tensor("C", DType::F16, {h.dim(M), h.dim(N)}, Access::Out);
  auto *bx = h.var("bx", DType::I64, Object::BlockId), *by = h.var("by", DType::I64, Object::BlockId);
  h.launch({h.ceildiv(h.sym(N), 256), h.ceildiv(h.sym(M), 128)}, {bx, by}, [&] {
    auto *a = h.shared("a", DType::F16, {128, 64}), *b = h.shared("b", DType::F16, {64, 256});
    auto *acc = h.fragment("acc", DType::F32, {128, 256});
    h.fill(acc, h.real(0));
    auto *k = h.var("k", DType::I64, Object::LoopVar);
    const Expr *row = h.times(h.ref(by), h.num(128)), *col = h.times(h.ref(bx), h.num(256));
    h.loop(k, h.num(0), h.ceildiv(h.sym(K), 64), [&](For *f) {
      f->pipelined = true;
      f->numStages = 4;
      const Expr *kk = h.times(h.ref(k), h.num(64));
      h.copy(h.part(A, {row, kk}, {128, 64}), h.whole(a));
      h.copy(h.part(B, {kk, col}, {64, 256}), h.whole(b));
      h.gemm(h.whole(a), h.whole(b), h.whole(acc), 128, 256, 64);
    });
    h.copy(h.whole(acc), h.part(C, {row, col}, {128, 256}));
  });
  EXPECT_TRUE(inOrder(
      h.print(),
      {"tile.kernel @matmul(",
       "tile.access = \"in\", tile.dims = [\"M\", \"K\"], tile.dtype = \"float16\", tile.name = \"A\"",
       "tile.access = \"out\"",
       "tile.dim %arg0, 0",
       "tile.dim %arg0, 1",
       "tile.dim %arg1, 1",
       "arg 1 axis 0, \"K\"",
       "arg 2 axis 0, \"M\"",
       "arg 2 axis 1, \"N\"",
       "arith.ceildivui",
       "tile.launch (",
       "tile.alloc : <128x64xf16>",
       "tile.splat",
       "scf.for",
       "tile.copy %arg0[",
       "tile.copy %arg1[",
       "tile.gemm",
       "tile.pipeline = #tile.pipeline<stages = 4>",
       "tile.generic [128, 256] ins(",
       "arith.truncf",
       "tile.store",
       "to %arg2["}));
}

TEST(MLIRGen, LoopsCarryWhatTheyAssign) {
  OneBlock h;
  auto *n = h.scalar("n", DType::I64);
  auto *X = h.tensor("X", DType::F32, {h.dim(64)}, Access::InOut);
  std::string text = h.run([&] {
    auto *t = h.index("t");
    auto *sum = h.var("sum", DType::F32);
    h.assign(sum, h.real(0));
    h.loop(t, h.num(0), h.ref(n), [&](For *) { h.assign(sum, h.plus(h.ref(sum), h.el(X, {h.ref(t)}))); });
    h.store(X, {h.num(0)}, h.ref(sum));
  });
  EXPECT_TRUE(inOrder(text, {"scf.for", "iter_args(", "tile.elem_load %arg1[", "arith.addf", "scf.yield",
                             "tile.elem_store", "to %arg1["}));
}

TEST(MLIRGen, BreakAndContinue) {
  OneBlock h;
  auto *n = h.scalar("n", DType::I64);
  auto *X = h.tensor("X", DType::I32, {h.dim(64)}, Access::InOut);
  std::string text = h.run([&] {
    auto *t = h.index("t");
    auto *last = h.var("last", DType::I32);
    h.assign(last, h.num(0, DType::I32));
    h.loop(t, h.num(0), h.ref(n), [&](For *) {
      const Expr *x = h.el(X, {h.ref(t)});
      h.when(h.cmp(CompareOp::Lt, x, h.num(0, DType::I32)), [&] { h.add(h.program.make<Break>(h.loc())); });
      h.when(h.cmp(CompareOp::Eq, x, h.num(7, DType::I32)),
             [&] { h.add(h.program.make<Continue>(h.loc())); });
      h.assign(last, x);
    });
    h.store(X, {h.num(0)}, h.ref(last));
  });
  EXPECT_TRUE(inOrder(text, {"scf.while", "arith.cmpi slt", "scf.condition", "scf.if", "scf.if", "scf.yield",
                             "tile.elem_store"}));
}

TEST(MLIRGen, DescendingLoopAndEscapingVariable) {
  OneBlock h;
  auto *X = h.tensor("X", DType::I64, {h.dim(64)}, Access::InOut);
  std::string text = h.run([&] {
    auto *t = h.index("t");
    h.loop(t, h.num(63), h.num(-1), [&](For *) { h.store(X, {h.ref(t)}, h.ref(t)); }, -3);
    h.store(X, {h.num(0)}, h.ref(t));
  });
  EXPECT_TRUE(inOrder(text, {"scf.for", "iter_args(", "arith.muli", "tile.elem_store", "scf.yield"}));
}

TEST(MLIRGen, IfYieldsWhatEitherSideAssigns) {
  OneBlock h;
  auto *n = h.scalar("n", DType::I32);
  auto *Y = h.tensor("Y", DType::F32, {h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *f = h.fragment("f", DType::F32, {64});
    h.fill(f, h.real(0));
    h.when(
        h.cmp(CompareOp::Gt, h.ref(n), h.num(3, DType::I32)), [&] { h.fill(f, h.real(1)); },
        [&] { h.when(h.cmp(CompareOp::Gt, h.ref(n), h.num(1, DType::I32)), [&] { h.fill(f, h.real(2)); }); });
    h.copy(h.whole(f), h.part(Y, {h.num(0)}, {64}));
  });
  EXPECT_TRUE(inOrder(text, {"scf.if", "-> (!tile.tile<64xf32>)", "} else {", "tile.store"}));
}

TEST(MLIRGen, ParallelWritesAnOut) {
  OneBlock h;
  auto *X = h.tensor("X", DType::F32, {h.dim(64), h.dim(64)});
  auto *Y = h.tensor("Y", DType::F32, {h.dim(64), h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *f = h.fragment("f", DType::F32, {64, 64});
    auto *i = h.index("i"), *j = h.index("j");
    h.nest({i, j}, {h.num(64), h.num(32)},
           [&] { h.store(f, {h.ref(i), h.plus(h.ref(j), h.num(32))}, h.el(X, {h.ref(i), h.ref(j)})); });
    auto *p = h.index("p"), *q = h.index("q");
    h.nest({p, q}, {h.num(64), h.num(64)}, [&] {
      h.when(h.cmp(CompareOp::Ge, h.ref(p), h.ref(q)),
             [&] { h.store(f, {h.ref(p), h.ref(q)}, h.plus(h.el(f, {h.ref(p), h.ref(q)}), h.real(1))); });
    });
    h.copy(h.whole(f), h.part(Y, {h.num(0), h.num(0)}, {64, 64}));
  });
  EXPECT_TRUE(inOrder(text, {"tile.undef", "tile.generic [64, 32] outs(", "tile.elem_load %arg0[",
                             "tile.yield", "tile.generic [64, 64] outs(", "^bb0(", "arith.cmpi", "scf.if",
                             "arith.addf", "scf.yield", "tile.yield", "tile.store"}));
}

TEST(MLIRGen, TwoMapsSplitTheBody) {
  OneBlock h;
  auto *Y = h.tensor("Y", DType::F32, {h.dim(64), h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *f = h.fragment("f", DType::F32, {64, 64});
    h.fill(f, h.real(1));
    auto *i = h.index("i"), *j = h.index("j");
    auto *x = h.var("x", DType::F32), *y = h.var("y", DType::F32);
    h.nest({i, j}, {h.num(64), h.num(32)}, [&] {
      const Expr *right = h.plus(h.ref(j), h.num(32));
      h.assign(x, h.el(f, {h.ref(i), h.ref(j)}));
      h.assign(y, h.el(f, {h.ref(i), right}));
      h.store(f, {h.ref(i), h.ref(j)}, h.bin(BinaryOp::Sub, h.ref(x), h.ref(y)));
      h.store(f, {h.ref(i), right}, h.plus(h.ref(x), h.ref(y)));
    });
    h.copy(h.whole(f), h.part(Y, {h.num(0), h.num(0)}, {64, 64}));
  });
  // Both scalars are kept in tiles: the second half must not see what the first has written.
  EXPECT_TRUE(inOrder(text, {"tile.generic [64, 32] outs(%", "arith.subf", "tile.yield", ": f32, f32, f32",
                             "tile.generic [64, 32] outs(%", "arith.addf", "tile.store"}));
}

TEST(MLIRGen, IrregularWriteGoesThroughSharedMemory) {
  OneBlock h;
  auto *I = h.tensor("I", DType::I32, {h.dim(64)});
  auto *Y = h.tensor("Y", DType::F32, {h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *f = h.fragment("f", DType::F32, {64});
    h.fill(f, h.real(0));
    auto *i = h.index("i");
    h.nest({i}, {h.num(64)}, [&] { h.store(f, {h.el(I, {h.ref(i)})}, h.real(1)); });
    h.copy(h.whole(f), h.part(Y, {h.num(0)}, {64}));
  });
  EXPECT_TRUE(
      inOrder(text, {"tile.alloc : <64xf32>", "tile.store", "tile.generic [64] maps", "tile.elem_load %arg0[",
                     "arith.index_cast", "tile.elem_store", "tile.load", "tile.store"}));
}

TEST(MLIRGen, GuardedReadStaysWhereItStands) {
  OneBlock h;
  auto *n = h.scalar("n", DType::I64);
  auto *X = h.tensor("X", DType::F32, {h.dim(64)});
  auto *Y = h.tensor("Y", DType::F32, {h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *i = h.index("i");
    h.nest({i}, {h.num(64)}, [&] {
      const Expr *cond = h.cmp(CompareOp::Lt, h.ref(i), h.ref(n));
      h.store(Y, {h.ref(i)}, h.program.make<Select>(cond, h.el(X, {h.ref(i)}), h.real(-1), true, h.loc()));
    });
  });
  EXPECT_TRUE(inOrder(text, {"tile.generic [64] maps", "arith.cmpi slt", "scf.if", "-> (f32)",
                             "tile.elem_load", "} else {", "tile.elem_store", "to %arg2["}));
}

TEST(MLIRGen, ConvertingAndTransposingCopies) {
  OneBlock h;
  auto *X = h.tensor("X", DType::F32, {h.dim(64), h.dim(32)});
  auto *U = h.tensor("U", DType::U8, {h.dim(64)});
  auto *Y = h.tensor("Y", DType::F16, {h.dim(32), h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *a = h.shared("a", DType::F16, {64, 32});
    h.copy(h.part(X, {h.num(0), h.num(0)}, {64, 32}), h.whole(a)); // one truncf: the copy does it
    auto *u = h.shared("u", DType::F32, {64});
    h.copy(h.part(U, {h.num(0)}, {64}), h.whole(u)); // the sign of the source matters: through registers
    auto *f = h.fragment("f", DType::F16, {32, 64});
    h.copy(h.whole(a), h.whole(f))->transpose = true;
    h.copy(h.whole(f), h.part(Y, {h.num(0), h.num(0)}, {32, 64}));
  });
  EXPECT_TRUE(inOrder(text, {"tile.copy %arg0[", ": !tile.view<64x32xf32>, !tile.buffer<64x32xf16>",
                             "tile.load %arg1[", "arith.uitofp", "tile.store", "tile.load",
                             "tile.generic [32, 64]", "tile.store", "to %arg2["}));
}

TEST(MLIRGen, DroppedAxes) {
  OneBlock h;
  auto *S = h.symbol("S");
  auto *Q = h.tensor("Q", DType::F16, {h.dim(2), h.dim(S), h.dim(8), h.dim(64)});
  auto *O = h.tensor("O", DType::F16, {h.dim(2), h.dim(S), h.dim(8), h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *q = h.shared("q", DType::F16, {128, 64});
    auto *f = h.fragment("f", DType::F16, {1, 128, 64});
    Region src = h.part(Q, {h.num(1), h.num(0), h.num(3), h.num(0)}, {1, 128, 1, 64});
    h.copy(src, h.whole(q));
    h.copy(src, h.whole(f));
    h.copy(h.whole(f), h.part(O, {h.num(1), h.num(0), h.num(3), h.num(0)}, {1, 128, 1, 64}));
  });
  EXPECT_TRUE(inOrder(text, {"tile.copy %arg0[", "extents [1, 128, 1, 64]", "tile.load %arg0[",
                             "extents [1, 128, 1, 64]", "-> <1x128x64xf16>", "tile.store",
                             "extents [1, 128, 1, 64]"}));
}

TEST(MLIRGen, ReduceRoundsOnce) {
  OneBlock h;
  auto *Y = h.tensor("Y", DType::F16, {h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *x = h.fragment("x", DType::F16, {64, 128});
    auto *sum = h.fragment("sum", DType::F16, {64});
    h.fill(x, h.real(1, DType::F16));
    h.fill(sum, h.real(0, DType::F16));
    h.reduce(ReduceOp::AbsSum, h.whole(x), sum, 1)->clear = false;
    h.copy(h.whole(sum), h.part(Y, {h.num(0)}, {64}));
  });
  EXPECT_TRUE(inOrder(text, {"arith.extf", "math.absf", "tile.reduce  add", ": <64x128xf32> -> <64xf32>",
                             "arith.extf", "arith.addf", "arith.truncf", "tile.store"}));
}

TEST(MLIRGen, UnsignedMaximumFlipsTheTopBit) {
  OneBlock h;
  auto *Y = h.tensor("Y", DType::U8, {h.dim(1)}, Access::Out);
  std::string text = h.run([&] {
    auto *x = h.fragment("x", DType::U8, {64});
    auto *m = h.fragment("m", DType::U8, {1});
    h.fill(x, h.num(200, DType::U8));
    h.reduce(ReduceOp::Max, h.whole(x), m, 0);
    h.copy(h.whole(m), h.part(Y, {h.num(0)}, {1}));
  });
  EXPECT_TRUE(inOrder(
      text, {"arith.constant -128 : i8", "arith.xori", "tile.reduce  max", "arith.xori", "tile.store"}));
}

TEST(MLIRGen, CastsAndDivisions) {
  OneBlock h;
  auto *f = h.scalar("f", DType::F32);
  auto *d = h.scalar("d", DType::I32);
  auto *Y = h.tensor("Y", DType::I32, {h.dim(4)}, Access::Out);
  auto *Z = h.tensor("Z", DType::E4M3, {h.dim(4)}, Access::Out);
  std::string text = h.run([&] {
    h.store(Y, {h.num(0)}, h.cast(h.ref(f), DType::I32));
    h.store(Y, {h.num(1)}, h.bin(BinaryOp::FloorDiv, h.num(7, DType::I32), h.ref(d)));
    h.store(Y, {h.num(2)}, h.bin(BinaryOp::Shl, h.num(7, DType::I32), h.ref(d)));
    h.store(Z, {h.num(0)}, h.cast(h.ref(f), DType::E4M3));
  });
  EXPECT_TRUE(
      inOrder(text, {"arith.fptosi", "arith.cmpf oge", "arith.select", "arith.cmpf ole", "arith.select",
                     "arith.cmpf uno", "arith.select", "arith.select", "arith.floordivsi", "arith.andi",
                     "arith.shli", "arith.minimumf", "arith.maximumf", "arith.truncf %", "to f8E4M3FN"}));
}

TEST(MLIRGen, BoolsAreBytesInMemory) {
  OneBlock h;
  auto *X = h.tensor("X", DType::Bool, {h.dim(64)});
  auto *Y = h.tensor("Y", DType::U8, {h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *f = h.fragment("f", DType::Bool, {64});
    h.copy(h.part(X, {h.num(0)}, {64}), h.whole(f));
    h.copy(h.whole(f), h.part(Y, {h.num(0)}, {64}));
  });
  EXPECT_TRUE(inOrder(text, {"tile.load %arg0[", ": i8", "arith.cmpi ne", "arith.extui", "tile.store"}));
}

TEST(MLIRGen, DynamicDomainAndContinue) {
  OneBlock h;
  auto *N = h.symbol("N");
  auto *X = h.tensor("X", DType::F32, {h.dim(N)}, Access::InOut);
  std::string text = h.run([&] {
    auto *i = h.index("i");
    h.nest({i}, {h.sym(N)}, [&] {
      h.when(h.cmp(CompareOp::Lt, h.el(X, {h.ref(i)}), h.real(0)),
             [&] { h.add(h.program.make<Continue>(h.loc())); });
      h.store(X, {h.ref(i)}, h.real(0));
    });
  });
  EXPECT_TRUE(inOrder(text, {"tile.generic [%", "tile.elem_load", "scf.if", "tile.elem_store"}));
}

TEST(MLIRGen, LocalArraysAreScalars) {
  OneBlock h;
  auto *Y = h.tensor("Y", DType::F32, {h.dim(64)}, Access::Out);
  std::string text = h.run([&] {
    auto *i = h.index("i"), *k = h.index("k");
    h.nest({i}, {h.num(64)}, [&] {
      auto *v = h.tile(Object::Local, "v", DType::F32, {4});
      h.loop(k, h.num(0), h.num(4), [&](For *) { h.store(v, {h.ref(k)}, h.cast(h.ref(i), DType::F32)); });
      h.store(Y, {h.ref(i)}, h.plus(h.el(v, {h.num(0)}), h.el(v, {h.num(3)})));
    });
  });
  EXPECT_TRUE(inOrder(text, {"tile.generic [64]", "scf.for", "-> (f32, f32", "arith.select", "scf.yield",
                             "arith.addf", "tile.elem_store"}));
}

TEST(MLIRGen, SafeValuesAndPreconditions) {
  HIRBuilder h("softmax");
  auto *M = h.symbol("M"), *N = h.symbol("N");
  auto *X = h.tensor("X", DType::F16, {h.dim(M), h.dim(N)});
  X->safeValue = h.real(-std::numeric_limits<double>::infinity(), DType::F16);
  X->assumedAlign = 16;
  auto *bx = h.var("bx", DType::I64, Object::BlockId);
  h.add(h.program.make<Assume>(h.cmp(CompareOp::Le, h.sym(N), h.num(1024)), "N <= 1024", h.loc()));
  h.launch({h.ceildiv(h.sym(M), 4)}, {bx}, [&] {
    auto *x = h.shared("x", DType::F16, {4, 1024});
    h.copy(h.part(X, {h.times(h.ref(bx), h.num(4)), h.num(0)}, {4, 1024}), h.whole(x));
  });
  EXPECT_TRUE(inOrder(h.print(), {"!tile.view<?x?xf16, align = 16>", "tile.assume", "\"N <= 1024\"",
                                  "tile.launch", "tile.recast_view", "safe = 0xFC00 : f16", "tile.copy"}));
}

TEST(MLIRGen, RuntimeSafeValueIsSelected) {
  OneBlock h;
  auto *v = h.scalar("v", DType::F32);
  auto *X = h.tensor("X", DType::F32, {h.dim(100)});
  X->safeValue = h.ref(v);
  std::string text = h.run([&] {
    auto *x = h.shared("x", DType::F32, {64});
    h.copy(h.part(X, {h.num(64)}, {64}), h.whole(x));
  });
  EXPECT_TRUE(
      inOrder(text, {"tile.generic [64]", "tile.elem_load", "arith.cmpi ult", "arith.select", "tile.store"}));
}
