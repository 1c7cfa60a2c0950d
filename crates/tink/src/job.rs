//! Files sealed in parts, by many processes or hosts, with one header that was drawn once.
//!
//! A part is a pure function of key, header, associated data and the source's bytes there: one that is
//! done twice is written twice with the same bytes. But another plaintext under the same header would
//! reveal the difference of both, and allow forgeries: so a job knows what its source was, and a source
//! that has changed since is refused. What cannot be noticed is a file that is written through a
//! shared memory mapping: do not do that while a job runs.
//!
//! ```
//! use lanecrypt_tink::{Keyset, Options, Template, job::SealingJob, open_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let [plain, sealed, opened] = ["plain", "sealed", "opened"].map(|name| folder.path().join(name));
//! # std::fs::write(&plain, vec![7; 3 << 20])?;
//! let keyset = Keyset::generate(Template::default().parameters())?;
//! let job = SealingJob::of_file(&keyset, &plain, b"", 1 << 20)?;
//! job.create(&sealed)?;
//! let everywhere = job.to_json()?; // no secret
//!
//! let job = SealingJob::from_json(&everywhere)?;
//! for part in 0..job.parts() {
//!     job.seal_file_part(&keyset, part, &plain, &sealed, Options::default())?;
//! }
//! job.commit(&sealed)?;
//! open_file(&keyset, &sealed, &opened, Options::default())?;
//! # assert_eq!(std::fs::read(&opened)?, vec![7; 3 << 20]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    fs::{self, File},
    io,
    ops::Range,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use lanecrypt::Direction;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Header, Identity, Keyset, Options, SegmentCipher, Source, TEMPORARY, Target, Version,
    file::{open_regular, set_length, write_header},
    json::{decode, encode, parse, write},
    output::{
        create_named, followed, keep_access, open_to_write, rename, replaced, short_name,
        sync_folder_of,
    },
    source::{check_unchanged, identity},
    transfer::Transfer,
};

const FORMAT: &str = "lanecrypt-job-1";
/// What the folder of receipts ends with.
const RECEIPTS: &str = ".lanecrypt-parts";

/// How a file is sealed in parts. It has no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealingJob {
    format: String,
    key_id: u32,
    header: String,
    associated_data: String,
    source: Identity,
    segment_bytes: u32,
    header_bytes: u32,
    tag_bytes: u32,
    segments_per_part: u64,
}

impl SealingJob {
    /// Draws a header, once for this source, under the keyset's primary key. A part has about
    /// `part_bytes` of sealed data, and a whole number of segments.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::TooLong`], [`Error::Random`].
    pub fn new(
        keyset: &Keyset,
        source: Identity,
        associated_data: &[u8],
        part_bytes: u64,
    ) -> Result<Self, Error> {
        let parameters = *keyset.primary()?.parameters();
        parameters.layout().segments(source.size)?;
        Ok(Self {
            format: FORMAT.to_owned(),
            key_id: keyset.primary_id(),
            header: encode(Header::random(&parameters)?.as_bytes()),
            associated_data: encode(associated_data),
            source,
            segment_bytes: parameters.segment_bytes(),
            header_bytes: parameters.header_bytes() as u32,
            tag_bytes: parameters.tag_bytes() as u32,
            segments_per_part: (part_bytes / u64::from(parameters.segment_bytes())).max(1),
        })
    }

    /// [`new`](Self::new) for a file.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`Error::Io`].
    pub fn of_file(
        keyset: &Keyset,
        source: &Path,
        associated_data: &[u8],
        part_bytes: u64,
    ) -> Result<Self, Error> {
        Self::new(keyset, identity_of_file(source)?, associated_data, part_bytes)
    }

