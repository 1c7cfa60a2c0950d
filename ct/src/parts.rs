//! What runs under valgrind beside backends: segments of sealed files, contexts of OpenSSL's provider and LUKS containers,
//! with keys, passphrases, data and tags undefined.

mod luks;

use anyhow::{Context as _, Result, ensure};
use lanecrypt::{ConstantTime, Direction};
use lanecrypt_openssl_provider::{ALGORITHMS, Algorithm, Context, EvpMode, Transfer, Value};
use lanecrypt_tink::{Header, SegmentCipher, StreamingKey, Template};

use crate::{ffi, trial::noise};

/// Bytes of a message: some blocks, and a part of one where the mode takes it.
const BYTES: usize = 80;
/// Bytes of a tag of GCM and CCM.
const TAG_BYTES: usize = 16;

/// A part.
pub(crate) struct Part {
    /// Its name on command lines and in reports.
    pub(crate) name: String,
    /// Whether it claims to be constant-time; where not, the name of the steps that must trip, and they alone.
    pub(crate) claim: ConstantTime,
    run: Run,
}

/// Runs a part.
type Run = Box<dyn Fn(&mut Steps) -> Result<()> + Sync + Send>;

/// All parts.
pub(crate) fn all() -> Vec<Part> {
    let sealed = [Template::Aes128GcmHkdf4Kb, Template::Aes256CtrHmacSha2564Kb];
    let sealed = sealed.map(|template| Part {
        name: format!("sealed-files/{template}"),
        claim: ConstantTime::Yes,
        run: Box::new(move |steps| segments(template, steps)),
    });
    // One cipher with every mode: another one's are the same code over another backend. ARIA has no XTS there.
    let is_run = |algorithm: &&Algorithm| match (algorithm.cipher.name, algorithm.mode) {
        ("aria", _) => algorithm.key_bytes == 16,
        (_, EvpMode::Xts) => algorithm.key_bytes == 32,
        _ => false,
    };
    let provider = ALGORITHMS.iter().filter(is_run).map(|algorithm| {
        let mode = format!("{:?}", algorithm.mode).to_lowercase();
        let name = match algorithm.mode {
            EvpMode::Xts => format!("provider/{mode}-{}", algorithm.cipher.name),
            _ => format!("provider/{mode}"),
        };
        let run: Run = Box::new(move |steps| context(algorithm, steps));
        Part { name, claim: ConstantTime::Yes, run }
    });
    sealed.into_iter().chain(provider).chain(luks::parts()).collect()
}

/// Runs the part of this name and prints what memcheck found, as a trial of a backend does.
///
/// # Errors
/// Where valgrind does not run this; those of the part.
pub(crate) fn run(name: &str) -> Result<()> {
    ensure!(ffi::is_under_valgrind(), "a trial runs under valgrind, on x86-64 alone");
    let parts = all();
    let part = parts.iter().find(|part| part.name == name);
    let mut steps = Steps(0);
    (part.with_context(|| format!("there is no part {name}"))?.run)(&mut steps)?;
    println!("done\t{}", steps.0);
    Ok(())
}

/// The steps so far.
struct Steps(usize);

impl Steps {
    /// Does `work`, in which this many branches on secrets are of public verdicts, all of which memcheck must see.
    fn step<T>(
        &mut self,
        name: &str,
        verdicts: usize,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let before = ffi::errors();
        let result = work().with_context(|| name.to_owned())?;
        let errors = ffi::errors() - before;
        ensure!(errors >= verdicts, "{name}: memcheck did not see the verdict: it was blind");
        if errors > verdicts {
            println!("trips\tkey and data: {} in {name}", errors - verdicts);
        }
        self.0 += 1;
        Ok(result)
    }
}

/// Secret bytes.
fn secret(length: usize) -> Vec<u8> {
    let mut bytes = noise(length);
    ffi::make_undefined(&mut bytes);
    bytes
}

/// HKDF, and a segment there and back.
fn segments(template: Template, steps: &mut Steps) -> Result<()> {
    let parameters = template.parameters();
    let mut header = noise(parameters.header_bytes());
    header[0] = header.len() as u8;
    let header = Header::parse(&parameters, &header).context("a header")?;
    let cipher = steps.step("derived keys", 0, || {
        let key = StreamingKey::new(parameters, secret(32).into())?;
        Ok(SegmentCipher::new(&key, header, b"associated data")?)
    })?;
    let mut text = secret(BYTES + 5);
    let mut tag = vec![0; cipher.layout().tag_bytes() as usize];
    steps.step("a segment is sealed", 0, || {
        Ok(cipher.seal_segment(3, true, &mut text, &mut tag)?)
    })?;
    ensure!(ffi::is_undefined(&tag), "memcheck takes the tag for defined: it was blind");
    steps.step("a segment is opened", 1, || Ok(cipher.open_segment(3, true, &mut text, &tag)?))?;
    ffi::make_defined(&mut text);
    ensure!(text == noise(text.len()), "another plaintext");
    Ok(())
}

/// A message there and back by the calls of a provider.
fn context(algorithm: &'static Algorithm, steps: &mut Steps) -> Result<()> {
    let whole = if algorithm.mode.is_of_blocks() { BYTES } else { BYTES + 5 };
    let mut message = secret(whole);
    let mut tag = [0; TAG_BYTES];
    for direction in Direction::BOTH {
        let mut context = Context::new(algorithm);
        let calls = context.calls();
        let has_tag = algorithm.mode.is_authenticated();
        // Whether both keys of AES in XTS are the same is told to all.
        let compares_keys = algorithm.mode == EvpMode::Xts
            && algorithm.cipher.name == "aes"
            && direction == Direction::Encrypt;
        steps.step(&format!("{direction}: a key"), usize::from(compares_keys), || {
            calls.init(direction, Some(&secret(algorithm.key_bytes)), None)?;
            if algorithm.mode.is_of_blocks() {
                calls.set(b"padding", Value::Number(0))?;
            }
            if has_tag && direction == Direction::Decrypt {
                calls.set(b"tag", Value::Bytes(&tag))?;
            } else if algorithm.mode == EvpMode::Ccm {
                calls.set(b"tag", Value::Absent(TAG_BYTES))?;
            }
            let iv_bytes = if algorithm.mode == EvpMode::Ccm { 7 } else { algorithm.iv_bytes() };
            let iv = noise(iv_bytes);
            Ok(calls.init(direction, None, (algorithm.mode != EvpMode::Ecb).then_some(&iv))?)
        })?;
        let verdicts = usize::from(has_tag && direction == Direction::Decrypt);
        steps.step(&format!("{direction}: data"), verdicts, || {
            let bits = 8 * message.len();
            let mut data = Transfer::in_place(&mut message);
            if calls.counts_bits() {
                data = data.of_bits(bits);
            }
            calls.update(&mut data)?;
            drop(data);
            calls.finish(&mut Transfer::out_of_place(&[], &mut []))?;
            if has_tag
                && direction == Direction::Encrypt
                && let Some(Value::Bytes(made)) = calls.get(b"tag", TAG_BYTES)?
            {
                tag.copy_from_slice(made);
            }
            Ok(())
        })?;
        ensure!(ffi::is_undefined(&message), "memcheck takes the text for defined: it was blind");
    }
    ffi::make_defined(&mut message);
    ensure!(message == noise(whole), "another plaintext");
    Ok(())
}
