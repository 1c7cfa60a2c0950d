// What listing.hpp declares: shared memory that a thread block finds poisoned, and the end that a race makes.
#include "listing.hpp"

namespace listing {

std::vector<Byte> bytes;
std::vector<Access> now;
std::vector<unsigned> taken;

void start_block() {
    std::memset(__start_listing_shared, 0xa5, std::size_t(__stop_listing_shared - __start_listing_shared));
    bytes.assign(std::size_t(__stop_listing_shared - __start_listing_shared), Byte{});
    now.assign(blockDim.x, Access{});
    for (unsigned i = 0; i < blockDim.x; i++) now[i] = {i, 0, 0, true};
    taken.assign(blockDim.x / 32, 0);
}

void race(const void *address, const char *what, const Access &before) {
    std::fprintf(stderr, "listing: a race: thread %u %s byte %td of shared memory, which thread %u uses without a barrier "
                         "between them\n",
                 threadIdx.x, what, static_cast<const unsigned char *>(address) - __start_listing_shared, before.thread);
    std::exit(3);
}

}  // namespace listing

namespace listing {
alignas(16) __attribute__((section("listing_shared"))) unsigned dynamic_memory[LISTING_SHARED / 4 + 1];
}

// Called by what the compiler writes before each access.
#define ACCESS(size)                                                                                             \
    extern "C" void __tsan_read##size(void *at) { listing::access(at, size, false); }                            \
    extern "C" void __tsan_write##size(void *at) { listing::access(at, size, true); }                            \
    extern "C" void __tsan_unaligned_read##size(void *at) { listing::access(at, size, false); }                  \
    extern "C" void __tsan_unaligned_write##size(void *at) { listing::access(at, size, true); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
extern "C" void __tsan_read_range(void *at, unsigned long size) { listing::access(at, size, false); }
extern "C" void __tsan_write_range(void *at, unsigned long size) { listing::access(at, size, true); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
extern "C" void *__tsan_memcpy(void *to, const void *from, unsigned long size) {
    listing::access(from, size, false);
    listing::access(to, size, true);
    return std::memcpy(to, from, size);
}
extern "C" void *__tsan_memset(void *to, int value, unsigned long size) {
    listing::access(to, size, true);
    return std::memset(to, value, size);
}
