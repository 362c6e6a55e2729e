// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second argument says what the kernel does with the memory of the first:
// 0 nothing, 1 stores a value and publishes it by a flag, 2 stores the value, 3
// waits for the flag, 4 loads the value.
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 7
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lend
  s_cmp_eq_u32 s6, 3
  s_cbranch_scc1 .Lwait
  s_cmp_eq_u32 s6, 4
  s_cbranch_scc1 .Lload
  global_store_dword v1, v2, s[4:5]
  s_cmp_eq_u32 s6, 2
  s_cbranch_scc1 .Lend
  buffer_wbl2 sc0 sc1
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5] offset:64 sc0 sc1
  s_endpgm
.Lwait:
  s_sleep 1
  global_load_dword v4, v1, s[4:5] offset:64 sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s7, v4
  s_cmp_eq_u32 s7, 7
  s_cbranch_scc0 .Lwait
  s_endpgm
.Lload:
  global_load_dword v4, v1, s[4:5]
  s_waitcnt vmcnt(0)
.Lend:
  s_endpgm
