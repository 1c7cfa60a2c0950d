//! How many warps fit a multiprocessor ("Occupancy and registers").

// ANCHOR: answer
/// The warps of a multiprocessor of an H200, for a kernel with these registers per thread and this
/// much shared memory per thread block.
fn warps(registers: usize, threads: usize, shared_kib: usize) -> usize {
    let of_block = threads.div_ceil(32);
    let by_registers = 4 * (16_384 / (32 * registers.next_multiple_of(8)));
    let by_shared_memory = 228 / (shared_kib + 1);
    let bounds = [by_registers / of_block, by_shared_memory, 64 / of_block, 32];
    of_block * bounds.into_iter().min().unwrap_or(0)
}

#[test]
fn fewer_registers_help_where_another_thread_block_fits() {
    assert_eq!(warps(100, 256, 40), 16);
    assert_eq!(warps(96, 256, 40), 16);
    assert_eq!(warps(80, 256, 40), 24);
    assert_eq!(warps(96, 128, 40), 20);
    // aes_bitslice_ctr, aes_mixed_ctr, hight_byteslice_ctr and des_conflict_free_ctr of the table.
    assert_eq!(warps(115, 512, 31), 16);
    assert_eq!(warps(95, 640, 148), 20);
    assert_eq!(warps(52, 768, 0), 24);
    assert_eq!(warps(32, 1_024, 64), 64);
}
// ANCHOR_END: answer
