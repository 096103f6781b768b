#!/bin/sh
# fake_tilec.sh: stands for tilec where the CMake functions are tested. Understands the options they pass, logs them to
# $FAKE_TILEC_LOG, and makes an object with one function, a header, a depfile with the `import` lines' files.
set -e
[ -z "$FAKE_TILEC_LOG" ] || printf '%s\n' "$*" >> "$FAKE_TILEC_LOG"
prefix=t dirs=
while [ $# -gt 0 ]; do
  case $1 in
    -o) object=$2; shift ;;
    -MF) depfile=$2; shift ;;
    -MT) target=$2; shift ;;
    -MD) ;;
    -I*) dirs="$dirs
${1#-I}" ;;
    --emit-header=*) header=${1#*=} ;;
    --emit-manifest=*) manifest=${1#*=} ;;
    --symbol-prefix=*) prefix=${1#*=} ;;
    --arch=*|--tuning=*|-O*|-D*) ;;
    -*) echo "fake tilec: unknown option $1" >&2; exit 2 ;;
    *) source=$1 ;;
  esac
  shift
done
if grep -q 'SYNTAX ERROR' "$source"; then echo "$source:1:1: error[E0001]: made up" >&2; exit 1; fi
stem=$(basename "$source" .tile | tr - _)
escape() { printf '%s' "$1" | sed 's/ /\\ /g'; }
{
  printf '%s: %s' "$(escape "$target")" "$(escape "$source")"
  sed -n 's/^from \([a-z_]*\) import .*/\1/p' "$source" | while read -r module; do
    printf '%s\n' "$dirs" | while read -r dir; do
      [ -z "$dir" ] || [ ! -f "$dir/$module.tile" ] || printf ' \\\n  %s' "$(escape "$dir/$module.tile")"
    done
  done
  echo
} > "$depfile"
text="#ifndef TILE_GEN_${prefix}_${stem}
#define TILE_GEN_${prefix}_${stem}
#include <tile_rt.h>
#ifdef __cplusplus
extern \"C\"
#endif
int ${prefix}_${stem}(void);
#endif"
if [ ! -f "$header" ] || [ "$(cat "$header")" != "$text" ]; then printf '%s\n' "$text" > "$header"; fi
[ -z "$manifest" ] || echo "{\"file\": \"$stem\"}" > "$manifest"
printf 'int %s_%s(void); int %s_%s(void) { return 7; }\n' "$prefix" "$stem" "$prefix" "$stem" |
  ${CC:-cc} -fPIC -xc -c -o "$object" -
