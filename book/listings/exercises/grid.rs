//! Which blocks a thread takes where there are fewer threads than blocks ("Porting a block cipher").

// ANCHOR: answer
/// The blocks of thread `thread`, of `grid` threads and `blocks` blocks.
fn blocks_of(thread: usize, grid: usize, blocks: usize) -> impl Iterator<Item = usize> {
    (thread..blocks).step_by(grid)
}

#[test]
fn every_block_is_taken_once_and_neighbours_take_neighbours() {
    for (grid, blocks) in [(64, 1_000), (64, 1_024), (64, 10), (96, 0)] {
        let mut taken = vec![0; blocks];
        for thread in 0..grid {
            for (turn, block) in blocks_of(thread, grid, blocks).enumerate() {
                taken[block] += 1;
                // In one turn the blocks of all threads are one stretch.
                assert_eq!(block, turn * grid + thread);
            }
        }
        assert!(taken.iter().all(|&times| times == 1), "{grid} threads, {blocks} blocks");
    }
}
// ANCHOR_END: answer
