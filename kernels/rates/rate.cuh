// What the programs that measure rates share: a thread repeats a step on words of its own, between two readings of the clock.
#pragma once
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Words that a thread changes in turn, so that none waits for its own result.
constexpr u32 CHAINS = 8;
// Words of random numbers.
constexpr u32 NUMBERS = 1024;
// Steps for a block of output.
constexpr u32 STEPS = 2048;

struct Job {
    const uint4 *input;
    uint4 *output;       // of each thread: its multiprocessor and the clock of that at the start and at the end, and a
                         // word that all steps lead to
    u64 blocks;          // as many for every thread
    const u32 *numbers;  // NUMBERS of them
    u32 odd;             // a number that the compiler does not know
};

__device__ u32 clock_now() {
    u32 now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
}

__device__ u32 multiprocessor() {
    u32 number;
    asm("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

// The sum of the products of their bytes, and `sum`.
__device__ u32 dp4a(u32 left, u32 right, u32 sum) {
    u32 result;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(left), "r"(right), "r"(sum));
    return result;
}

// Runs STEPS steps for a block: step(x, i) changes x[i], which starts as a random number of these bits and `base`. The loop's
// body has UNROLLED steps for each word.
template <u32 UNROLLED = 16, typename Step>
__device__ void repeat(const Job &job, Step step, u32 bits = ~0u, u32 base = 0) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    u32 x[CHAINS];
#pragma unroll
    for (u32 i = 0; i < CHAINS; i++) x[i] = job.numbers[(threadIdx.x + 37 * i) % NUMBERS] & bits | base;
    __syncthreads();
    const u32 start = clock_now();
    for (u64 block = thread; block < job.blocks; block += threads) {
#pragma unroll 1
        for (u32 done = 0; done < STEPS; done += UNROLLED * CHAINS) {
#pragma unroll
            for (u32 j = 0; j < UNROLLED * CHAINS; j++) step(x, j % CHAINS);
        }
        u32 all = 0;
#pragma unroll
        for (u32 i = 0; i < CHAINS; i++) all ^= x[i];
        job.output[thread] = make_uint4(multiprocessor(), start, clock_now(), all);
    }
}

// Words of a thread that stay as they are.
struct Words {
    u32 first, second, third, fourth;

    __device__ explicit Words(const Job &job)
        : first(job.numbers[threadIdx.x]), second(job.numbers[threadIdx.x ^ 77]), third(job.numbers[threadIdx.x ^ 5]),
          fourth(job.numbers[threadIdx.x ^ 123]) {}
};

// Bits of the first word where x has ones, and of the second elsewhere. The compiler, which could compute both for two steps at
// once, does not look into it.
__device__ void lop3(u32 &x, const Words &words) {
    asm volatile("lop3.b32 %0, %0, %1, %2, 0xca;" : "+r"(x) : "r"(words.first), "r"(words.second));
}

// A word that a step reads beside its own, and which others have changed since it last did.
__device__ u32 other(const u32 (&x)[CHAINS], u32 i) { return x[(i + 3) % CHAINS]; }

// Of the table of 256 entries, a copy of each for every lane, entry e is at (e * stride + lane) * 4 bytes.
__device__ void fill_table(u32 *table, const Job &job, u32 stride) {
    for (u32 i = threadIdx.x; i < 256 * 32; i += blockDim.x)
        table[i / 32 * stride + i % 32] = job.numbers[i / 32];
}

// Word at an address in bytes from the table's start.
__device__ u32 look_up(const u32 *table, u32 address) {
    return *reinterpret_cast<const u32 *>(reinterpret_cast<const u8 *>(table) + address);
}
