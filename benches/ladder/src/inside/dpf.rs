//! Distributed point functions (Boyle, Gilboa, Ishai, "Function secret sharing: improvements and extensions", 2016, figure 1)
//! on the CPU: pairs of keys, and single leaves, for the trial of the kernel that expands whole trees.

use aes::Aes128;
use anyhow::{Result, ensure};
use cipher::{BlockCipherEncrypt, KeyInit};
use lanecrypt_ladder::Listing;

use crate::trials::{BLOCK, Load, Trial, output};

/// A node is 127 bits of a seed above its control bit, as the integer that its bytes are, the lowest first.
type Node = u128;

/// What makes children: the keys 0 1 .. 15 and 15 14 .. 0.
struct Generator([Aes128; 2]);

impl Generator {
    fn new() -> Self {
        let rising: [u8; BLOCK] = core::array::from_fn(|i| i as u8);
        let mut falling = rising;
        falling.reverse();
        Self([rising, falling].map(|key| Aes128::new(&key.into())))
    }

    /// The child on this side, before corrections.
    fn child(&self, node: Node, side: usize) -> Node {
        let seed = node & !1;
        let mut block = seed.to_le_bytes().into();
        self.0[side].encrypt_block(&mut block);
        u128::from_le_bytes(block.into()) ^ seed
    }
}

/// A party's key.
struct Key {
    root: Node,
    /// By level: what is added to the left child, whose control bit is bit 0, and to the right one.
    corrections: Vec<[u128; 2]>,
    leaf: u128,
}

impl Key {
    /// Two keys, whose leaves add up to `value` at `point` and to zero elsewhere.
    fn pair(
        generator: &Generator,
        levels: u32,
        (point, value): (u64, u128),
        roots: [u128; 2],
    ) -> [Self; 2] {
        let roots = [roots[0] & !1, roots[1] | 1];
        let mut nodes = roots;
        let mut corrections = Vec::new();
        for level in 0..levels {
            let children = nodes.map(|node| [0, 1].map(|side| generator.child(node, side)));
            let kept = (point >> (levels - 1 - level) & 1) as usize;
            let lost = 1 - kept;
            let seed = (children[0][lost] ^ children[1][lost]) & !1;
            // Control bits differ on the way to the point and nowhere else.
            let correction = [0, 1].map(|side| {
                let control =
                    (children[0][side] ^ children[1][side] ^ u128::from(side == kept)) & 1;
                seed | control
            });
            for (node, children) in nodes.iter_mut().zip(children) {
                let added = if *node & 1 == 1 { correction[kept] } else { 0 };
                *node = children[kept] ^ added;
            }
            corrections.push(correction);
        }
        let leaf = value ^ nodes[0] ^ nodes[1];
        roots.map(|root| Self { root, corrections: corrections.clone(), leaf })
    }

    /// Leaf `i`.
    fn leaf(&self, generator: &Generator, i: u64) -> u128 {
        let levels = self.corrections.len();
        let mut node = self.root;
        for (level, correction) in self.corrections.iter().enumerate() {
            let side = (i >> (levels - 1 - level) & 1) as usize;
            let added = if node & 1 == 1 { correction[side] } else { 0 };
            node = generator.child(node, side) ^ added;
        }
        node ^ if node & 1 == 1 { self.leaf } else { 0 }
    }

    /// As the kernel takes it.
    fn blocks(&self) -> Vec<u8> {
        let right = self.corrections.iter().enumerate().map(|(i, [_, right])| (right & 1) << i);
        let mut blocks = vec![self.root, right.sum()];
        blocks.extend(self.corrections.iter().map(|[left, _]| left));
        blocks.push(self.leaf);
        blocks.into_iter().flat_map(u128::to_le_bytes).collect()
    }
}

/// Some value for each number.
fn some(i: usize) -> u128 {
    (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// Levels of the tree that is measured, and how many keys: four waves on an H200.
const LEVELS: u32 = 20;
const KEYS: usize = 528;

pub(crate) struct Dpf;

impl Trial for Dpf {
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String> {
        let sizes: &[(u32, usize)] =
            if on_host { &[(11, 1), (13, 1)] } else { &[(11, 3), (12, 70), (15, 1), (20, 2)] };
        let generator = Generator::new();
        for &(levels, pairs) in sizes {
            let points: Vec<(u64, u128)> = (0..pairs)
                .map(|i| ((some(i) >> 64) as u64 & ((1 << levels) - 1), some(i)))
                .collect();
            let keys = points.iter().enumerate();
            let keys: Vec<Key> = keys
                .flat_map(|(i, &point)| {
                    Key::pair(&generator, levels, point, [some(7 * i), some(5 * i + 3)])
                })
                .collect();
            let table: Vec<u8> = keys.iter().flat_map(Key::blocks).collect();
            let blocks = keys.len() << levels;
            let leaves = output(listing, None, blocks, &table, &[u64::from(levels)])?;
            let leaves: Vec<u128> = leaves
                .as_chunks::<BLOCK>()
                .0
                .iter()
                .map(|leaf| u128::from_le_bytes(*leaf))
                .collect();
            let trees: Vec<&[u128]> = leaves.chunks(1 << levels).collect();
            for (both, &(point, value)) in trees.chunks(2).zip(&points) {
                let sums = both[0].iter().zip(both[1]).map(|(a, b)| a ^ b);
                let is_right = sums
                    .enumerate()
                    .all(|(i, sum)| sum == if i as u64 == point { value } else { 0 });
                ensure!(is_right, "two trees of {levels} levels do not add up to a point");
            }
            for (key, tree) in keys.iter().zip(&trees) {
                let last = tree.len() as u64 - 1;
                for i in (0..=last).step_by(1 + tree.len() / 97).chain([last]) {
                    let expected = key.leaf(&generator, i);
                    ensure!(tree[i as usize] == expected, "leaf {i} of {levels} levels is wrong");
                }
            }
        }
        Ok("pairs of trees, and leaves of each".to_owned())
    }

    fn loads(&self) -> Vec<Load> {
        let generator = Generator::new();
        let keys = (0..KEYS.div_ceil(2)).flat_map(|i| {
            Key::pair(&generator, LEVELS, (i as u64, some(i)), [some(i), some(i + 1)])
        });
        vec![Load {
            name: format!("{KEYS} keys of 2^{LEVELS} leaves"),
            // Two for each node above the leaves.
            calls: KEYS as u64 * 2 * ((1 << LEVELS) - 1),
            is_counted: false,
            words: vec![u64::from(LEVELS)],
            blocks: (KEYS as u64) << LEVELS,
            table: keys.flat_map(|key| key.blocks()).collect(),
        }]
    }

    fn has_input(&self) -> bool {
        false
    }
}
