// SPDX-License-Identifier: Apache-2.0
// All NCCL functions that gc3 does not interpose, as jumps to the installed library. A jump preserves the arguments and
// results of any signature. Each function has a slot with the address to jump to. Until the first call, the slot holds
// the address of a stub that looks the function up.

    .text
// A stub jumps here with r10 = the address of the function's name and r11 = the address of its slot. Looks the function
// up, then jumps to it.
    .p2align 4
    .type gc3NcclLookUp, @function
gc3NcclLookUp:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    .irp register, %rdi, %rsi, %rdx, %rcx, %r8, %r9
    pushq \register
    .endr
    subq $128, %rsp
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    movups %xmm\index, 16*\index(%rsp)
    .endr
    movq %r10, %rdi
    movq %r11, %rsi
    call gc3NcclResolve
    movq %rax, %r11
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    movups 16*\index(%rsp), %xmm\index
    .endr
    addq $128, %rsp
    .irp register, %r9, %r8, %rcx, %rdx, %rsi, %rdi
    popq \register
    .endr
    popq %rbp
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
    .size gc3NcclLookUp, . - gc3NcclLookUp

    .macro trampoline name
    .text
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    jmp *.Lslot_\name(%rip)
.Lstub_\name:
    endbr64
    leaq .Lname_\name(%rip), %r10
    leaq .Lslot_\name(%rip), %r11
    jmp gc3NcclLookUp
    .cfi_endproc
    .size \name, . - \name

    .section .rodata
.Lname_\name:
    .asciz "\name"

    .data
    .p2align 3
.Lslot_\name:
    .quad .Lstub_\name
    .endm

#include "Trampolines.inc"

    .section .note.GNU-stack, "", @progbits
