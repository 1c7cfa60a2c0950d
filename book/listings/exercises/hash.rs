//! A hash of a message in parts ("Modes").

use lanecrypt_reference::gf128::ghash_product;

// ANCHOR: answer
type Block = [u8; 16];

fn sum(a: Block, b: Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The hash of a message, by Horner's rule.
fn hash(key: Block, message: &[Block]) -> Block {
    message.iter().fold([0; 16], |so_far, block| ghash_product(sum(so_far, *block), key))
}

/// The hash of two parts, one behind the other, from the hashes of both.
fn joined(key: Block, first: Block, second: Block, blocks_of_second: usize) -> Block {
    sum((0..blocks_of_second).fold(first, |part, _| ghash_product(part, key)), second)
}

#[test]
fn parts_are_hashed_apart_and_joined() {
    let key: Block = std::array::from_fn(|i| 13 * i as u8 + 3);
    let message: Vec<Block> = (0..20).map(|n| [5 * n + 1; 16]).collect();
    let whole = hash(key, &message);
    for at in 0..=message.len() {
        let (first, second) = message.split_at(at);
        let parts = joined(key, hash(key, first), hash(key, second), second.len());
        assert_eq!(parts, whole);
    }
    let behind_zeros = [vec![[0; 16]; 3], message].concat();
    assert_eq!(hash(key, &behind_zeros), whole);
}
// ANCHOR_END: answer