    /// Reads a job.
    ///
    /// # Errors
    /// [`Error::Json`], [`Error::Malformed`].
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let job = parse::<Self>("job", text)?;
        job.check()?;
        Ok(job)
    }

    /// Whether what was read is a job: for those who read it with what they add to it.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn check(&self) -> Result<(), Error> {
        let is_whole = self.format == FORMAT && self.segments_per_part > 0;
        let fits = u64::from(self.segment_bytes)
            > u64::from(self.header_bytes) + u64::from(self.tag_bytes);
        if !is_whole || !fits || self.layout().segments(self.source.size).is_err() {
            return Err(Error::Malformed { what: "not a job of this version" });
        }
        self.header()?;
        self.associated_data()?;
        Ok(())
    }

    /// Writes the job, for those who seal parts.
    ///
    /// # Errors
    /// None that can happen with a job that was made or read here.
    pub fn to_json(&self) -> Result<String, Error> {
        write(self)
    }

    /// The id of the key.
    #[must_use]
    pub fn key_id(&self) -> u32 {
        self.key_id
    }

    /// What the source was when the header was drawn.
    #[must_use]
    pub fn source(&self) -> &Identity {
        &self.source
    }

    /// What the sealed file begins with; no other one does.
    ///
    /// # Errors
    /// None that can happen with a job that was made or read here.
    pub fn header(&self) -> Result<Vec<u8>, Error> {
        decode("the job's header is not base64", &self.header)
    }

    /// What is authenticated with the file.
    ///
    /// # Errors
    /// None that can happen with a job that was made or read here.
    pub fn associated_data(&self) -> Result<Vec<u8>, Error> {
        decode("associated data is not base64", &self.associated_data)
    }

    /// How many parts there are.
    #[must_use]
    pub fn parts(&self) -> u64 {
        self.segments().div_ceil(self.segments_per_part)
    }

    /// Bytes of the whole sealed file.
    #[must_use]
    pub fn sealed_bytes(&self) -> u64 {
        let layout = self.layout();
        self.source.size + layout.header_bytes() + self.segments() * layout.tag_bytes()
    }

    /// Where a part lies in the sealed file; the first has the header, too.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`].
    pub fn sealed_range(&self, part: u64) -> Result<Range<u64>, Error> {
        let Range { start, end } = self.segments_of(part)?;
        let end = self.layout().ciphertext_of(end - 1).end.min(self.sealed_bytes());
        Ok(start * self.layout().segment_bytes()..end)
    }

    /// Where the source has what a part seals.
    ///
    /// # Errors
    /// [`Error::NoSuchPart`].
    pub fn plaintext_range(&self, part: u64) -> Result<Range<u64>, Error> {
        let Range { start, end } = self.segments_of(part)?;
        let end = self.layout().plaintext_of(end - 1).end.min(self.source.size);
        Ok(self.layout().plaintext_of(start).start..end)
    }

    /// Seals a part from any source to its place in any target, by all threads of the runner. The
    /// options' associated data is not looked at: the job has it.
    ///
    /// # Errors
    /// [`Error::SourceChanged`], before anything is written or where it changes meanwhile: what was
    /// written then must not be used, nor be read by anybody. Nothing of a file that has changed is written.
    /// [`Error::NoSuchPart`],
    /// [`Error::NoSuchKey`], [`Error::Cancelled`], [`Error::Io`].
    pub fn seal_part(
        &self,
        keyset: &Keyset,
        part: u64,
        source: &dyn Source,
        target: &dyn Target,
        options: Options<'_>,
    ) -> Result<(), Error> {
        let segments = self.segments_of(part)?;
        self.source.check(&identity(source)?)?;
        let cipher = self.cipher(keyset)?;
        if part == 0 {
            write_header(target, cipher.header())?;
        }
        Transfer {
            direction: Direction::Encrypt,
            cipher: &cipher,
            segments,
            plaintext_bytes: self.source.size,
            source,
            target,
            before: Some(&self.source),
            options,
        }
        .run()?;
        check_unchanged(source, &self.source)
    }

    /// Whether a source is the sealed file of this job: no other file begins with the job's header.
    #[must_use]
    pub fn is_at(&self, sealed: &dyn Source) -> bool {
        let Ok(expected) = self.header() else { return false };
        let mut header = vec![0; expected.len()];
        let is_long = sealed.identity().is_ok_and(|found| found.size == self.sealed_bytes());
        is_long && sealed.read_exact_at(&mut header, 0).is_ok() && header == expected
    }

    fn cipher(&self, keyset: &Keyset) -> Result<SegmentCipher, Error> {
        let key = keyset.key(self.key_id)?;
        if key.parameters().layout() != self.layout() {
            return Err(Error::Malformed {
                what: "the key is not the one that the job was made for",
            });
        }
        let header = Header::parse(key.parameters(), &self.header()?);
        let header =
            header.ok_or(Error::Malformed { what: "the job's header is not for its key" })?;
        SegmentCipher::new(&key, header, &self.associated_data()?)
    }

    fn layout(&self) -> crate::SegmentLayout {
        crate::SegmentLayout::new(
            self.segment_bytes,
            self.header_bytes as usize,
            self.tag_bytes as usize,
        )
    }

    fn segments(&self) -> u64 {
        // A job whose source is too long is not made.
        self.layout().segments(self.source.size).unwrap_or(0)
    }

    fn segments_of(&self, part: u64) -> Result<Range<u64>, Error> {
        if part >= self.parts() {
            return Err(Error::NoSuchPart { part, parts: self.parts() });
        }
        let start = part * self.segments_per_part;
        Ok(start..self.segments().min(start.saturating_add(self.segments_per_part)))
    }
}

