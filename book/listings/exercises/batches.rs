//! From how many blocks on batches win ("The ladder on a CPU").

// ANCHOR: answer
/// The number of blocks from which on batches of `lanes` blocks, of `batch` cycles each, are always faster than blocks one by
/// one, of `block` cycles each; none where a full batch is not.
fn from_where_on(lanes: usize, batch: usize, block: usize) -> Option<usize> {
    let is_faster = |blocks: usize| blocks.div_ceil(lanes) * batch < blocks * block;
    if !is_faster(lanes) {
        return None;
    }
    // What a full batch gains makes good for one that has a single block, after so many.
    let gained = lanes * block - batch;
    let most = lanes * (batch / gained + 2);
    (1..=most).rev().take_while(|blocks| is_faster(*blocks)).last()
}

#[test]
fn a_second_batch_must_pay_too() {
    let blocks = from_where_on(64, 5_427, 131);
    assert_eq!(blocks, Some(83));
    let is_faster = |blocks: usize| blocks.div_ceil(64) * 5_427 < blocks * 131;
    assert!(is_faster(42) && is_faster(64) && !is_faster(65) && !is_faster(82));
    assert!((83..10_000).all(is_faster));
    assert_eq!(from_where_on(64, 5_427, 84), None);
    assert_eq!(from_where_on(16, 172, 131), Some(2));
}
// ANCHOR_END: answer
