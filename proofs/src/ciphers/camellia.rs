//! Camellia as RFC 3713 has it.

use lanecrypt_camellia::{Bits, Key128, Key192, Key256};
use lanecrypt_circuit::{KernelRounds, Wire};
use lanecrypt_core::Direction;
use lanecrypt_reference::{diffusion::CAMELLIA_P, sbox::CAMELLIA};

use crate::{
    model::{Byte, Model, bytes, rotated_left},
    subject::{Claim, Device, Recorded, Subject, Wgsl, noun, recorded},
};

/// 64 bits, the leftmost byte first.
type Half = [Byte; 8];

pub(crate) fn subject() -> Subject {
    Subject {
        name: "camellia",
        standard: "RFC 3713",
        plans: [lanecrypt_camellia::plan::<false>, lanecrypt_camellia::plan::<true>],
        rounds: Some(KernelRounds { functions: &[("camellia_rounds", "of 24 rounds")], calls: 1 }),
        wgsl: Wgsl { has_lookups: false, calls: 2 },
        steps: &[
            ("add", |model, half, key| model.xor_all(half, key)),
            ("round", |model, planes, key| {
                let [half, other] = halves(planes);
                let image = f(model, other, bytes(key));
                [add(model, half, image), other].as_flattened().as_flattened().to_vec()
            }),
            ("fl", |model, half, key| fl(model, bytes(half), bytes(key)).as_flattened().to_vec()),
            ("fl_inverse", |model, half, key| {
                fl_inverse(model, bytes(half), bytes(key)).as_flattened().to_vec()
            }),
        ],
        deciding_keys: None,
        claims,
    }
}

fn claims() -> Vec<Claim> {
    let of_128: Recorded = recorded::<Bits<Key128>>;
    let sizes = [(128, of_128), (192, recorded::<Bits<Key192>>), (256, recorded::<Bits<Key256>>)];
    let both = |(bits, recorded)| Direction::BOTH.map(|direction| claim(bits, recorded, direction));
    sizes.into_iter().flat_map(both).collect()
}

fn claim(bits: usize, recorded: Recorded, direction: Direction) -> Claim {
    let (rounds, whole) = if bits == 128 { (18, "of 18 rounds") } else { (24, "of 24 rounds") };
    let subkeys = move |wires: &[Wire]| {
        let keys = Subkeys::new(wires, rounds);
        if direction == Direction::Decrypt { keys.reversed() } else { keys }
    };
    Claim {
        name: format!("Camellia-{bits} {}", noun(direction)),
        whole,
        key_bytes: bits / 8,
        key_bits: 64 * (4 + rounds + rounds / 3 - 2),
        expand: Box::new(expand),
        recorded,
        direction,
        device: Some(Device {
            file: "camellia_bitslice",
            width: 1,
            most_without_tables: None,
            entry: "camellia_bitslice_ecb",
            key_words: Box::new(move |model, wires| key_words(model, &subkeys(wires))),
        }),
        vectors: Some("camellia_ecb.txt"),
        key_planes: Box::new(move |_, wires| {
            let planes = subkeys(wires).in_order_of_use();
            planes.as_flattened().as_flattened().to_vec()
        }),
        cipher: Box::new(move |model, text, wires| {
            let [d1, d2] = run(model, halves(text), &subkeys(wires));
            [d1, d2].as_flattened().as_flattened().to_vec()
        }),
    }
}

/// `CamelliaKeys` in kernels/camellia/keys.cuh.
fn key_words(model: &mut Model<'_>, keys: &Subkeys) -> Vec<Vec<Wire>> {
    let words = |halves: &[Half], count: usize, model: &mut Model<'_>| {
        let mut words: Vec<_> = halves.as_flattened().chunks(4).map(word).collect();
        words.resize(2 * count, model.number(0, 32));
        words
    };
    let mut all = words(&keys.kw[..2], 2, model);
    all.extend(words(&keys.k, 24, model));
    all.extend(words(&keys.ke, 6, model));
    all.extend(words(&keys.kw[2..], 2, model));
    all.push(model.number(keys.k.len() as u128 / 6, 32));
    all
}