/// Files: the output lies beside its target until it is complete, and a receipt for each part with it.
impl SealingJob {
    /// Makes the output, and the folder for receipts.
    ///
    /// # Errors
    /// [`Error::Io`], also where they are there already, and where the target is something else than a file; what was
    /// made is removed then.
    pub fn create(&self, target: &Path) -> Result<(), Error> {
        replaced(&followed(target)?)?;
        let receipts = self.beside(target, RECEIPTS);
        let made = fs::create_dir(&receipts);
        made.map_err(Error::of_io(format!("make {}", receipts.display())))?;
        // The first error is the one that tells.
        let output = create_named(&self.output(target)).inspect_err(|_| {
            self.remove_receipts(target).ok();
        })?;
        let made = set_length(&output, self.sealed_bytes()).and_then(|()| sync_folder_of(target));
        made.inspect_err(|_| {
            self.discard(target).ok();
        })
    }

    /// Seals a part of a file into its place in the output, and leaves a receipt once it is on the disk.
    ///
    /// # Errors
    /// As [`seal_part`](Self::seal_part).
    pub fn seal_file_part(
        &self,
        keyset: &Keyset,
        part: u64,
        source: &Path,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.seal_part_to_file(keyset, part, &open_regular(source)?, target, options)
    }

    /// [`seal_file_part`](Self::seal_file_part) of any source.
    ///
    /// # Errors
    /// As [`seal_part`](Self::seal_part).
    pub fn seal_part_to_file(
        &self,
        keyset: &Keyset,
        part: u64,
        source: &dyn Source,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        let output = open_to_write(&self.output(target))?;
        self.seal_part(keyset, part, source, &output, options)?;
        output.sync_data().map_err(Error::of_io(format!("sync part {part}")))?;
        let receipt = self.receipt(target, part);
        let written = File::create(&receipt).and_then(|receipt| receipt.sync_all());
        written.map_err(Error::of_io(format!("write {}", receipt.display())))?;
        sync_folder_of(&receipt)
    }

    /// The parts that have no receipt yet; none once the job is committed.
    pub fn missing_parts(&self, target: &Path) -> impl Iterator<Item = u64> {
        // The receipts are gone then.
        let parts = if self.is_committed(target) { 0 } else { self.parts() };
        (0..parts).filter(|&part| !self.receipt(target, part).exists())
    }

    /// Whether there is an output that parts can be written to. There is none before [`create`](Self::create), nor
    /// once the job is committed or discarded.
    #[must_use]
    pub fn is_created(&self, target: &Path) -> bool {
        self.output(target).exists()
    }

    /// Whether the target is the sealed file of this job already.
    #[must_use]
    pub fn is_committed(&self, target: &Path) -> bool {
        open_regular(target).is_ok_and(|file| self.is_at(&file))
    }

    /// Puts the output in the place of the target, if all parts are there. A target that is a symbolic link
    /// stays one, and who may read it is kept as [`Output::create`](crate::Output::create) does. Done once more, it
    /// changes nothing.
    ///
    /// # Errors
    /// [`Error::PartsMissing`], [`Error::OutputLength`], [`Error::Io`]: the target is as it was, or the sealed file,
    /// as [`is_committed`](Self::is_committed) tells. Whoever commits must own the output where it would give somebody more
    /// than the target does.
    pub fn commit(&self, target: &Path) -> Result<(), Error> {
        // A call that was killed may have left no more to do than this.
        if self.is_committed(target) {
            sync_folder_of(&followed(target)?)?;
        } else {
            self.put_in_place(target)?;
        }
        self.remove_receipts(target)
    }

