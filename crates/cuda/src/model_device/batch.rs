//! The kernels of batches on the model device.

use lanecrypt_core::{Counter, Direction};
use lanecrypt_kernels::batch::SEQUENCE_BYTES;

use super::{
    Model,
    ghash::{power, times},
    toy::toy,
};

/// Rows of a session, as `kernels/batch/batch.cuh` numbers them.
const ROWS: u64 = 21;
const H_ROW: u64 = 18;
const MASK_ROW: u64 = 19;
const J0_ROW: u64 = 20;
/// Of a message that is not hashed by matrices.
const NO_SEQUENCES: u32 = u32::MAX;

/// A parameter block, by the names of its fields.
#[derive(Clone, Copy)]
struct Parameters<'a> {
    model: &'a Model,
    input: u64,
    output: u64,
    jobs: u64,
    sessions: u64,
    session_count: u64,
    results: u64,
    arena: u64,
    sequences: u64,
    sums: u64,
    ends: u64,
}

/// A job, read back.
struct Job {
    number: u64,
    input: u64,
    output: u64,
    length: u64,
    mode: u32,
    key: [u8; 16],
    iv: [u8; 16],
    aad: Vec<u8>,
    long_iv: Vec<u8>,
    tag: Vec<u8>,
    sequences: u32,
}

/// A piece of a message.
struct Item {
    job: u64,
    blocks: u64,
    first: u64,
    place: u64,
}

