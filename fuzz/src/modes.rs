//! The modes over engines of any block and chunk size, against the modes as the standards read.

use arbitrary::{Arbitrary, Unstructured};
use lanecrypt_core::{Direction, Engine as _, Error, cipher::InOutBuf, modes as ours};
use lanecrypt_reference::modes as naive;

use crate::toy::Toy;

/// The longest input, over three scratch buffers of the stack.
const LONGEST: usize = 3 * ours::STACK_CHUNK + 40;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Mode {
    Ctr,
    Ctr32,
    Cbc,
    Cfb,
    Ofb,
    Xts,
}

/// One run of a mode.
#[derive(Debug)]
struct Case {
    mode: Mode,
    direction: Direction,
    engine: Toy,
    tweak_engine: Toy,
    iv: Vec<u8>,
    data: Vec<u8>,
}

impl Case {
    fn read(input: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let mode = input.arbitrary()?;
        let direction = *input.choose(&Direction::BOTH)?;
        let mut engine = || {
            let block_bytes = match input.int_in_range(0..=3)? {
                0 => 8,
                1 => input.int_in_range(1..=40)?,
                _ => 16,
            };
            let chunk_bytes = input.int_in_range(0..=2 * LONGEST)?;
            Ok(Toy { block_bytes, chunk_bytes, key: input.arbitrary()? })
        };
        let (engine, tweak_engine) = (engine()?, engine()?);
        let length = match input.int_in_range(0..=7)? {
            0 => input.int_in_range(0..=40)?,
            _ => engine.block_bytes,
        };
        let iv = (0..length).map(|_| input.arbitrary()).collect::<Result<_, _>>()?;
        // Most lengths are whole blocks, for CBC takes no others.
        let length = input.int_in_range(0..=LONGEST)?;
        let is_whole = input.ratio(3_u8, 4_u8)?;
        let length = length - if is_whole { length % engine.block_bytes } else { 0 };
        let seed: u8 = input.arbitrary()?;
        let data = (0..length).map(|i| (i as u8).wrapping_mul(29) ^ (i >> 8) as u8 ^ seed);
        Ok(Self { mode, direction, engine, tweak_engine, iv, data: data.collect() })
    }

    fn ours(&self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        match (self.mode, self.direction) {
            (Mode::Ctr, _) => self.engine.ctr(&self.iv, data),
            (Mode::Cbc, Direction::Encrypt) => ours::cbc_encrypt(&self.engine, &self.iv, data),
            (Mode::Ctr32, _) => ours::ctr32(&self.engine, &self.iv, data),
            (Mode::Cbc, Direction::Decrypt) => ours::cbc_decrypt(&self.engine, &self.iv, data),
            (Mode::Cfb, Direction::Encrypt) => ours::cfb_encrypt(&self.engine, &self.iv, data),
            (Mode::Cfb, Direction::Decrypt) => ours::cfb_decrypt(&self.engine, &self.iv, data),
            (Mode::Ofb, _) => ours::ofb(&self.engine, &self.iv, data),
            (Mode::Xts, _) => {
                ours::xts(&self.engine, &self.tweak_engine, &self.iv, self.direction, data)
            }
        }
    }

    /// What the definition makes of the data; nothing where it refuses it.
    fn naive(&self) -> Option<Vec<u8>> {
        let mut data = self.data.clone();
        let (cipher, tweak_cipher, iv) = (&self.engine, &self.tweak_engine, &self.iv[..]);
        let result = match (self.mode, self.direction) {
            (Mode::Ctr, _) => naive::ctr(cipher, iv, &mut data),
            (Mode::Cbc, Direction::Encrypt) => naive::cbc_encrypt(cipher, iv, &mut data),
            (Mode::Ctr32, _) => naive::ctr32(cipher, iv, &mut data),
            (Mode::Cbc, Direction::Decrypt) => naive::cbc_decrypt(cipher, iv, &mut data),
            (Mode::Cfb, Direction::Encrypt) => naive::cfb_encrypt(cipher, iv, &mut data),
            (Mode::Cfb, Direction::Decrypt) => naive::cfb_decrypt(cipher, iv, &mut data),
            (Mode::Ofb, _) => naive::ofb(cipher, iv, &mut data),
            (Mode::Xts, Direction::Encrypt) => {
                naive::xts_encrypt(cipher, tweak_cipher, iv, &mut data)
            }
            (Mode::Xts, Direction::Decrypt) => {
                naive::xts_decrypt(cipher, tweak_cipher, iv, &mut data)
            }
        };
        result.ok().map(|()| data)
    }
}

/// A mode gives what its definition gives, in place and out of place, however the engine likes its
/// data cut; or an error where the definition refuses, or where the block is neither 8 nor 16
/// bytes.
///
/// # Panics
/// Where that does not hold.
pub fn modes(input: &[u8]) {
    let Ok(case) = Case::read(&mut Unstructured::new(input)) else {
        return;
    };
    let expected = case.naive();
    let may_refuse = expected.is_none() || ![8, 16].contains(&case.engine.block_bytes);
    let mut in_place = case.data.clone();
    let result = case.ours(in_place.as_mut_slice().into());
    let mut out_of_place = vec![0xa5; case.data.len()];
    let buffers = InOutBuf::new(&case.data, &mut out_of_place).expect("both are equally long");
    let second = case.ours(buffers);
    assert_eq!(result.is_ok(), second.is_ok(), "in place {result:?}, out of place {second:?}");
    if let Err(error) = result {
        assert!(may_refuse, "{error}: {case:?}");
        return;
    }
    let Some(expected) = expected else { panic!("accepted: {case:?}") };
    assert!(in_place == expected, "in place: {case:?}");
    assert!(out_of_place == expected, "out of place: {case:?}");
}
