// Behind a listing: a function of its kernel's name that the device layer calls. The kernel is `listing_kernel`.
extern "C" const host::Expected *LISTING_ENTRY(const host::Shape *shape, const void *parameters, std::size_t size) {
    static const host::Expected expected = {0, 0, 0, unsigned(sizeof(Job))};
    if (size < sizeof(Job)) return &expected;
    alignas(16) static unsigned char job[sizeof(Job)];
    std::memcpy(job, parameters, sizeof job);
    const host::Shape own = {shape->grid, shape->threads, 0};  // shared memory is `listing::dynamic_memory`
    host::run(own, [](const void *all) {
        if (threadIdx.x == 0) listing::start_block();
        listing_kernel(*static_cast<const Job *>(all));
    }, job);
    return nullptr;
}
