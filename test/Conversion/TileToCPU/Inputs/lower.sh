#!/bin/sh
# lower.sh IN.mlir LEVEL OUT.o: device kernels whose target says LEVEL -> object, through the passes of the CPU pipeline.
set -e
sed "s/LEVEL/x86-64-v$2/" "$1" | tile-opt --pass-pipeline="builtin.module(canonicalize,cse,tile-select-schedule,tile.kernel(tile-group-blocks,tile-merge-k-steps),canonicalize,cse,tile.kernel(tile-assign-layouts-cpu),convert-tile-to-cpu,canonicalize,cse,tile-cpu-to-llvm{level=$2})" |
  mlir-translate --mlir-to-llvmir -o "$3.ll"
opt -O2 -mtriple=x86_64-linux-gnu "$3.ll" -o "$3.bc"
llc -O2 -mtriple=x86_64-linux-gnu -relocation-model=pic -filetype=obj "$3.bc" -o "$3"
llvm-nm -u "$3"
