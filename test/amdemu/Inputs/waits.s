// Every wait of this kernel is needed, and none allows more than it may: waitcnt-mutations.py weakens each.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl waits
.p2align 8
.type waits,@function
waits:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)                   // scalar loads arrive in any order
  global_load_dword v1, v0, s[4:5]
  global_load_dword v2, v0, s[4:5] offset:256
  global_load_dwordx2 v[4:5], v0, s[4:5] offset:512
  s_waitcnt vmcnt(2)                     // v1
  ds_write_b32 v0, v1
  s_waitcnt vmcnt(1)                     // v2
  ds_write_b32 v0, v2 offset:256
  s_waitcnt lgkmcnt(0)                   // LDS writes before a barrier
  s_barrier
  ds_read_b32 v6, v0 offset:4
  ds_read2_b32 v[8:9], v0 offset0:1 offset1:2
  ds_bpermute_b32 v7, v0, v1
  s_waitcnt lgkmcnt(2)                   // v6
  v_add_f32_e32 v1, v6, v1
  s_waitcnt lgkmcnt(1)                   // v[8:9]
  v_add_f32_e32 v1, v9, v1
  s_waitcnt lgkmcnt(0)                   // v7
  v_add_f32_e32 v1, v7, v1
  s_waitcnt vmcnt(0)                     // v5, loaded long ago
  v_add_f32_e32 v1, v5, v1
  global_load_dword v10, v0, s[4:5]
.Lloop:
  global_load_dword v11, v0, s[4:5] offset:1024
  s_add_u32 s8, s8, -1
  s_waitcnt vmcnt(1)                     // v10, by way of either path
  v_add_f32_e32 v1, v10, v1
  s_cmp_lg_u32 s8, 0
  s_waitcnt vmcnt(0)                     // v11 before it moves
  v_mov_b32_e32 v10, v11
  global_load_dword v10, v0, s[4:5] offset:2048
  s_cbranch_scc1 .Lloop
  s_waitcnt vmcnt(0)                     // an overwrite is no better than a use
  v_mov_b32_e32 v10, 0
  flat_load_dword v12, v[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)          // flat loads belong to both counters
  v_add_f32_e32 v1, v12, v1
  global_load_lds_dword v0, s[4:5]
  s_waitcnt vmcnt(0)                     // copies to LDS before a barrier
  s_barrier
  global_store_dword v0, v1, s[6:7]
  s_endpgm
.size waits, .-waits
.rodata
.p2align 6
.amdhsa_kernel waits
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: waits, .symbol: waits.kd, .kernarg_segment_size: 24, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 16, .max_flat_workgroup_size: 64}
.end_amdgpu_metadata
