//! What runs under valgrind: one backend, with its key and its data undefined.
//!
//! Memcheck then reports every branch and every address that depends on either. Lengths, counters
//! and what the engine makes of them stay defined: they are public.

use anyhow::{Context, Result, ensure};
use lanecrypt::{
    Ccm, Chains, ConstantTime, Direction, Engine, Gcm, GcmSiv, SerialMode,
    aes::{Aes128, Aes256},
    cipher::{InOutBuf, KeyInit},
    modes,
    registry::{Backend, CipherDescription, Platform},
};

use crate::ffi;

/// Which memory is undefined.
#[derive(Clone, Copy)]
struct Secret {
    name: &'static str,
    key: bool,
    data: bool,
}

const BOTH: Secret = Secret { name: "key and data", key: true, data: true };
const KEY: Secret = Secret { name: "key", key: true, data: false };
const DATA: Secret = Secret { name: "data", key: false, data: true };

/// A mode over an engine.
type ModePass<'a> = &'a dyn Fn(&dyn Engine, InOutBuf<'_, '_, u8>) -> Result<(), lanecrypt::Error>;

/// Bytes at the end of a message that do not fill a block.
const PARTIAL: usize = 5;
/// Bytes of a tag of GCM.
const TAG_BYTES: usize = 16;

/// Numbers of blocks on the CPU: single blocks, tails, batches of 32 and 64, batches with a tail.
const MOST_BLOCKS: usize = 70;

/// Which trials run fewer, for reports.
pub(crate) const REDUCED: &str = "reduced: host-* ran one block, or, where they claim to be \
                                  constant-time, with the longest key a thread block's worth \
                                  and three more; CPU backends ran every \
                                  number from 1 to 70 with the longest key, and one, two and a \
                                  batch and one more with the others, and of CBC and CFB \
                                  decryption, XTS and GCM one, a batch and one more, and 70";

/// Numbers of blocks that a trial of the backend runs under a key: all where the key is the longest,
/// since what a number decides does not depend on the key's length. A launch of a kernel takes all
/// threads of a thread block through the whole cipher, so kernels run with the longest key alone, which has all rounds of
/// the others: a whole run with a tail, whatever counter it starts at. One block shows what those do that claim nothing.
fn block_counts(backend: &Backend, is_longest_key: bool) -> Vec<usize> {
    let lanes = backend.lanes;
    let is_claimed = backend.constant_time == ConstantTime::Yes;
    match (backend.platform, is_longest_key) {
        (Platform::CudaOnHost, _) if !is_claimed => vec![1],
        (Platform::CudaOnHost, true) => vec![lanes + 3],
        (Platform::CudaOnHost, false) => vec![],
        (_, false) => vec![1, 2, lanes + 1],
        (_, true) => {
            let around = [lanes - 1, lanes, lanes + 1, lanes + 5, 2 * lanes + 5];
            let more = around.into_iter().filter(|&count| count > MOST_BLOCKS);
            (1..=MOST_BLOCKS).chain(more).collect()
        }
    }
}

/// Runs a backend and prints what memcheck found: a line `trips` for every step that it reported
/// errors in, and `done` at the end. Of a backend that claims nothing the first such step is enough,
/// with the key undefined and with the data undefined.
///
/// # Errors
/// Where valgrind does not run this; the engine's errors; results that are not undefined, although
/// all they are made of is.
pub(crate) fn run(cipher: &CipherDescription, backend: &Backend) -> Result<()> {
    ensure!(ffi::is_under_valgrind(), "a trial runs under valgrind, on x86-64 alone");
    if let Err(reason) = (backend.available)() {
        println!("unavailable\t{reason}");
        return Ok(());
    }
    let secrets: &[Secret] = match backend.constant_time {
        ConstantTime::Yes => &[BOTH],
        ConstantTime::No(_) => &[KEY, DATA],
    };
    let mut steps = 0;
    for &secret in secrets {
        let setting = Setting { cipher, backend, secret };
        let mut trial = Trial { setting, steps: 0, tripped: false };
        trial.run()?;
        steps += trial.steps;
    }
    println!("done\t{steps}");
    Ok(())
}

/// What a trial runs, and over what.
#[derive(Clone, Copy)]
struct Setting<'a> {
    cipher: &'a CipherDescription,
    backend: &'a Backend,
    secret: Secret,
}

/// A trial, and what came of it so far.
struct Trial<'a> {
    setting: Setting<'a>,
    steps: usize,
    tripped: bool,
}

