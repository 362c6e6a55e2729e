; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The conformance suite's kernels (DeviceUnderTest.h) for AMD GPUs: the first
; thread of program p stores value + p to to[p]; and one that waits for a[0].
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()

define amdgpu_kernel void @store_ids(ptr addrspace(1) %to, i32 %value,
                                     i32 %reserved) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = icmp eq i32 %thread, 0
  br i1 %first, label %store, label %done

store:
  %program = call i32 @llvm.amdgcn.workgroup.id.x()
  %sum = add i32 %value, %program
  %offset = zext i32 %program to i64
  %at = getelementptr i32, ptr addrspace(1) %to, i64 %offset
  store i32 %sum, ptr addrspace(1) %at
  br label %done

done:
  ret void
}

define amdgpu_kernel void @spin_until_set(ptr addrspace(1) %a, i64 %a_size,
                                          ptr addrspace(1) %b, i64 %b_size) {
  br label %again

again:
  %word = load atomic i32, ptr addrspace(1) %a monotonic, align 4
  %unset = icmp eq i32 %word, 0
  br i1 %unset, label %again, label %set

set:
  store atomic i32 %word, ptr addrspace(1) %b release, align 4
  ret void
}

; HIP 5 loads no newer code objects.
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
