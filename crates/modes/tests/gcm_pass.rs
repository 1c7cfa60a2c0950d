//! GCM in one pass, by every backend of AES that has it: against CTR of the crate `aes` and the plain hash.

use cipher::{InOutBuf, KeyInit};
use lanecrypt_aes::AES;
use lanecrypt_core::{CpuEngine, Direction, Engine, GcmPass, Operation, Platform, modes};
use lanecrypt_reference::{
    gf128::{basis, ghash_product},
    modes::ghash,
};
use lanecrypt_slicing::HashKey;

/// Bytes on either side of a buffer, which no pass may write.
const CANARY: usize = 67;

/// A hash key.
const H: u128 = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e;

/// Lengths round registers and batches of every width, and round what is left after a batch.
fn lengths() -> Vec<usize> {
    let middles = [48, 64, 96, 112, 128, 256, 496, 512, 528, 768, 1008, 1024];
    let round = middles.into_iter().flat_map(|middle| middle - 1..=middle + 1);
    (0..=34).chain(round).chain([1504, 2047, 31 * 512 + 5]).collect()
}

fn bytes(count: usize, seed: u64) -> Vec<u8> {
    (0..count as u64).map(|i| (((i * i + seed) * 167) >> 3) as u8).collect()
}

/// One pass over `input`.
struct Case<'a> {
    direction: Direction,
    counter: [u8; 16],
    whole: Option<&'a [u8]>,
    before: [u8; 16],
    input: &'a [u8],
}

impl Case<'_> {
    /// The output, and the hash or the tag, as SP 800-38D, 7.1 and 7.2, have them.
    fn expected(&self, theirs: &dyn Engine, key: &HashKey) -> (Vec<u8>, [u8; 16]) {
        let mut output = self.input.to_vec();
        let first = modes::gcm::counter(&self.counter, 0);
        modes::ctr32(theirs, &first, output.as_mut_slice().into()).expect("a counter");
        let ciphertext = if self.direction == Direction::Encrypt { &output } else { self.input };
        let Some(aad) = self.whole else {
            let mut hash = self.before;
            for block in ciphertext.chunks(16) {
                key.absorb(&mut hash, block);
            }
            return (output, hash);
        };
        let tag = ghash(H, aad, ciphertext);
        let mut mask = self.counter;
        theirs.ecb(Direction::Encrypt, mask.as_mut_slice().into()).expect("a block");
        (output, (tag ^ u128::from_be_bytes(mask)).to_be_bytes())
    }

    /// Runs it in the midst of `buffer`, in place or out of place; whether `ours` has such a pass.
    fn run(
        &self,
        ours: &dyn Engine,
        key: &HashKey,
        buffer: &mut [u8],
        in_place: bool,
    ) -> Option<[u8; 16]> {
        let mut hash = self.before;
        let (direction, counter, whole) = (self.direction, self.counter, self.whole);
        let data = &mut buffer[CANARY..][..self.input.len()];
        let data = if in_place {
            data.copy_from_slice(self.input);
            data.into()
        } else {
            InOutBuf::new(self.input, data).expect("equal lengths")
        };
        let is_done = key.with_powers(|powers| {
            ours.gcm(GcmPass { direction, counter, powers, hash: &mut hash, whole }, data)
        });
        is_done.expect("a CPU").then_some(hash)
    }

    fn check(&self, name: &str, ours: &dyn Engine, theirs: &dyn Engine, key: &HashKey) -> bool {
        let (expected, expected_hash) = self.expected(theirs, key);
        for in_place in [true, false] {
            let mut buffer = vec![0xee; self.input.len() + 2 * CANARY];
            let Some(hash) = self.run(ours, key, &mut buffer, in_place) else {
                return false;
            };
            let what = format!("{name}: {self:?}, in place: {in_place}");
            assert_eq!(hash, expected_hash, "{what}");
            let (before, rest) = buffer.split_at(CANARY);
            let (output, after) = rest.split_at(self.input.len());
            assert!(output == expected, "{what}");
            assert!(before.iter().chain(after).all(|&byte| byte == 0xee), "{what}: canaries");
        }
        true
    }
}

impl std::fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (aad, input) = (self.whole.map(<[u8]>::len), self.input.len());
        write!(
            f,
            "{} {input} bytes, aad {aad:?}, counter {:02x?}",
            self.direction,
            &self.counter[12..]
        )
    }
}

/// Ciphers of others, to compare with.
fn theirs(key: &[u8]) -> Box<dyn Engine> {
    match key.len() {
        16 => Box::new(CpuEngine::new(aes::Aes128::new_from_slice(key).expect("16 bytes"))),
        24 => Box::new(CpuEngine::new(aes::Aes192::new_from_slice(key).expect("24 bytes"))),
        _ => Box::new(CpuEngine::new(aes::Aes256::new_from_slice(key).expect("32 bytes"))),
    }
}

