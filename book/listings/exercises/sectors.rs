//! How many sectors a warp's load touches ("Coalescing").

// ANCHOR: answer
/// The sectors of a load in which lane `l` reads `bytes` bytes at `stride` times `l`.
fn sectors(stride: usize, bytes: usize) -> usize {
    let of_lane = |lane: usize| stride * lane / 32..=(stride * lane + bytes - 1) / 32;
    let mut touched: Vec<usize> = (0..32).flat_map(of_lane).collect();
    touched.dedup();
    touched.len()
}

#[test]
fn what_is_moved_is_used_in_full_where_lanes_are_neighbours() {
    assert_eq!(sectors(16, 16), 16); // 512 bytes, all of them used
    assert_eq!(sectors(8, 8), 8); // 256 bytes, all of them used
    assert_eq!(sectors(32, 8), 32); // 1,024 bytes for 256
    assert_eq!(sectors(320, 4), 32); // 1,024 bytes for 128
}
// ANCHOR_END: answer