impl Trial<'_> {
    fn run(&mut self) -> Result<()> {
        let setting = self.setting;
        let longest = setting.cipher.key_bytes.iter().max();
        for key_bytes in setting.cipher.key_bytes {
            let name = format!("key schedule, {key_bytes} bytes");
            let engine = self.step(&name, || setting.engine(*key_bytes))?;
            let is_longest = Some(key_bytes) == longest;
            for blocks in block_counts(setting.backend, is_longest) {
                for direction in Direction::BOTH {
                    let name = format!("ECB {direction}, {blocks} blocks");
                    self.step(&name, || setting.ecb(&*engine, direction, blocks))?;
                }
                let name = format!("CTR, {blocks} blocks and {PARTIAL} bytes");
                self.step(&name, || setting.ctr(&*engine, blocks))?;
                if self.is_enough() {
                    return Ok(());
                }
            }
            if setting.backend.platform == Platform::Cpu {
                self.modes(&*engine)?;
                self.gcm_siv(*key_bytes)?;
            }
        }
        Ok(())
    }

    /// What engines have ways of their own for, and GCM, whose hash is no cipher's.
    fn modes(&mut self, engine: &dyn Engine) -> Result<()> {
        let setting = self.setting;
        let iv = noise(setting.cipher.block_bytes);
        let lanes = setting.backend.lanes;
        for blocks in [1, lanes + 1, MOST_BLOCKS] {
            let bytes = blocks * setting.cipher.block_bytes;
            let mut over = |name: &str, length, mode: ModePass<'_>| {
                let name = format!("{name}, {blocks} blocks");
                self.step(&name, || setting.over(length, |data| mode(engine, data.into())))
            };
            over("CBC decryption", bytes, &|engine, data| modes::cbc_decrypt(engine, &iv, data))?;
            over("CFB decryption", bytes, &|engine, data| modes::cfb_decrypt(engine, &iv, data))?;
            for mode in [SerialMode::Cbc, SerialMode::Cfb, SerialMode::Ofb] {
                let name = format!("messages of two blocks side by side in {mode:?}");
                over(&name, 3 * bytes, &|engine, mut data| {
                    let (registers, texts) = data.get_out().split_at_mut(bytes);
                    let texts = texts.chunks_exact_mut(2 * engine.block_bytes());
                    let mut texts: Vec<_> = texts.map(InOutBuf::from).collect();
                    let bytes = 0..2 * engine.block_bytes();
                    engine.run_chains(Chains { texts: &mut texts, registers, bytes, mode })
                })?;
            }
            if setting.cipher.block_bytes != 16 {
                continue;
            }
            for direction in Direction::BOTH {
                over(&format!("XTS {direction}"), bytes + PARTIAL, &|engine, data| {
                    modes::xts(engine, engine, &iv, direction, data)
                })?;
            }
            // The tag, too, must be undefined. An IV of 12 bytes: see the claim of `Gcm`.
            over("GCM encryption", bytes + PARTIAL + TAG_BYTES, &|engine, mut data| {
                let length = data.len() - TAG_BYTES;
                let (message, mut tag) = data.reborrow().split_at(length);
                Gcm::<&dyn Engine>::of(engine)?.encrypt(&iv[..12], &iv, message, tag.get_out())
            })?;
            over("CCM encryption", bytes + PARTIAL + TAG_BYTES, &|engine, mut data| {
                let length = data.len() - TAG_BYTES;
                let (message, mut tag) = data.reborrow().split_at(length);
                Ccm::<&dyn Engine>::of(engine)?.encrypt(&iv[..12], &iv, message, tag.get_out())
            })?;
            self.verdicts(engine, bytes + PARTIAL)?;
        }
        Ok(())
    }

    /// Decryption of a message that is right, with a tag of which nothing is known: whether it is right is public, and
    /// the only branch. A comparison that ended at the first difference would branch at every byte.
    fn verdicts(&mut self, engine: &dyn Engine, bytes: usize) -> Result<()> {
        if !self.setting.is_claimed() {
            return Ok(());
        }
        let gcm = Gcm::<&dyn Engine>::of(engine)?;
        let ccm = Ccm::<&dyn Engine>::of(engine)?;
        let (iv, aad) = (&[7; 12], &[1, 2, 3]);
        let mut tag = [0; TAG_BYTES];
        let mut message = noise(bytes);
        gcm.encrypt(iv, aad, message.as_mut_slice().into(), &mut tag)?;
        let name = format!("GCM decryption, {bytes} bytes");
        self.verdict(&name, || {
            opened(message, tag, |data, tag| gcm.decrypt(iv, aad, data.into(), tag))
        })?;
        let mut message = noise(bytes);
        ccm.encrypt(iv, aad, message.as_mut_slice().into(), &mut tag)?;
        let name = format!("CCM decryption, {bytes} bytes");
        self.verdict(&name, || {
            opened(message, tag, |data, tag| ccm.decrypt(iv, aad, data.into(), tag))
        })
    }

    /// GCM-SIV, beside the backend that is the type that users name: every message has keys of its own.
    fn gcm_siv(&mut self, key_bytes: usize) -> Result<()> {
        let setting = self.setting;
        let is_of_users = setting.cipher.name == "aes" && setting.backend.id == "default";
        if !is_of_users || key_bytes == 24 {
            return Ok(());
        }
        let key = setting.key(key_bytes);
        for blocks in [1, MOST_BLOCKS, 10 * MOST_BLOCKS] {
            let length = blocks * setting.cipher.block_bytes + PARTIAL + TAG_BYTES;
            let encrypt =
                |data: &mut [u8]| {
                    let (message, tag) = data.split_at_mut(length - TAG_BYTES);
                    let (nonce, aad) = (&[7; 12], &[1, 2, 3]);
                    let made =
                        match key_bytes {
                            16 => GcmSiv::from(Aes128::new_from_slice(&key).expect("16 bytes"))
                                .encrypt(nonce, aad, message.into()),
                            _ => GcmSiv::from(Aes256::new_from_slice(&key).expect("32 bytes"))
                                .encrypt(nonce, aad, message.into()),
                        };
                    tag.copy_from_slice(&made?);
                    Ok(())
                };
            let name = format!("GCM-SIV encryption, {blocks} blocks");
            self.step(&name, || setting.over(length, encrypt))?;
        }
        Ok(())
    }

    /// Whether a backend that claims nothing has tripped.
    fn is_enough(&self) -> bool {
        self.tripped && !self.setting.is_claimed()
    }

    /// Does `work` and prints the errors that memcheck found in it.
    fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = ffi::errors();
        let result = work().with_context(|| name.to_owned())?;
        self.count(name, ffi::errors() - before);
        Ok(result)
    }

    /// Does `work`, which branches once on what is secret: on a verdict.
    fn verdict(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let before = ffi::errors();
        work().with_context(|| name.to_owned())?;
        let errors = ffi::errors() - before;
        ensure!(errors > 0, "{name}: memcheck did not see the verdict: it was blind");
        self.count(name, errors - 1);
        Ok(())
    }

    fn count(&mut self, name: &str, errors: usize) {
        self.steps += 1;
        if errors > 0 && !self.is_enough() {
            self.tripped = true;
            println!("trips\t{}: {errors} in {name}", self.setting.secret.name);
        }
    }
}

