/*===- sample_library.h - the API of sample_library.c, as tilec writes it ---===*/
#ifndef SAMPLE_LIBRARY_H
#define SAMPLE_LIBRARY_H

#include <tile_rt.h>

/* gemm(A: Tensor((M, K), float16), B: Tensor((K, N), float16), C: Tensor((M, N), float32), alpha: float32) */
tile_status t_gemm(const tile_launch *launch, const tile_tensor *A, const tile_tensor *B,
                   const tile_tensor *C, float alpha);
tile_status t_gemm_check(const tile_tensor *A, const tile_tensor *B, const tile_tensor *C, float alpha);
tile_status t_gemm_workspace(const tile_tensor *A, const tile_tensor *B, const tile_tensor *C, float alpha,
                             uint64_t *bytes);
tile_status t_load(tile_device device);

/* scale(X: StridedTensor((M, N), (ldx, 1), float32), Y: StridedTensor((M, N), (ldy, 1), float32), a:
   float32), in place, 32-bit indices, alignment 16 of Y */
tile_status t_scale(const tile_launch *launch, const tile_tensor *X, const tile_tensor *Y, float a);
tile_status t_scale_check(const tile_tensor *X, const tile_tensor *Y, float a);

/* mask(M: Tensor((2 * n, n // 2, 3), bool), n: int32), out */
tile_status t_mask(const tile_launch *launch, const tile_tensor *M, int32_t n);
tile_status t_mask_check(const tile_tensor *M, int32_t n);

/* tick(p: ptr(int32), n: int64): no tensor at all */
tile_status t_tick(const tile_launch *launch, void *p, int64_t n);
tile_status t_tick_check(void *p, int64_t n);

/* A library with another ABI, one without images, one whose launch has no variant without a condition. */
tile_status t_old_abi(const tile_launch *launch, const tile_tensor *X);
tile_status t_no_image(const tile_launch *launch, const tile_tensor *X);
tile_status t_picky(const tile_launch *launch, const tile_tensor *X, int32_t mode);

/* tuned(p: ptr(int32), n: int64): three points, with blocks of 256, 64 and 128, the last for p % 4096 == 0 */
tile_status t_tuned(const tile_launch *launch, void *p, int64_t n, int64_t trips);

extern int t_items_run; /* atomic: CPU work items of t_scale and t_tick */

#endif
