#include <tile_rt.h>
#ifdef OTHER_ABI
#undef TILE_RT_ABI
#define TILE_RT_ABI 2
#endif
#include "axpy.h"
#include "hostile.h"
#include "names.h"
#include "tables.h"

int used(void);
int used(void) { return axpy_manifest() != my_axpy_manifest() && mm_manifest() != none_manifest(); }