impl Model {
    /// The kernels of batches: what they read and write is what the others do.
    pub(super) fn batch(&self, name: &str, parameters: &[u64]) {
        let [input, output, jobs, sessions, session_count, results, items, count] = parameters[..8]
        else {
            panic!("no parameters of a batch")
        };
        let [arena, sequences, sums, piece, flags, ends] = parameters[8..] else {
            panic!("too few")
        };
        let all = Parameters {
            model: self,
            input,
            output,
            jobs,
            sessions,
            session_count,
            results,
            arena,
            sequences,
            sums,
            ends,
        };
        let each = |list: u64, count: u64, work: &dyn Fn(Item)| {
            (0..count).for_each(|i| work(all.item(list + 16 * i)));
        };
        // Those of all ciphers do the same.
        match name.split_once("_batch_").map_or(name, |(_, work)| work) {
            "keys" => (0..count).for_each(|i| all.open(i)),
            "batch_gather" => (0..count).for_each(|i| all.gather(i)),
            "batch_scatter" => (0..count).for_each(|i| all.scatter(i)),
            "batch_hash" => each(items, count, &|item| all.hash(&item, false)),
            "batch_matrices" => each(items, count, &|item| all.hash(&item, true)),
            "batch_finish" => each(items, count, &|item| all.finish(&item, piece, flags)),
            "batch_save" => each(items, count, &|item| {
                let job = all.job(item.job);
                let before = match item.first {
                    0 => job.iv.to_vec(),
                    first => self.read_at(input + job.input + 16 * (first - 1), 16),
                };
                self.write_at(sums + 16 * item.place, &before);
            }),
            "crypt" | "narrow" => {
                if flags == 2 {
                    (0..session_count).for_each(|i| all.open(i));
                }
                each(items, count, &|item| all.crypt(&item));
            }
            "decrypt" => each(items, count, &|item| all.decrypt(&item)),
            "chain" => each(items, count, &|item| all.chain(&item)),
            _ => panic!("no kernel {name}"),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

impl Parameters<'_> {
    fn item(&self, at: u64) -> Item {
        let bytes = self.model.read_at(at, 16);
        let [job, blocks, first, place] = [0, 4, 8, 12].map(|at| u64::from(half(&bytes, at)));
        Item { job, blocks, first, place }
    }

    fn job(&self, number: u64) -> Job {
        let bytes = self.model.read_at(self.jobs + 128 * number, 128);
        let (aad_at, aad_bytes) = (self.arena + word(&bytes, 80), word(&bytes, 88));
        let iv_at = aad_at + aad_bytes.next_multiple_of(16);
        let read = |at, bytes| if bytes > 0 { self.model.read_at(at, bytes) } else { Vec::new() };
        Job {
            number,
            input: word(&bytes, 0),
            output: word(&bytes, 8),
            length: word(&bytes, 16),
            mode: half(&bytes, 24),
            key: bytes[32..48].try_into().expect("16 bytes"),
            iv: bytes[64..80].try_into().expect("16 bytes"),
            aad: read(aad_at, aad_bytes),
            long_iv: read(iv_at, half(&bytes, 116).into()),
            tag: bytes[96..96 + half(&bytes, 112) as usize].to_vec(),
            sequences: half(&bytes, 120),
        }
    }

    fn row(&self, job: u64, row: u64) -> u64 {
        assert!(job < self.session_count);
        self.sessions + 16 * (row * self.session_count + job)
    }

    fn block(&self, job: u64, row: u64) -> [u8; 16] {
        self.model.read_at(self.row(job, row), 16).try_into().expect("16 bytes")
    }

    /// Makes a session; the key in place of the round keys.
    fn open(&self, number: u64) {
        let job = self.job(number);
        for row in 0..ROWS {
            self.model.write_at(self.row(number, row), &job.key);
        }
        let mut counter = job.iv;
        if job.mode >= 6 {
            let mut h = [0; 16];
            toy(&job.key, Direction::Encrypt, &mut h);
            let hash = u128::from_be_bytes(h);
            if !job.long_iv.is_empty() {
                counter = whole_hash(hash, &[], &job.long_iv).to_be_bytes();
            }
            let mut mask = counter;
            toy(&job.key, Direction::Encrypt, &mut mask);
            self.model.write_at(self.row(number, H_ROW), &h);
            self.model.write_at(self.row(number, MASK_ROW), &mask);
            if job.sequences != NO_SEQUENCES {
                let to = self.sequences + SEQUENCE_BYTES as u64 * u64::from(job.sequences);
                self.model.write_at(to, &[0x77; SEQUENCE_BYTES]);
            }
        }
        self.model.write_at(self.row(number, J0_ROW), &counter);
    }

    /// Where a message is in host memory.
    fn ends(&self, number: u64) -> [u64; 2] {
        let bytes = self.model.read_at(self.ends + 16 * number, 16);
        [word(&bytes, 0), word(&bytes, 8)]
    }

    fn gather(&self, number: u64) {
        let (job, [from, _]) = (self.job(number), self.ends(number));
        if job.length > 0 {
            let data = self.model.read_at(from, job.length);
            self.model.write_at(self.input + job.input, &data);
        }
    }

    fn scatter(&self, number: u64) {
        let (job, [_, to]) = (self.job(number), self.ends(number));
        if job.length > 0 && !self.is_refused(&job) {
            let data = self.model.read_at(self.output + job.output, job.length);
            self.model.write_at(to, &data);
        }
    }

    /// Whether a message's tag was found wrong.
    fn is_refused(&self, job: &Job) -> bool {
        job.mode == 7 && self.model.read_at(self.results + 16 * job.number, 1) != [1]
    }

    /// Bytes of the item's message: where they start in it, and how many.
    fn bytes(item: &Item, job: &Job) -> (u64, u64) {
        let start = 16 * item.first;
        (start, (16 * item.blocks).min(job.length - start))
    }

    fn hash(&self, item: &Item, is_without_h: bool) {
        let job = self.job(item.job);
        let h = u128::from_be_bytes(self.block(item.job, H_ROW));
        let mut sum = if item.first == 0 { hash_of(h, 0, &job.aad) } else { 0 };
        let (start, length) = Self::bytes(item, &job);
        let data = match job.mode {
            6 => self.output + job.output + start,
            _ => self.input + job.input + start,
        };
        if length > 0 {
            sum = hash_of(h, sum, &self.model.read_at(data, length));
        }
        if item.place == u64::from(u32::MAX) {
            return self.conclude(&job, times(sum ^ lengths(&job.aad, job.length), h));
        }
        // What times H is the sum: H has an inverse, H^(2^128 - 2).
        if is_without_h {
            let squares = (1..128).scan(h, |square, _| {
                *square = times(*square, *square);
                Some(*square)
            });
            sum = squares.fold(sum, times);
        }
        self.model.write_at(self.sums + 16 * item.place, &sum.to_be_bytes());
    }

    fn finish(&self, item: &Item, piece: u64, flags: u64) {
        let job = self.job(item.job);
        let h = u128::from_be_bytes(self.block(item.job, H_ROW));
        let sum_at = |i: u64| {
            let bytes = self.model.read_at(self.sums + 16 * (item.place + i), 16);
            u128::from_be_bytes(bytes.try_into().expect("16 bytes"))
        };
        let factor = power(h, piece);
        let mut sum = (0..item.blocks).fold(0, |sum, i| times(sum, factor) ^ sum_at(i));
        if flags == 1 {
            sum = times(sum, h);
        }
        self.conclude(&job, times(sum ^ lengths(&job.aad, job.length), h));
    }

    fn conclude(&self, job: &Job, hash: u128) {
        let tag = xor(&hash.to_be_bytes(), &self.block(job.number, MASK_ROW));
        let mut result = [0; 16];
        match job.mode {
            6 => result.copy_from_slice(&tag),
            _ => result[0] = u8::from(tag[..job.tag.len()] == job.tag),
        }
        self.model.write_at(self.results + 16 * job.number, &result);
    }

    fn run(&self, job: &Job, direction: Direction, block: &[u8]) -> Vec<u8> {
        let mut block = block.to_vec();
        toy(&self.block(job.number, 0), direction, &mut block);
        block
    }

    fn crypt(&self, item: &Item) {
        let job = self.job(item.job);
        if self.is_refused(&job) {
            return;
        }
        let (start, length) = Self::bytes(item, &job);
        let data = self.model.read_at(self.input + job.input + start, length);
        let mut first = self.block(item.job, J0_ROW);
        if job.mode >= 6 {
            first = lanecrypt_core::modes::gcm::counter(&first, 0);
        }
        let blocks = data.chunks(16).enumerate().map(|(i, block)| {
            if job.mode == 0 {
                return self.run(&job, Direction::Encrypt, block);
            }
            let number = u128::from(item.first) + i as u128;
            let first = Counter::from(first);
            let next = if job.mode == 2 { first.plus(number) } else { first.plus32(number) };
            let mut counter = [0; 16];
            next.fill(&mut counter);
            xor(block, &self.run(&job, Direction::Encrypt, &counter))
        });
        let result: Vec<u8> = blocks.flatten().collect();
        self.model.write_at(self.output + job.output + start, &result);
    }

    fn decrypt(&self, item: &Item) {
        let job = self.job(item.job);
        let (start, length) = Self::bytes(item, &job);
        let data = self.model.read_at(self.input + job.input + start, length);
        let mut before = self.model.read_at(self.sums + 16 * item.place, 16);
        for (i, block) in (0..).zip(data.chunks(16)) {
            let mut result = self.run(&job, Direction::Decrypt, block);
            if job.mode == 5 {
                result = xor(&result, &before);
            }
            self.model.write_at(self.output + job.output + start + 16 * i, &result);
            before = block.to_vec();
        }
    }

    fn chain(&self, item: &Item) {
        let job = self.job(item.job);
        let mut before = job.iv.to_vec();
        for i in 0..item.blocks {
            let block = self.model.read_at(self.input + job.input + 16 * i, 16);
            before = self.run(&job, Direction::Encrypt, &xor(&block, &before));
            self.model.write_at(self.output + job.output + 16 * i, &before);
        }
    }
}

/// The hash after `sum` of a string that is filled up with zeros.
fn hash_of(h: u128, sum: u128, data: &[u8]) -> u128 {
    data.chunks(16).fold(sum, |sum, piece| {
        let mut block = [0; 16];
        block[..piece.len()].copy_from_slice(piece);
        times(sum ^ u128::from_be_bytes(block), h)
    })
}

fn lengths(aad: &[u8], length: u64) -> u128 {
    (aad.len() as u128 * 8) << 64 | (u128::from(length) * 8)
}

fn whole_hash(h: u128, aad: &[u8], data: &[u8]) -> u128 {
    let sum = hash_of(h, hash_of(h, 0, aad), data);
    times(sum ^ lengths(aad, data.len() as u64), h)
}
