#!/bin/sh
# header_matrix.sh GCC GXX CLANG CLANGXX INCLUDE SOURCES: compiles header_user.* in every language version.
gcc=$1 gxx=$2 clang=$3 clangxx=$4 include=$5 sources=$6
common="-Wall -Wextra -pedantic -Wconversion -Wundef -Wshadow -Werror -fsyntax-only -I$include"
count=0 failed=0
try() {
  count=$((count + 1))
  "$@" || { failed=$((failed + 1)); echo "failed: $*"; }
}
for cc in "$gcc" "$clang"; do
  for std in c99 c11 c17 c2x; do
    try $cc -std=$std $common -Wstrict-prototypes -Wc++-compat "$sources/header_user.c"
  done
done
for cxx in "$gxx" "$clangxx"; do
  for std in c++11 c++14 c++17 c++20 c++2b; do
    try $cxx -std=$std $common -Wold-style-cast "$sources/header_user.cpp"
  done
done
echo "$count compilations, $failed failed"
[ $failed = 0 ]
