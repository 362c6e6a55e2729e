; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The conformance suite's kernel (DeviceUnderTest.h) for AMD GPUs: the first
; thread of program p stores value + p to to[p].
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

; HIP 5 loads no newer code objects.
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
