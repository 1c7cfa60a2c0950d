// Entry points in a line each: what the kernels of a kind do besides their mode.
#pragma once
#include "chain.cuh"
#include "masks.cuh"

// ANCHOR: table_kernel
// By look-ups in tables: `mode(parameters, tables)`, all threads making them by `tables(shared)`.
#define TABLE_KERNEL(name, launch, Parameters, mode, tables) \
    KERNEL(name, launch, Parameters) {                       \
        SHARED_TABLES(shared);                               \
        mode(parameters, tables(shared));                    \
    }
// ANCHOR_END: table_kernel

// CBC and CFB decryption where both directions of the cipher look up in the same tables; `launch` is
// that of ECB.
#define TABLE_CHAINS(prefix, launch, Parameters, tables)                                          \
    TABLE_KERNEL(prefix##_cbc_decrypt, in_ranges(launch), Parameters, cbc_decrypt, tables)        \
    TABLE_KERNEL(prefix##_cfb_decrypt, in_ranges(launch), Parameters, cfb_decrypt, tables)

// And XTS.
#define TABLE_XTS(prefix, launch, Parameters, tables) \
    TABLE_KERNEL(prefix##_xts, in_ranges(launch), Parameters, xts, tables)

// Bit-sliced: `mode(parameters, form)`, the form being `Form::of(words, keys)`, after
// `Form::expand(words, keys)` has filled words of shared memory. As many as `Form::words(keys)` hold
// secrets in the end and are cleared.
#define SLICED_KERNEL(name, launch, Parameters, mode, Form)             \
    KERNEL(name, launch, Parameters) {                                  \
        SHARED_MEMORY(shared);                                          \
        u32 *words = reinterpret_cast<u32 *>(shared);                   \
        Form::expand(words, parameters.keys);                           \
        mode(parameters, Form::of(words, parameters.keys));             \
        clear_shared(words, Form::words(parameters.keys));              \
    }

// The same for XTS, which keeps a mask a thread there as well, before the keys.
#define SLICED_XTS_KERNEL(name, launch, Parameters, Form)                                         \
    KERNEL(name, with_masks(launch), Parameters) {                                                \
        SHARED_MEMORY(shared);                                                                    \
        Block16 *kept = reinterpret_cast<Block16 *>(shared);                                      \
        u32 *words = reinterpret_cast<u32 *>(kept + (launch).threads);                            \
        Form::expand(words, parameters.keys);                                                     \
        sliced_xts(parameters, kept + threadIdx.x, Form::of(words, parameters.keys));             \
        clear_shared(reinterpret_cast<u32 *>(shared),                                             \
                     4 * (launch).threads + Form::words(parameters.keys));                        \
    }