    fn put_in_place(&self, target: &Path) -> Result<(), Error> {
        let mut missing = self.missing_parts(target);
        if let Some(first) = missing.next() {
            let missing = 1 + missing.count() as u64;
            return Err(Error::PartsMissing { missing, parts: self.parts(), first });
        }
        // To be read only: a call that was killed may have taken the right to write to it.
        let output = open_regular(&self.output(target))?;
        let (given, expected) = (identity(&output)?.size, self.sealed_bytes());
        if given != expected {
            return Err(Error::OutputLength { given, expected });
        }
        let place = followed(target)?;
        if let Some(old) = replaced(&place)? {
            let kept = keep_access(&output, &old, &place);
            kept.map_err(Error::of_io("set the permissions of the output"))?;
        }
        output.sync_all().map_err(Error::of_io("sync the output"))?;
        rename(&self.output(target), &place)
    }

    /// Removes receipts and output of a job that will not be committed. Its header must not be used
    /// again. Of a job that is committed only receipts can be left: the target stays.
    ///
    /// # Errors
    /// [`Error::Io`], of kind `NotFound` where there is no output, and the job is not committed.
    pub fn discard(&self, target: &Path) -> Result<(), Error> {
        self.remove_receipts(target)?;
        let output = self.output(target);
        match fs::remove_file(&output) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.is_committed(target) => {
                Ok(())
            }
            removed => removed.map_err(Error::of_io(format!("remove {}", output.display()))),
        }
    }

    /// Removes them, as far as an earlier call has not.
    fn remove_receipts(&self, target: &Path) -> Result<(), Error> {
        let receipts = self.beside(target, RECEIPTS);
        match fs::remove_dir_all(&receipts) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(Error::of_io(format!("remove {}", receipts.display()))),
        }
    }

    fn output(&self, target: &Path) -> PathBuf {
        self.beside(target, TEMPORARY)
    }

    fn receipt(&self, target: &Path, part: u64) -> PathBuf {
        self.beside(target, RECEIPTS).join(part.to_string())
    }

    /// A path beside the target, and where that is a symbolic link beside what it names, that no other job has.
    fn beside(&self, target: &Path, suffix: &str) -> PathBuf {
        // Opening a link that leads nowhere is the error.
        let target = followed(target).unwrap_or_else(|_| target.to_owned());
        let name = short_name(&target);
        // The beginning of the salt.
        let header = self.header().unwrap_or_default();
        let id = header.iter().skip(1).take(8).fold(0, |id, &byte| id << 8 | u64::from(byte));
        target.with_file_name(format!(".{name}.{id:016x}{suffix}"))
    }
}

/// What a file is, once its last change is so long ago that another one would have another time:
/// clocks of file systems tick in milliseconds.
///
/// # Errors
/// [`Error::Io`]; [`Error::SourceChanged`] of a file that is written all the time, after ten seconds.
pub fn identity_of_file(path: &Path) -> Result<Identity, Error> {
    settled(&open_regular(path)?, Duration::from_secs(10))
}

fn settled(file: &File, patience: Duration) -> Result<Identity, Error> {
    const TICKS: Duration = Duration::from_millis(100);
    let (start, first) = (Instant::now(), identity(file)?);
    loop {
        let identity = identity(file)?;
        let Version::File { changed, .. } = identity.version else { return Ok(identity) };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_err(|_| io::Error::other("the clock is before 1970"));
        let now = now.map_err(Error::of_io("read the clock"))?;
        let changed = Duration::from_nanos(u64::try_from(changed).unwrap_or(0));
        // A time to come is another clock's: it cannot be waited for.
        if now.checked_sub(changed).is_none_or(|since| since >= TICKS) {
            return Ok(identity);
        }
        if start.elapsed() > patience {
            first.check(&identity)?;
        }
        thread::sleep(TICKS / 10);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        sync::atomic::{AtomicBool, Ordering},
    };

    use super::*;

    #[test]
    fn a_file_that_is_written_all_the_time_is_not_waited_for() {
        let mut file = tempfile::tempfile().unwrap();
        let is_over = AtomicBool::new(false);
        let reader = file.try_clone().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    file.write_all(b"a line\n").unwrap();
                    thread::sleep(Duration::from_millis(5));
                }
            });
            let error = settled(&reader, Duration::from_millis(300)).unwrap_err();
            is_over.store(true, Ordering::Relaxed);
            assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
        });
        settled(&reader, Duration::ZERO).expect("it is waited for a tick");
    }
}
