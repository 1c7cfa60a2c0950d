//! Known answers: an algorithm shows that it gives them before a program gets its first context.

use std::iter;

use lanecrypt::{
    Direction, Mode,
    self_test::{KnownAnswer, known_answers},
};

use crate::{Algorithm, Context, EvpMode, Reason, Transfer, Value};

/// XTS by GB/T 17964-2021 with a stolen end (OpenSSL, `evpciph_sm4.txt`); `vectors/` has that of IEEE 1619.
const XTS_OF_GB: KnownAnswer = KnownAnswer {
    mode: Mode::Xts,
    key: b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4\xf3\xf2\xf1\xf0\
        \xbf\xbe\xbd\xbc\xbb\xba\xb9\xb8\xb7\xb6\xb5\xb4\xb3\xb2\xb1\xb0",
    iv: b"\x9a\x78\x56\x34\x12\0\0\0\0\0\0\0\0\0\0\0",
    aad: b"",
    plaintext: b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10",
    ciphertext: b"\x9e\x52\x44\x3a\x35\x41\x0c\xa0\xba\x56\x37\xb9\x4c\x07\x66\xf4\x69",
    tag: b"",
};

impl Algorithm {
    /// Runs the known answers of the algorithm through contexts, in both directions, and remembers the result.
    ///
    /// # Errors
    /// [`Reason::SelfTest`].
    pub fn self_test(&'static self) -> Result<(), Reason> {
        let has_passed = self.passed.get_or_init(|| self.gives_known_answers() == Some(true));
        if *has_passed { Ok(()) } else { Err(Reason::SelfTest) }
    }

    /// `None` where there are no answers.
    fn gives_known_answers(&'static self) -> Option<bool> {
        let answers = known_answers(self.cipher).filter(|answer| {
            answer.mode == self.mode.whole_blocks() && answer.key.len() == self.key_bytes
        });
        // What a context has unless it is told otherwise comes last.
        let (standard, by_default) = if self.has_xts_of_gb() {
            (Some(&b"IEEE"[..]), Some((&XTS_OF_GB, None)))
        } else {
            (None, None)
        };
        let answers = answers.map(|answer| (answer, standard)).chain(by_default);
        let given = |(answer, standard): (&KnownAnswer, Option<&[u8]>)| {
            Direction::BOTH.map(|direction| self.gives(answer, standard, direction) == Ok(true))
                == [true; 2]
        };
        answers.map(given).min() // false where one answer is not given
    }

    /// Whether a context gives an answer: of CFB by bytes and bits, the first of each; of XTS by a standard.
    fn gives(
        &'static self,
        answer: &KnownAnswer,
        standard: Option<&[u8]>,
        direction: Direction,
    ) -> Result<bool, Reason> {
        let (bytes, mask) = match self.mode {
            EvpMode::Cfb8 => (1, 0xff),
            EvpMode::Cfb1 => (1, 0x80),
            _ => (answer.plaintext.len(), 0xff),
        };
        let (input, expected) = match direction {
            Direction::Encrypt => (answer.plaintext, answer.ciphertext),
            Direction::Decrypt => (answer.ciphertext, answer.plaintext),
        };
        let mut context = self.started(answer, direction)?;
        let calls = context.calls();
        if let Some(standard) = standard {
            calls.set(b"xts_standard", Value::Text(standard))?;
        }
        let mut output = vec![0; bytes + answer.iv.len()];
        let mut data = Transfer::out_of_place(&input[..bytes], &mut output);
        if calls.counts_bits() {
            data = data.of_bits(1);
        }
        calls.update(&mut data)?;
        drop(data);
        calls.finish(&mut Transfer::out_of_place(&[], &mut []))?;
        let is_given = iter::zip(&output, &expected[..bytes]).all(|(a, b)| (a ^ b) & mask == 0);
        let has_tag = self.mode.is_authenticated() && direction == Direction::Encrypt;
        let tag_is_given =
            !has_tag || calls.get(b"tag", answer.tag.len())? == Some(Value::Bytes(answer.tag));
        Ok(is_given && tag_is_given)
    }

