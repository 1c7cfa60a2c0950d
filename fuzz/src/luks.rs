//! Headers of LUKS over any bytes, and over any metadata under a right checksum.

use std::{io, sync::Mutex};

use lanecrypt_luks::{DerivationLimits, Disk, Header, Storage};
use sha2::{Digest, Sha256};

/// Little work, whatever a header asks for.
const LIMITS: DerivationLimits = DerivationLimits {
    argon2_memory_kib: 64,
    argon2_passes: 2,
    argon2_total_kib: 512,
    pbkdf2_iterations: 100,
    pbkdf2_total_iterations: 400,
};

/// Bytes of a header of LUKS2 with its metadata.
const HEADER: usize = 0x4000;
/// Where its metadata begins.
const METADATA: usize = 0x1000;
/// Bytes behind the headers, for key slots and a disk.
const REST: usize = 0x20000;

/// Memory as a storage.
struct Memory(Mutex<Vec<u8>>);

impl Memory {
    fn part<R>(
        &self,
        offset: u64,
        bytes: usize,
        work: impl FnOnce(&mut [u8]) -> R,
    ) -> io::Result<R> {
        let mut all = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = start.checked_add(bytes).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(work(all.get_mut(start..end).ok_or(io::ErrorKind::UnexpectedEof)?))
    }
}

impl Storage for Memory {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.lock().map_err(|_| io::ErrorKind::Other)?.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.part(offset, buffer.len(), |part| buffer.copy_from_slice(part))
    }

    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.part(offset, data.len(), |part| part.copy_from_slice(data))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Whatever a header says, reading it gives a header that makes sense or a typed error, and what opens is read and written
/// within its container. An input that begins with a brace is metadata of LUKS2, and gets its checksum.
///
/// # Panics
/// Where that does not hold.
pub fn luks(input: &[u8]) {
    let mut container =
        if input.first() == Some(&b'{') { with_metadata(input) } else { input.to_vec() };
    container.resize(container.len().max(2 * HEADER) + REST, 0);
    let storage = Memory(Mutex::new(container));
    match Header::read(&storage) {
        Ok(header) => {
            assert!([1, 2].contains(&header.version()));
            let sector = header.sector_bytes();
            assert!(sector.is_power_of_two() && (512..=4096).contains(&sector), "{sector}");
        }
        Err(error) => assert!(error.to_string().len() < 1000, "an error repeats the input"),
    }
    if let Ok(disk) = Disk::open(storage, b"open sesame", &LIMITS) {
        let mut data = vec![0; disk.bytes().min(5000) as usize];
        disk.read_at(&mut data, 0).expect("it is within the disk");
        disk.write_at(&data, disk.bytes() - data.len() as u64).expect("likewise");
    }
}

/// A header of LUKS2 with this metadata.
fn with_metadata(metadata: &[u8]) -> Vec<u8> {
    let mut header = vec![0; HEADER];
    header[..8].copy_from_slice(b"LUKS\xba\xbe\x00\x02");
    header[8..16].copy_from_slice(&(HEADER as u64).to_be_bytes());
    header[16..24].copy_from_slice(&7_u64.to_be_bytes());
    header[72..78].copy_from_slice(b"sha256");
    let bytes = metadata.len().min(HEADER - METADATA);
    header[METADATA..][..bytes].copy_from_slice(&metadata[..bytes]);
    let checksum = Sha256::digest(&header);
    header[448..480].copy_from_slice(&checksum);
    header
}
