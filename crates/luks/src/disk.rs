//! The disk within a container: bytes at any offset, for any number of threads.

use std::{
    fmt,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt::{Direction, cipher::InOutBuf};
use rayon::{ThreadPool, prelude::*};
use zeroize::Zeroizing;

use crate::{
    DerivationLimits, Error, Header, Storage,
    claims::{Access, Claims},
    sectors::{Sectors, TWEAK_BYTES},
    threads,
};

/// Bytes that are read and decrypted, or encrypted and written, while they are in a core's cache; a
/// multiple of every sector. Requests of two such pieces and more run on several threads.
const PIECE: usize = 256 << 10;
const LONGEST_SECTOR: usize = 4096;

/// The disk in a LUKS container, open: what is read is decrypted, what is written is encrypted.
///
/// Requests need not be whole sectors: the sectors at their ends are then read, changed and written, and no
/// other request touches them meanwhile. So requests of many threads lose nothing of one another, as long as
/// no other program writes to the container. Long requests run on threads of the crate's own; those of one of
/// rayon's workers run on that worker, since rayon has its threads busy then. A write that is cut off by a
/// loss of power leaves all sectors as they were but those that it was to change.
///
/// The volume key is cleared when the disk is dropped.
pub struct Disk<S> {
    storage: S,
    /// Where it begins in the storage.
    offset: u64,
    bytes: u64,
    sectors: Sectors,
    claims: Claims,
    /// For ciphertext on its way to the storage.
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl<S: Storage> Disk<S> {
    /// Opens the container that `storage` is.
    ///
    /// # Errors
    /// Those of [`Header::read`]; [`Error::Detached`] where the disk of this header lies elsewhere;
    /// [`Error::NoSlotOpens`], [`Error::Limit`]; [`Error::Truncated`] where the disk does not fit.
    pub fn open(storage: S, passphrase: &[u8], limits: &DerivationLimits) -> Result<Self, Error> {
        let header = Header::read(&storage)?;
        let (offset, end) = (header.payload.offset, header.end);
        if offset < end {
            return Err(Error::Detached { offset, end });
        }
        let key = header.volume_key(&storage, passphrase, limits)?;
        Self::new(&header, &key, storage)
    }

    /// Opens a container whose header lies elsewhere: in `header`.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for [`Error::Detached`].
    pub fn open_detached<H: Storage + ?Sized>(
        header: &H,
        storage: S,
        passphrase: &[u8],
        limits: &DerivationLimits,
    ) -> Result<Self, Error> {
        let read = Header::read(header)?;
        let key = read.volume_key(header, passphrase, limits)?;
        Self::new(&read, &key, storage)
    }

    fn new(header: &Header, key: &[u8], storage: S) -> Result<Self, Error> {
        let payload = &header.payload;
        let sectors =
            Sectors::new(&payload.cipher, key, payload.sector_bytes, payload.first_tweak)?;
        let found = storage.bytes().map_err(Error::storage("measure"))?;
        let what = "the disk";
        let end = payload.offset.saturating_add(payload.bytes.unwrap_or(0));
        if end > found {
            return Err(Error::Truncated { what, end, found });
        }
        let sector = payload.sector_bytes;
        // A disk that ends where the container does ends with its last whole sector, as for the kernel.
        let to_the_end = (found - payload.offset) / u64::from(sector) * u64::from(sector);
        let bytes = payload.bytes.unwrap_or(to_the_end);
        if !bytes.is_multiple_of(sector.into()) {
            let what = format!("the disk's {bytes} bytes are not whole sectors of {sector}");
            return Err(Error::Damaged(what));
        }
        let tweaks = payload.first_tweak.checked_add(bytes / TWEAK_BYTES);
        tweaks.ok_or_else(|| Error::damaged("the disk's tweaks pass 2^64"))?;
        let buffers = Mutex::default();
        let claims = Claims::default();
        Ok(Self { storage, offset: payload.offset, bytes, sectors, claims, buffers })
    }

    /// Bytes of the disk, a multiple of its sectors.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a sector. Requests of whole sectors are the fastest.
    pub fn sector_bytes(&self) -> usize {
        self.sectors.sector_bytes()
    }

    /// What the container lies on.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Fills `buffer` with the disk's bytes from `offset` on.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] before anything is read; the storage's. The buffer is unspecified then.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let _held = self.claims.hold(Access::Read, self.sectors_of(offset, buffer.len())?);
        let (head, whole) = self.parts(offset, buffer.len());
        let (head, rest) = buffer.split_at_mut(head);
        let (whole, tail) = rest.split_at_mut(whole);
        let after_head = offset + head.len() as u64;
        let after_whole = after_head + whole.len() as u64;
        self.read_part(head, offset)?;
        self.read_sectors(whole, after_head)?;
        self.read_part(tail, after_whole)
    }

    /// Writes `data` from `offset` on. It survives a loss of power after the next [`sync`](Self::sync).
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] before anything is written; the storage's. What the range holds is
    /// unspecified then.
    pub fn write_at(&self, data: &[u8], offset: u64) -> Result<(), Error> {
        let _held = self.claims.hold(Access::Write, self.sectors_of(offset, data.len())?);
        let (head, whole) = self.parts(offset, data.len());
        let (head, rest) = data.split_at(head);
        let (whole, tail) = rest.split_at(whole);
        let after_head = offset + head.len() as u64;
        let after_whole = after_head + whole.len() as u64;
        self.write_part(head, offset)?;
        self.write_sectors(whole, after_head)?;
        self.write_part(tail, after_whole)
    }

    /// Returns when all that was written before, by any thread, will survive a loss of power.
    ///
    /// # Errors
    /// The storage's.
    pub fn sync(&self) -> Result<(), Error> {
        self.storage.sync().map_err(Error::storage("sync"))
    }

    /// The numbers of the sectors of a request.
    fn sectors_of(&self, offset: u64, bytes: usize) -> Result<Range<u64>, Error> {
        let end = u128::from(offset) + bytes as u128;
        if end > u128::from(self.bytes) {
            return Err(Error::OutOfBounds { offset, end, disk: self.bytes });
        }
        let sector = self.sector_bytes() as u64;
        Ok(offset / sector..(end as u64).div_ceil(sector))
    }

    /// Bytes of a request before its first whole sector, and bytes of whole sectors.
    fn parts(&self, offset: u64, bytes: usize) -> (usize, usize) {
        let sector = self.sector_bytes();
        let before = (offset % sector as u64) as usize;
        let head = if before == 0 { 0 } else { bytes.min(sector - before) };
        (head, (bytes - head) / sector * sector)
    }

    /// Reads a part of one sector.
    fn read_part(&self, part: &mut [u8], offset: u64) -> Result<(), Error> {
        if part.is_empty() {
            return Ok(());
        }
        self.with_sector(offset, |_, sector, at| {
            part.copy_from_slice(&sector[at..at + part.len()]);
            Ok(())
        })
    }

    /// Changes a part of one sector.
    fn write_part(&self, part: &[u8], offset: u64) -> Result<(), Error> {
        if part.is_empty() {
            return Ok(());
        }
        self.with_sector(offset, |start, sector, at| {
            sector[at..at + part.len()].copy_from_slice(part);
            self.sectors.run(Direction::Encrypt, start, (&mut *sector).into())?;
            self.store(sector, start)
        })
    }

    /// Decrypts the sector that has the byte `offset`, and hands `work` where it begins, its bytes, and which
    /// of them that byte is.
    fn with_sector(
        &self,
        offset: u64,
        work: impl FnOnce(u64, &mut [u8], usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut sector = Zeroizing::new([0; LONGEST_SECTOR]);
        let sector = &mut sector[..self.sector_bytes()];
        let at = offset % sector.len() as u64;
        self.read_piece(sector, offset - at)?;
        work(offset - at, sector, at as usize)
    }

    fn read_sectors(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let read = |(i, piece): (usize, &mut [u8])| self.read_piece(piece, nth(offset, i));
        match threads_for(buffer.len()) {
            Some(pool) => {
                pool.install(|| buffer.par_chunks_mut(PIECE).enumerate().try_for_each(read))
            }
            None => buffer.chunks_mut(PIECE).enumerate().try_for_each(read),
        }
    }

    fn write_sectors(&self, data: &[u8], offset: u64) -> Result<(), Error> {
        let write = |(i, piece): (usize, &[u8])| self.write_piece(piece, nth(offset, i));
        match threads_for(data.len()) {
            Some(pool) => pool.install(|| data.par_chunks(PIECE).enumerate().try_for_each(write)),
            None => data.chunks(PIECE).enumerate().try_for_each(write),
        }
    }

    fn read_piece(&self, piece: &mut [u8], offset: u64) -> Result<(), Error> {
        let read = self.storage.read_exact_at(piece, self.offset + offset);
        read.map_err(Error::storage("read"))?;
        self.sectors.run(Direction::Decrypt, offset, piece.into())
    }

    fn write_piece(&self, piece: &[u8], offset: u64) -> Result<(), Error> {
        // One that is lost to an error is made anew.
        let mut buffer = self.lock_buffers().pop().unwrap_or_else(|| vec![0; PIECE]);
        let ciphertext = &mut buffer[..piece.len()];
        let (input, output) = (piece.len(), ciphertext.len());
        let both = InOutBuf::new(piece, &mut *ciphertext)
            .map_err(|_| lanecrypt::Error::OutputLength { input, output })?;
        self.sectors.run(Direction::Encrypt, offset, both)?;
        self.store(ciphertext, offset)?;
        self.lock_buffers().push(buffer);
        Ok(())
    }

    /// Writes ciphertext of whole sectors.
    fn store(&self, ciphertext: &[u8], offset: u64) -> Result<(), Error> {
        let written = self.storage.write_all_at(ciphertext, self.offset + offset);
        written.map_err(Error::storage("write"))
    }

    fn lock_buffers(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the piece of number `i` begins, of pieces from `offset` on.
fn nth(offset: u64, i: usize) -> u64 {
    offset + (i * PIECE) as u64
}

/// The threads for a request of `bytes` bytes, if it is worth them.
fn threads_for(bytes: usize) -> Option<&'static ThreadPool> {
    if bytes < 2 * PIECE { None } else { threads::for_pieces() }
}

impl<S> fmt::Debug for Disk<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, sectors, .. } = self;
        f.debug_struct("Disk")
            .field("bytes", bytes)
            .field("sectors", sectors)
            .finish_non_exhaustive()
    }
}