/// Sigma1 to Sigma6 (section 2.2).
const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// KL and KR, and of them KA and KB (section 2.2), of 16 bytes each.
fn variables(model: &mut Model<'_>, key: &[Wire]) -> [Vec<Wire>; 4] {
    let (kl, kr) = key.split_at(128);
    let mut kr = kr.to_vec();
    if kr.len() == 64 {
        let complement = model.number(u128::MAX, 64);
        kr.extend(model.xor_all(&kr.clone(), &complement));
    }
    kr.extend(model.number(0, 128 - kr.len()));
    let two_rounds = |model: &mut Model<'_>, d: Vec<Wire>, sigma: [u64; 2]| {
        let [d1, d2] = halves(&d);
        let sigma = sigma.map(|sigma| bytes(&model.number(sigma.swap_bytes().into(), 64)));
        let image = f(model, d1, sigma[0]);
        let d2 = add(model, d2, image);
        let image = f(model, d2, sigma[1]);
        let d1 = add(model, d1, image);
        [d1, d2].as_flattened().as_flattened().to_vec()
    };
    let start = model.xor_all(kl, &kr);
    let middle = two_rounds(model, start, [SIGMA[0], SIGMA[1]]);
    let middle = model.xor_all(&middle, kl);
    let ka = two_rounds(model, middle, [SIGMA[2], SIGMA[3]]);
    let start = model.xor_all(&ka, &kr);
    let kb = two_rounds(model, start, [SIGMA[4], SIGMA[5]]);
    [kl.to_vec(), kr, ka, kb]
}

/// kw1 to kw4, k1 and so on, ke1 and so on, by pairs: of which variable, rotated left by how many bits.
#[rustfmt::skip]
const SHORT: [(usize, usize); 13] = [
    (0, 0), (2, 111),
    (2, 0), (0, 15), (2, 15), (0, 45), (2, 45), (2, 60), (0, 94), (2, 94), (0, 111),
    (2, 30), (0, 77),
];
#[rustfmt::skip]
const LONG: [(usize, usize); 17] = [
    (0, 0), (3, 111),
    (3, 0), (1, 15), (2, 15), (3, 30), (0, 45), (2, 45), (1, 60), (3, 60), (0, 77), (1, 94), (2, 94), (0, 111),
    (1, 30), (0, 60), (2, 77),
];

/// The subkeys (section 2.2).
fn expand(model: &mut Model<'_>, key: &[Wire]) -> Vec<Wire> {
    let is_short = key.len() == 128;
    let variables = variables(model, key);
    let pair = |&(variable, by): &(usize, usize)| rotated_left(&variables[variable], by);
    let mut subkeys: Vec<_> =
        if is_short { &SHORT[..] } else { &LONG }.iter().flat_map(pair).collect();
    if is_short {
        // k10 is the right half of KL rotated by 60, not of KA rotated by 45.
        subkeys[64 * 13..][..64].copy_from_slice(&rotated_left(&variables[0], 60)[64..]);
    }
    subkeys
}

fn halves(planes: &[Wire]) -> [Half; 2] {
    let (left, right) = planes.split_at(64);
    [bytes(left), bytes(right)]
}

/// The subkeys as section 2.2 names them, less one.
struct Subkeys {
    kw: Vec<Half>,
    k: Vec<Half>,
    ke: Vec<Half>,
}

impl Subkeys {
    /// kw1 to kw4, k1 and so on, ke1 and so on.
    fn new(wires: &[Wire], rounds: usize) -> Self {
        let mut halves = wires.chunks(64).map(bytes);
        let mut next = |count| halves.by_ref().take(count).collect();
        Self { kw: next(4), k: next(rounds), ke: next(rounds / 3 - 2) }
    }

    /// kw1 with kw3, kw2 with kw4, k1 with k18, ke1 with ke4 and so on exchanged (section 2.3.3).
    fn reversed(mut self) -> Self {
        self.kw.rotate_left(2);
        self.k.reverse();
        self.ke.reverse();
        self
    }

