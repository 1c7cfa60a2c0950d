//! Operations covered by instructions of three inputs, as compilers do it for machines that have them.

use std::collections::BTreeSet;

/// Which of `count` operations become part of a later one, and of which.
///
/// `inputs` says what an operation reads. `maker` gives the operation that makes an input for this reader alone, where
/// the reader can take it in: it does if they have three inputs together, and those that leave fewest first.
pub fn cover(
    count: usize,
    inputs: impl Fn(usize) -> BTreeSet<usize>,
    maker: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Option<usize>> {
    let mut readers = vec![None; count];
    let mut covered: Vec<BTreeSet<usize>> = Vec::with_capacity(count);
    for reader in 0..count {
        let mut all = inputs(reader);
        let part = |all: &BTreeSet<usize>| {
            let joined = all.iter().filter_map(|&input| {
                let maker = maker(input, reader)?;
                let mut joined = &covered[maker] | all;
                joined.remove(&input);
                (joined.len() <= 3).then_some((maker, joined))
            });
            joined.min_by_key(|(_, joined)| joined.len())
        };
        while let Some((maker, joined)) = part(&all) {
            readers[maker] = Some(reader);
            all = joined;
        }
        covered.push(all);
    }
    readers
}
