//! Containers of cryptsetup and qemu-img, in both directions.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use libtest_mimic::Failed;
use tempfile::TempDir;

use crate::{
    CRYPTSETUP, NBDCOPY, QEMU,
    client::Client,
    server::{Server, run},
};

pub(crate) const PASSPHRASE: &str = "a passphrase";
/// Bytes of the disks, and what cryptsetup takes for its header.
pub(crate) const DISK: usize = 4 << 20;
const HEADER: &str = "16M";
const CONTAINER: u64 = (DISK as u64) + (16 << 20);

/// Derivations that take no time.
const ARGON2ID: &[&str] = &["--pbkdf=argon2id", "--pbkdf-memory=64", "--pbkdf-force-iterations=4"];
const ARGON2I: &[&str] = &["--pbkdf=argon2i", "--pbkdf-memory=64", "--pbkdf-force-iterations=4"];
const SHA256: &[&str] = &["--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000"];
const SHA512: &[&str] = &["--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000", "--hash=sha512"];
const SHA1: &[&str] = &["--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000", "--hash=sha1"];
const BITS_256: &str = "--key-size=256";
const BITS_512: &str = "--key-size=512";

/// LUKS2 in all that it may choose.
const LUKS2: [(&[&str], &str, &str); 6] = [
    (ARGON2ID, BITS_512, "--sector-size=512"),
    (ARGON2ID, BITS_256, "--sector-size=4096"),
    (ARGON2I, BITS_512, "--sector-size=2048"),
    (SHA256, BITS_256, "--sector-size=512"),
    (SHA512, BITS_512, "--sector-size=4096"),
    (SHA1, BITS_512, "--sector-size=1024"),
];

/// A folder with a file that has the passphrase.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("passphrase"), PASSPHRASE)?;
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A new file of zeros.
    pub(crate) fn zeros(&self, name: &str, bytes: u64) -> Result<PathBuf, Failed> {
        let path = self.file(name);
        File::create(&path)?.set_len(bytes)?;
        Ok(path)
    }

    pub(crate) fn cryptsetup(&self, arguments: &[&str]) -> Result<Command, Failed> {
        let mut command = CRYPTSETUP.command()?;
        command.args(["--batch-mode", "--key-file"]).arg(self.file("passphrase"));
        command.current_dir(self.path()).args(arguments);
        Ok(command)
    }

    /// An empty container of LUKS2 that is quickly made.
    pub(crate) fn luks2(&self, name: &str) -> Result<PathBuf, Failed> {
        let path = self.zeros(name, CONTAINER)?;
        run(self.cryptsetup(&["luksFormat", "--type=luks2"])?.args(SHA256).arg(&path))?;
        Ok(path)
    }

    /// Serves a container.
    pub(crate) fn serve(&self, container: &Path) -> Result<Server, Failed> {
        let passphrase = format!("passphrase=+{}", self.file("passphrase").display());
        Server::start(self.path(), &[format!("file={}", container.display()), passphrase])
    }

    /// All of the disk in a container, as nbdcopy gets it.
    fn read(&self, container: &Path) -> Result<Vec<u8>, Failed> {
        let (server, copy) = (self.serve(container)?, self.file("copy"));
        run(NBDCOPY.command()?.arg(server.address()).arg(&copy))?;
        Ok(fs::read(copy)?)
    }

    /// Decrypts a container of LUKS2 by cryptsetup, in place.
    pub(crate) fn decrypt(&self, container: &Path) -> Result<Vec<u8>, Failed> {
        let options = ["reencrypt", "--decrypt", "--force-offline-reencrypt", "--header=exported"];
        run(self.cryptsetup(&options)?.arg(container))?;
        fs::remove_file(self.file("exported"))?;
        Ok(fs::read(container)?)
    }

    fn qemu(&self, arguments: &[&str]) -> Result<Command, Failed> {
        let mut command = QEMU.command()?;
        let secret = format!("secret,id=secret,file={}", self.file("passphrase").display());
        command.args([arguments[0], "--object", &secret]).args(&arguments[1..]);
        Ok(command)
    }

    /// An empty container of LUKS1 by qemu-img.
    pub(crate) fn luks1(
        &self,
        name: &str,
        [cipher, mode, iv]: [&str; 3],
        size: &str,
    ) -> Result<PathBuf, Failed> {
        let path = self.file(name);
        let options = format!(
            "key-secret=secret,cipher-alg={cipher},cipher-mode={mode},ivgen-alg={iv},iter-time=10"
        );
        run(self.qemu(&["create", "-f", "luks", "-o", &options])?.arg(&path).arg(size))?;
        Ok(path)
    }

    /// The disk in a container of LUKS1, as qemu-img reads it.
    fn read_by_qemu(&self, container: &Path) -> Result<Vec<u8>, Failed> {
        let copy = self.file("copy of qemu");
        run(self
            .qemu(&["convert", "-O", "raw"])?
            .args(["--image-opts", &options_of_qemu(container)])
            .arg(&copy))?;
        Ok(fs::read(copy)?)
    }
}

/// A container of LUKS1, as qemu's programs name it.
pub(crate) fn options_of_qemu(container: &Path) -> String {
    format!("driver=luks,key-secret=secret,file.filename={}", container.display())
}

/// Numbers that look random (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

/// That two disks are the same; a failure says where not.
pub(crate) fn same(ours: &[u8], expected: &[u8], what: &str) -> Result<(), Failed> {
    let differs = ours.iter().zip(expected).position(|(ours, expected)| ours != expected);
    match differs {
        Some(at) => Err(format!("{what}: byte {at} differs").into()),
        None if ours.len() < expected.len() => Err(format!("{what}: it is too short").into()),
        None => Ok(()),
    }
}