    /// kw1, kw2, six of k, two of ke and so on.
    fn in_order_of_use(&self) -> Vec<Half> {
        let mut keys = self.kw[..2].to_vec();
        let mut ke = self.ke.chunks(2);
        for six in self.k.chunks(6) {
            keys.extend(six);
            keys.extend(ke.next().unwrap_or_default());
        }
        keys.extend(&self.kw[2..]);
        keys
    }
}

/// The data randomizing part (sections 2.3.1 and 2.3.2).
fn run(model: &mut Model<'_>, [mut d1, mut d2]: [Half; 2], keys: &Subkeys) -> [Half; 2] {
    d1 = add(model, d1, keys.kw[0]);
    d2 = add(model, d2, keys.kw[1]);
    for round in (0..keys.k.len()).step_by(2) {
        if round == 6 || round == 12 || round == 18 {
            d1 = fl(model, d1, keys.ke[round / 3 - 2]);
            d2 = fl_inverse(model, d2, keys.ke[round / 3 - 1]);
        }
        let image = f(model, d1, keys.k[round]);
        d2 = add(model, d2, image);
        let image = f(model, d2, keys.k[round + 1]);
        d1 = add(model, d1, image);
    }
    [add(model, d2, keys.kw[2]), add(model, d1, keys.kw[3])]
}

fn add(model: &mut Model<'_>, a: Half, b: Half) -> Half {
    core::array::from_fn(|i| model.xor_bytes(a[i], b[i]))
}

/// The F-function (section 2.4.1).
fn f(model: &mut Model<'_>, f_in: Half, ke: Half) -> Half {
    let [sbox1, sbox2, sbox3, sbox4] = &CAMELLIA;
    let sboxes = [sbox1, sbox2, sbox3, sbox4, sbox2, sbox3, sbox4, sbox1];
    let x = add(model, f_in, ke);
    let t: Half = core::array::from_fn(|i| model.sbox(sboxes[i], x[i]));
    CAMELLIA_P.map(|row| {
        let terms: Vec<Byte> = row.iter().map(|&i| t[usize::from(i) - 1]).collect();
        model.sum(&terms)
    })
}

/// The 32 bits of four bytes, the lowest first.
fn word(bytes: &[Byte]) -> Vec<Wire> {
    bytes.iter().rev().flatten().copied().collect()
}

fn joined(left: &[Wire], right: &[Wire]) -> Half {
    let mut halves: Half = bytes(&[right, left].concat());
    halves.reverse();
    halves
}

/// `(x & k) <<< 1`, added to another word.
fn add_rotated_and(model: &mut Model<'_>, to: &[Wire], x: &[Wire], k: &[Wire]) -> Vec<Wire> {
    let mut product: Vec<Wire> = x.iter().zip(k).map(|(&x, &k)| model.and(x, k)).collect();
    product.rotate_right(1);
    model.xor_all(to, &product)
}

/// `x | k`, added to another word.
fn add_or(model: &mut Model<'_>, to: &[Wire], x: &[Wire], k: &[Wire]) -> Vec<Wire> {
    let either: Vec<Wire> = x.iter().zip(k).map(|(&x, &k)| model.or(x, k)).collect();
    model.xor_all(to, &either)
}

/// The FL-function (section 2.4.2).
fn fl(model: &mut Model<'_>, fl_in: Half, ke: Half) -> Half {
    let [x1, x2, k1, k2] = [&fl_in[..4], &fl_in[4..], &ke[..4], &ke[4..]].map(word);
    let x2 = add_rotated_and(model, &x2, &x1, &k1);
    let x1 = add_or(model, &x1, &x2, &k2);
    joined(&x1, &x2)
}

/// The inverse of the FL-function (section 2.4.2).
fn fl_inverse(model: &mut Model<'_>, flinv_in: Half, ke: Half) -> Half {
    let [y1, y2, k1, k2] = [&flinv_in[..4], &flinv_in[4..], &ke[..4], &ke[4..]].map(word);
    let y1 = add_or(model, &y1, &y2, &k2);
    let y2 = add_rotated_and(model, &y2, &y1, &k1);
    joined(&y1, &y2)
}