impl Setting<'_> {
    fn is_claimed(&self) -> bool {
        self.backend.constant_time == ConstantTime::Yes
    }

    fn key(&self, bytes: usize) -> Vec<u8> {
        let mut key = noise(bytes);
        if self.secret.key {
            ffi::make_undefined(&mut key);
        }
        key
    }

    fn engine(&self, key_bytes: usize) -> Result<Box<dyn Engine>> {
        Ok((self.backend.create)(&self.key(key_bytes))?)
    }

    fn ecb(&self, engine: &dyn Engine, direction: Direction, blocks: usize) -> Result<()> {
        self.over(blocks * self.cipher.block_bytes, |data| engine.ecb(direction, data.into()))
    }

    fn ctr(&self, engine: &dyn Engine, blocks: usize) -> Result<()> {
        // Carries out of its last byte, and starts inside a run of every kernel.
        let mut counter = vec![0xff; self.cipher.block_bytes];
        counter[0] = 1;
        let length = blocks * self.cipher.block_bytes + PARTIAL;
        self.over(length, |data| engine.ctr(&counter, data.into()))
    }

    /// Runs `work` over this number of bytes, undefined where the trial says so. What a constant-time
    /// backend makes of them must be undefined too: otherwise memcheck lost sight of them.
    fn over(
        &self,
        length: usize,
        work: impl FnOnce(&mut [u8]) -> Result<(), lanecrypt::Error>,
    ) -> Result<()> {
        let mut data = noise(length);
        if self.secret.data {
            ffi::make_undefined(&mut data);
        }
        work(&mut data)?;
        let is_undefined = ffi::is_undefined(&data);
        ffi::make_defined(&mut data);
        let is_blind = self.is_claimed() && !is_undefined;
        ensure!(!is_blind, "memcheck takes the result for defined: it was blind");
        ensure!(data != noise(length), "the data is as it was");
        Ok(())
    }
}

/// Runs `open` over a right message with its tag, both undefined.
fn opened(
    mut message: Vec<u8>,
    mut tag: [u8; TAG_BYTES],
    open: impl FnOnce(&mut [u8], &[u8]) -> Result<(), lanecrypt::Error>,
) -> Result<()> {
    ffi::make_undefined(&mut message);
    ffi::make_undefined(&mut tag);
    open(&mut message, &tag)?;
    ffi::make_defined(&mut message);
    ensure!(message == noise(message.len()), "another plaintext");
    Ok(())
}

/// Bytes that all differ from their neighbours.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i as u8).wrapping_mul(0x6d) ^ 0x35).collect()
}