/// Writes by nbdcopy, then in odd places, and gives what the disk should hold.
fn write_to(server: &Server, folder: &Folder, seed: u64) -> Result<Vec<u8>, Failed> {
    let mut random = Random(seed);
    let mut model = random.bytes(DISK);
    let plain = folder.file("plain");
    fs::write(&plain, &model)?;
    run(NBDCOPY.command()?.args(["--flush"]).arg(&plain).arg(server.address()))?;
    let mut client = Client::connect(server)?;
    for length in [1, 15, 511, 512, 513, 4095, 4096, 4097, 70_001, 600_000] {
        let at = random.below((DISK - length) as u64);
        let data = random.bytes(length);
        client.write(at, &data)?;
        model[at as usize..][..length].copy_from_slice(&data);
    }
    client.zero(12_345, 6_789)?;
    model[12_345..][..6_789].fill(0);
    let end = model.len() - 7;
    client.write_through(end as u64, b"the end")?;
    model[end..].copy_from_slice(b"the end");
    Ok(model)
}

pub(crate) fn reads_what_cryptsetup_encrypted() -> Result<(), Failed> {
    for (i, (derivation, bits, sector)) in LUKS2.into_iter().enumerate() {
        let folder = Folder::new()?;
        let (path, plain) = (folder.file("container"), Random(i as u64).bytes(DISK));
        fs::write(&path, &plain)?;
        File::options().write(true).open(&path)?.set_len(CONTAINER)?;
        run(folder
            .cryptsetup(&["reencrypt", "--encrypt", "--type=luks2", bits, sector])?
            .args(["--reduce-device-size", HEADER])
            .args(derivation)
            .arg(&path))?;
        same(&folder.read(&path)?, &plain, &format!("{derivation:?} {bits} {sector}"))?;
    }
    Ok(())
}

pub(crate) fn cryptsetup_decrypts_what_was_written() -> Result<(), Failed> {
    for (i, (derivation, bits, sector)) in LUKS2.into_iter().enumerate() {
        let folder = Folder::new()?;
        let path = folder.zeros("container", CONTAINER)?;
        run(folder
            .cryptsetup(&["luksFormat", "--type=luks2", bits, sector])?
            .args(derivation)
            .arg(&path))?;
        let server = folder.serve(&path)?;
        let model = write_to(&server, &folder, i as u64)?;
        drop(server);
        let what = format!("{derivation:?} {bits} {sector}");
        same(&folder.read(&path)?[..DISK], &model, &what)?;
        same(&folder.decrypt(&path)?[..DISK], &model, &what)?;
    }
    Ok(())
}

pub(crate) fn qemu_and_this_read_one_another() -> Result<(), Failed> {
    for (cipher, seed) in [
        (["aes-128", "xts", "plain64"], 1),
        (["aes-256", "xts", "plain64"], 2),
        (["aes-128", "cbc", "plain64"], 3),
        (["aes-256", "cbc", "essiv,ivgen-hash-alg=sha256"], 4),
    ] {
        let folder = Folder::new()?;
        let path = folder.luks1("container", cipher, &DISK.to_string())?;
        let plain = folder.file("of qemu");
        let written = Random(seed).bytes(DISK);
        fs::write(&plain, &written)?;
        run(folder
            .qemu(&["convert", "-n", "-f", "raw"])?
            .arg(&plain)
            .args(["--target-image-opts", &options_of_qemu(&path)]))?;
        same(&folder.read(&path)?, &written, "what qemu wrote")?;
        let server = folder.serve(&path)?;
        let model = write_to(&server, &folder, seed)?;
        drop(server);
        same(&folder.read_by_qemu(&path)?, &model, "what qemu reads")?;
    }
    Ok(())
}

pub(crate) fn opens_luks1_of_cryptsetup() -> Result<(), Failed> {
    for (i, derivation) in [SHA1, SHA256, SHA512].into_iter().enumerate() {
        let folder = Folder::new()?;
        let path = folder.zeros("container", CONTAINER)?;
        run(folder
            .cryptsetup(&["luksFormat", "--type=luks1", BITS_512])?
            .args(derivation)
            .arg(&path))?;
        let server = folder.serve(&path)?;
        let model = write_to(&server, &folder, i as u64)?;
        drop(server);
        same(&folder.read_by_qemu(&path)?, &model, "what qemu reads")?;
    }
    Ok(())
}

pub(crate) fn opens_detached_headers() -> Result<(), Failed> {
    for (version, derivation) in [("--type=luks2", ARGON2ID), ("--type=luks1", SHA256)] {
        let folder = Folder::new()?;
        let path = folder.zeros("disk", DISK as u64)?;
        let header = folder.zeros("header", 16 << 20)?;
        run(folder
            .cryptsetup(&["luksFormat", version, "--header=header"])?
            .args(derivation)
            .arg(&path))?;
        let parameters = [
            format!("file={}", path.display()),
            format!("header={}", header.display()),
            format!("key-file={}", folder.file("passphrase").display()),
        ];
        let server = Server::start(folder.path(), &parameters)?;
        let mut client = Client::connect(&server)?;
        if client.bytes != DISK as u64 {
            return Err(format!("a disk of {} bytes", client.bytes).into());
        }
        client.write(4095, b"across a sector")?;
        same(&client.read(4095, 15)?, b"across a sector", version)?;
        drop(server);
        // What lies at the start of the file is ciphertext now, and no header.
        let written = fs::read(&path)?;
        if written[..8192].iter().all(|&byte| byte == 0) || written[8192..].iter().any(|&b| b != 0)
        {
            return Err(format!("{version}: other sectors were written").into());
        }
    }
    Ok(())
}
