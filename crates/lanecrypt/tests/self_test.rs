//! Self-tests: every backend gives the known answers, and one that is wrong in a single mode is found.

use lanecrypt::{
    CIPHERS, Direction, Engine, Error, Mode, Operation,
    cipher::InOutBuf,
    registry::{Backend, CipherDescription, Platform},
    self_test::{self, known_answers},
};

/// Modes of every cipher, and of those with blocks of 16 bytes.
const MODES: [Mode; 5] = [Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Cfb, Mode::Ofb];
const WIDE: [Mode; 2] = [Mode::Xts, Mode::Gcm];

#[test]
fn every_cipher_has_answers_in_every_mode() {
    for cipher in CIPHERS {
        let has = |mode: Mode, key_bytes: usize| {
            known_answers(cipher).any(|known| known.mode == mode && known.key.len() == key_bytes)
        };
        for &key_bytes in cipher.key_bytes {
            // Triple encryption under two keys is known as one block of ECB.
            let is_single = cipher.name == "tdes-eee" && key_bytes == 16;
            for mode in MODES {
                let is_known = !is_single || matches!(mode, Mode::Ecb | Mode::Cfb | Mode::Ofb);
                assert_eq!(has(mode, key_bytes), is_known, "{} {mode} {key_bytes}", cipher.name);
            }
        }
        if cipher.block_bytes == 16 {
            for mode in WIDE {
                let any = known_answers(cipher).any(|known| known.mode == mode);
                assert!(any, "{} in {mode}", cipher.name);
            }
        }
    }
}

#[test]
fn every_backend_of_this_cpu_gives_them() {
    let mut count = 0;
    for cipher in CIPHERS {
        let expected = known_answers(cipher).count();
        let here =
            |backend: &&Backend| backend.platform == Platform::Cpu && (backend.available)().is_ok();
        for backend in cipher.backends.iter().filter(here) {
            assert_eq!(self_test::of(cipher, backend), Ok(expected));
            count += expected;
        }
        assert_eq!(self_test::once(cipher), Ok(()));
        assert_eq!(self_test::once(cipher), Ok(()), "remembered");
    }
    assert!(count > 500, "{count} answers");
}

/// What an engine under test does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Encryption,
    Decryption,
    Counters,
}

/// An engine with a wrong bit at the end of what it makes.
#[derive(Debug)]
struct Wrong(Box<dyn Engine>, Fault);

impl Engine for Wrong {
    fn block_bytes(&self) -> usize {
        self.0.block_bytes()
    }

    fn run(&self, run: Operation<'_>, mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let is_wrong = match run {
            Operation::Ecb(Direction::Encrypt) => self.1 == Fault::Encryption,
            Operation::Ecb(Direction::Decrypt) => self.1 == Fault::Decryption,
            Operation::Ctr(_) => self.1 == Fault::Counters,
            _ => return lanecrypt::modes::by_ecb(self, run, data),
        };
        self.0.run(run, data.reborrow())?;
        if is_wrong && let Some(byte) = data.get_out().last_mut() {
            *byte ^= 1;
        }
        Ok(())
    }
}

fn wrong<const FAULT: usize>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    let engine = (lanecrypt::aes::AES.backends[0].create)(key)?;
    let faults = [Fault::Encryption, Fault::Decryption, Fault::Counters];
    Ok(Box::new(Wrong(engine, faults[FAULT])))
}

#[test]
fn what_is_wrong_is_named() {
    let of_aes: &CipherDescription = &lanecrypt::aes::AES;
    let tested = |create| {
        let backend = Backend { id: "wrong", create, family: None, ..of_aes.backends[0] };
        self_test::of(of_aes, &backend).expect_err("it is wrong")
    };
    let encrypts = tested(wrong::<0>);
    assert_eq!((encrypts.cipher, encrypts.backend), ("aes", "wrong"));
    assert_eq!(encrypts.direction, Direction::Encrypt);
    let decrypts = tested(wrong::<1>);
    assert_eq!(decrypts.direction, Direction::Decrypt);
    let counts = tested(wrong::<2>);
    assert!(matches!(counts.mode, Mode::Ctr | Mode::Gcm | Mode::Ccm), "{counts}");
    assert!(counts.to_string().contains("not the known one"), "{counts}");
    let refuses = tested(|_| Err(Error::NotAuthentic));
    assert!(refuses.said.is_none(), "{refuses}");
    let short = tested(|key| (of_aes_reference())(&key[1..]));
    assert!(short.said.as_ref().is_some_and(|said| said.contains("15 bytes")), "{short}");
}

fn of_aes_reference() -> lanecrypt::registry::Create {
    lanecrypt::aes::AES.backends[0].create
}