#[test]
fn every_backend_agrees() {
    let Some(hash_key) = HashKey::new(&H.to_be_bytes()) else {
        println!("this CPU multiplies no polynomials: no pass is taken");
        return;
    };
    let (text, aad) = (bytes(20_000, 7), bytes(700, 3));
    let mut counters = [[0x3c; 16]; 2];
    counters[1][12..].copy_from_slice(&(u32::MAX - 5).to_be_bytes()); // it wraps among the first blocks
    for backend in AES.backends.iter().filter(|backend| backend.platform == Platform::Cpu) {
        if let Err(missing) = (backend.available)() {
            println!("{}: {missing}", backend.id);
            continue;
        }
        for key_bytes in [16, 24, 32] {
            let key = bytes(key_bytes, 99);
            let (ours, theirs) = ((backend.create)(&key).expect("a good key"), theirs(&key));
            let mut has_one = None;
            for length in lengths() {
                for (direction, counter) in
                    Direction::BOTH.into_iter().flat_map(|way| counters.map(|from| (way, from)))
                {
                    for aad_bytes in [Some(0), Some(1), Some(13), Some(700), None] {
                        let whole = aad_bytes.map(|bytes| &aad[..bytes]);
                        let length = if whole.is_some() { length } else { length / 16 * 16 };
                        let before = if whole.is_some() { [0; 16] } else { [0x5a; 16] };
                        let input = &text[1..][..length];
                        let case = Case { direction, counter, whole, before, input };
                        let has = case.check(backend.id, &*ours, &*theirs, &hash_key);
                        assert_eq!(*has_one.get_or_insert(has), has, "{}: {case:?}", backend.id);
                    }
                }
            }
            let is_by_instructions = backend.id.contains("aes-");
            let has_one = has_one.expect("cases were run");
            assert!(has_one || !is_by_instructions, "{} has no such pass", backend.id);
            assert!(has_one || backend.id != "default", "a CPU that hashes has AES instructions");
        }
    }
}

/// The hash of blocks of zeros but for one, under powers that are all the same; `None` where `ours` has no pass. What is
/// hashed is the input of decryption.
fn hash_of_one(
    ours: &dyn Engine,
    power: [u8; 16],
    (count, place): (usize, usize),
    block: [u8; 16],
) -> Option<[u8; 16]> {
    let mut data = vec![0; 16 * count];
    data[16 * place..][..16].copy_from_slice(&block);
    let (mut hash, powers) = ([0; 16], [power; 32]);
    let (direction, counter) = (Direction::Decrypt, [0x3c; 16]);
    let pass = GcmPass { direction, counter, powers: &powers, hash: &mut hash, whole: None };
    ours.gcm(pass, data.as_mut_slice().into()).expect("a CPU").then_some(hash)
}

/// All 128 times 128 pairs of basis blocks, at each place of a batch and of what is left after one.
#[test]
fn every_backend_multiplies_the_basis() {
    // The lowest of a key's powers is the key times x, which is what each power is here.
    let power_of = |h: &[u8; 16]| HashKey::new(h).map(|key| key.with_powers(|powers| powers[31]));
    let Some(power) = power_of(&H.to_be_bytes()) else {
        println!("this CPU multiplies no polynomials: no pass is taken");
        return;
    };
    let mut backends = 0;
    for backend in AES.backends.iter().filter(|backend| backend.platform == Platform::Cpu) {
        if (backend.available)().is_err() {
            continue;
        }
        let ours = (backend.create)(&bytes(16, 99)).expect("a good key");
        // A block is multiplied once more in each batch after its own.
        let product = |block| ghash_product(block, H.to_be_bytes());
        let multiplied = |times| (0..times).fold([1; 16], |block, _| product(block));
        let Some(hash) = hash_of_one(&*ours, power, (32, 0), [1; 16]) else { continue };
        let batches = [1, 2, 4].into_iter().find(|&batches| multiplied(batches) == hash);
        let batch = 32 / batches.expect("batches of 8, 16 or 32 blocks");
        for h in basis() {
            let power = power_of(&h).expect("there was one");
            for block in basis() {
                let expected = Some(ghash_product(block, h));
                for count in [batch, batch - 1] {
                    for place in 0..count {
                        let found = hash_of_one(&*ours, power, (count, place), block);
                        let what = (backend.id, block, h, place, count);
                        assert_eq!(found, expected, "{what:02x?}");
                    }
                }
            }
        }
        backends += 1;
    }
    println!("{backends} backends");
    assert!(backends > 0, "a CPU that hashes has AES instructions");
}

/// Counters of 32 bits in either order, by every backend, in one job where it has one.
#[test]
fn counters_of_32_bits() {
    let text = bytes(20_000, 7);
    let mut counter = [0x3c; 16];
    counter[..4].copy_from_slice(&(u32::MAX - 5).to_le_bytes());
    counter[12..].copy_from_slice(&(u32::MAX - 5).to_be_bytes());
    let first = counter.into();
    let key = bytes(32, 99);
    let theirs = theirs(&key);
    for backend in AES.backends.iter().filter(|backend| backend.platform == Platform::Cpu) {
        if (backend.available)().is_err() {
            continue;
        }
        let ours = (backend.create)(&key).expect("a good key");
        for length in lengths() {
            for operation in [Operation::Ctr32(first), Operation::Ctr32Le(first)] {
                let input = &text[1..][..length];
                let (mut expected, mut output) = (input.to_vec(), vec![0xee; length + CANARY]);
                theirs.run(operation, expected.as_mut_slice().into()).expect("a counter");
                let data = InOutBuf::new(input, &mut output[..length]).expect("equal lengths");
                ours.run(operation, data).expect("a counter");
                let what = format!("{}: {operation:?} over {length} bytes", backend.id);
                assert!(output[..length] == expected, "{what}");
                assert!(output[length..].iter().all(|&byte| byte == 0xee), "{what}: canaries");
            }
        }
    }
}
