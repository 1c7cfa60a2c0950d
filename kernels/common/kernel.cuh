// What makes a function a kernel or one for the device, for CUDA's compilers and for the host's.
#pragma once
#include "launch.cuh"

#ifdef __CUDACC__
// ANCHOR: kernel
// A kernel takes one parameter block, which stays in the constant bank: no copy in device memory,
// nothing shared between streams, and round keys are operands of the instructions that use them.
// `cargo xtask kernels` finds what `launch` says as `NAME_launch` in the PTX.
#define KERNEL(name, launch, Parameters)                                  \
    constexpr Launch name##_launch = launch;                              \
    extern "C" __global__ void __launch_bounds__((launch).threads, 1)     \
    name(const __grid_constant__ Parameters parameters)
// ANCHOR_END: kernel
#define DEVICE __device__ __forceinline__
#define CONSTEXPR __host__ __device__ constexpr
#define DEVICE_TABLE __device__ const
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define PRAGMA(text) _Pragma(#text)
// This number of passes of a loop, a constant, behind each other.
#define UNROLL_BY(passes) PRAGMA(unroll passes)
// Dynamic shared memory, as bytes, all of which the kernel clears; one that holds nothing but tables,
// which are public and may stay; and one whose first bytes are tables, and which the kernel clears from
// there on. The host build checks it.
#define SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#define SHARED_TABLES(name) SHARED_MEMORY(name)
#define SHARED_TABLES_AND_KEYS(name, bytes) SHARED_MEMORY(name)
#else
#include "../host/shim.hpp"
#endif