    /// A context with everything that comes before the data.
    fn started(
        &'static self,
        answer: &KnownAnswer,
        direction: Direction,
    ) -> Result<Context, Reason> {
        let mut context = Context::new(self);
        let calls = context.calls();
        calls.init(direction, Some(answer.key), None)?;
        if self.mode.is_of_blocks() {
            calls.set(b"padding", Value::Number(0))?;
        }
        if self.mode.is_authenticated() {
            calls.set(b"ivlen", Value::Number(answer.iv.len() as u64))?;
            match direction {
                Direction::Decrypt => calls.set(b"tag", Value::Bytes(answer.tag))?,
                Direction::Encrypt if self.mode == EvpMode::Ccm => {
                    calls.set(b"tag", Value::Absent(answer.tag.len()))?;
                }
                Direction::Encrypt => {}
            }
        }
        calls.init(direction, None, (self.mode != EvpMode::Ecb).then_some(answer.iv))?;
        if self.mode == EvpMode::Ccm {
            calls.announce(answer.plaintext.len())?;
        }
        if !answer.aad.is_empty() {
            calls.associate(answer.aad)?;
        }
        Ok(context)
    }
}

impl EvpMode {
    /// The mode over whole blocks.
    fn whole_blocks(self) -> Mode {
        match self {
            Self::Ecb => Mode::Ecb,
            Self::Cbc => Mode::Cbc,
            Self::Cfb | Self::Cfb8 | Self::Cfb1 => Mode::Cfb,
            Self::Ofb => Mode::Ofb,
            Self::Ctr => Mode::Ctr,
            Self::Gcm => Mode::Gcm,
            Self::Ccm => Mode::Ccm,
            Self::Xts => Mode::Xts,
        }
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt::{
        Engine, Error, Operation,
        cipher::InOutBuf,
        registry::{Backend, CipherDescription},
    };

    use std::sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::{ALGORITHMS, algorithm::ciphers::ARIA};

    #[test]
    fn every_algorithm_has_answers_and_gives_them() {
        for algorithm in &ALGORITHMS {
            assert_eq!(algorithm.gives_known_answers(), Some(true), "{:?}", algorithm.names);
            assert_eq!(algorithm.self_test(), Ok(()));
        }
    }

    /// A cipher of which the first byte of every call is wrong.
    #[derive(Debug)]
    struct Wrong(Box<dyn Engine>);

    impl Engine for Wrong {
        fn block_bytes(&self) -> usize {
            self.0.block_bytes()
        }

        fn run(&self, run: Operation<'_>, mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
            self.0.run(run, data.reborrow())?;
            data.get_out().first_mut().into_iter().for_each(|byte| *byte ^= 0x80);
            Ok(())
        }
    }

    static WRONG: CipherDescription = CipherDescription {
        backends: &[Backend {
            id: "default",
            create: |key| Ok(Box::new(Wrong((ARIA.backends[0].create)(key)?))),
            family: None,
            ..ARIA.backends[0]
        }],
        ..ARIA
    };

    #[test]
    fn a_wrong_cipher_passes_in_no_mode() {
        let of_aria = ALGORITHMS.iter().filter(|algorithm| algorithm.cipher.name == "aria");
        let mut modes = Vec::new();
        for &Algorithm { names, properties, key_bytes, mode, .. } in of_aria {
            let passed = OnceLock::new();
            let wrong = Algorithm { names, properties, cipher: &WRONG, key_bytes, mode, passed };
            let wrong: &'static Algorithm = Box::leak(Box::new(wrong));
            assert_eq!(wrong.self_test(), Err(Reason::SelfTest), "{names:?}");
            modes.push(mode);
        }
        modes.dedup();
        assert!(modes.len() >= 9, "{modes:?}");
    }

    /// Keys that were set of [`COUNTED`].
    static KEYS: AtomicUsize = AtomicUsize::new(0);

    static COUNTED: CipherDescription = CipherDescription {
        backends: &[Backend {
            id: "default",
            create: |key| {
                KEYS.fetch_add(1, Ordering::SeqCst);
                (ARIA.backends[0].create)(key)
            },
            family: None,
            ..ARIA.backends[0]
        }],
        ..ARIA
    };

    /// As those that contexts of OpenSSL have: each is a static of its own, beside the list.
    #[test]
    fn an_algorithm_is_tested_once() {
        static ALGORITHM: Algorithm = Algorithm {
            names: c"A",
            properties: c"",
            cipher: &COUNTED,
            key_bytes: 16,
            mode: EvpMode::Ctr,
            passed: OnceLock::new(),
        };
        assert_eq!(ALGORITHM.self_test(), Ok(()));
        let keys = KEYS.load(Ordering::SeqCst);
        assert!(keys > 0);
        assert_eq!(ALGORITHM.self_test(), Ok(()));
        assert_eq!(KEYS.load(Ordering::SeqCst), keys);
    }
}
