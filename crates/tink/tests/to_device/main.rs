//! Sealed files straight to memory of a device and back: on the GPU, and on the host build of the kernels.
//!
//! Options are those of libtest.

#[path = "../../../lanecrypt/tests/common/on_devices.rs"]
mod on_devices;
mod runner;

use std::{
    fs,
    io::{self, Read, Write},
    process::ExitCode,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use lanecrypt::cuda::{Device, DeviceBuffer, Limits, PinnedBuffer};
use lanecrypt_tink::{
    Cuda, Error, FromDevice, Hash, Keyset, Opener, Options, Parameters, Scheme, Sealed, Source,
    Template, Writing,
    frames::{self, FrameKey},
    open_file, seal_file,
};
use libtest_mimic::Failed;
use on_devices::{Property, Tried};
use tempfile::TempDir;

const PROPERTIES: [Property; 13] = [
    ("a_runner_of_segments", runner::of_segments),
    ("every_template_at_boundaries", every_template_at_boundaries),
    ("segments_of_any_size", segments_of_any_size),
    ("ranges", ranges),
    ("what_was_changed_is_not_given_out", what_was_changed_is_not_given_out),
    ("memory_at_any_address_is_sealed", memory_at_any_address_is_sealed),
    ("several_parts_at_once", several_parts_at_once),
    ("progress_and_cancelling", progress_and_cancelling),
    ("a_target_stays_where_sealing_fails", a_target_stays_where_sealing_fails),
    ("buffers_and_streams", buffers_and_streams),
    ("what_stays_behind_does_not_open", what_stays_behind_does_not_open),
    ("files_written_in_every_way", files_written_in_every_way),
    ("frames_of_regions", frames_of_regions),
];

fn main() -> ExitCode {
    on_devices::run(&PROPERTIES)
}

fn text(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// A keyset, a text, and the text sealed by the CPU.
struct Case {
    keyset: Keyset,
    text: Vec<u8>,
    folder: TempDir,
}

const DATA: &[u8] = b"about it";

fn options() -> Options<'static> {
    Options { associated_data: DATA, ..Options::default() }
}

impl Case {
    fn new(parameters: Parameters, bytes: u64) -> Result<Self, Failed> {
        let case = Self {
            keyset: Keyset::generate(parameters)?,
            text: text(bytes),
            folder: TempDir::new()?,
        };
        fs::write(case.path("plain"), &case.text)?;
        seal_file(&case.keyset, &case.path("plain"), &case.path("sealed"), options())?;
        Ok(case)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn sealed(&self) -> Result<Sealed<fs::File>, Error> {
        let file = fs::File::open(self.path("sealed")).expect("it was written");
        Sealed::open(file, &self.keyset, DATA)
    }

    /// Opens the sealed text on a device.
    fn open(&self, device: &Device) -> Result<Vec<u8>, Error> {
        read(&Cuda::new(device)?.open_to_device(&self.sealed()?, options())?)
    }

    /// Seals the text on a device, from a certain byte of its memory on, and opens it on the CPU.
    fn seal(&self, device: &Device, start: usize) -> Result<Vec<u8>, Error> {
        let memory = [&vec![0xc5; start][..], &self.text].concat();
        let buffer = DeviceBuffer::from_host(device, &memory).map_err(lanecrypt::Error::from)?;
        let slice = buffer.slice(start..buffer.len()).map_err(lanecrypt::Error::from)?;
        let (sealed, opened) = (self.path("by device"), self.path("opened"));
        Cuda::new(device)?.seal_from_device(&self.keyset, &slice, &sealed, options())?;
        open_file(&self.keyset, &sealed, &opened, options())?;
        Ok(fs::read(opened).expect("it was opened"))
    }
}

fn read(buffer: &DeviceBuffer) -> Result<Vec<u8>, Error> {
    let mut found = vec![0; buffer.len()];
    buffer.read(0, &mut found).map_err(lanecrypt::Error::from)?;
    Ok(found)
}

fn require(is_right: bool, what: impl Into<String>) -> Tried {
    if is_right { Ok(()) } else { Err(what.into().into()) }
}

/// Lets so little memory be used that files have several runs.
fn limit(device: &Device, threads: usize, run_bytes: usize) {
    device.limit_host_memory(Limits { pinned_bytes: 2 * threads * run_bytes, threads });
}

fn every_template_at_boundaries(device: &Device) -> Tried {
    for template in Template::ALL {
        let layout = template.parameters().layout();
        let [first, second] = [0, 1].map(|segment| layout.plaintext_of(segment).end);
        let is_long = layout.segment_bytes() > 1 << 16;
        let lengths =
            if is_long { vec![first + 1] } else { vec![0, 1, first, second, 4 * second + 7] };
        for bytes in lengths.into_iter().flat_map(|end| [end, end.saturating_sub(1)]) {
            let case = Case::new(template.parameters(), bytes)?;
            require(case.open(device)? == case.text, format!("{template}, {bytes}: opened"))?;
            require(case.seal(device, 0)? == case.text, format!("{template}, {bytes}: sealed"))?;
        }
    }
    Ok(())
}

/// Segments at multiples of a block and not, in one run and in several.
fn segments_of_any_size(device: &Device) -> Tried {
    for segment_bytes in [64, 77, 96, 1000, 4096] {
        for (threads, run_bytes) in [(1, 4096), (3, 4096), (2, 16 << 10), (2, 1 << 20)] {
            limit(device, threads, run_bytes);
            let parameters = Parameters::new(Scheme::Gcm, Hash::Sha256, 16, segment_bytes)?;
            let layout = parameters.layout();
            for segments in [0, 1, 2, 20] {
                let bytes = layout.plaintext_of(segments).start + 5;
                let case = Case::new(parameters, bytes)?;
                let what = format!("{bytes} bytes in segments of {segment_bytes}, {run_bytes}");
                require(case.open(device)? == case.text, format!("{what}: opened"))?;
                require(case.seal(device, 0)? == case.text, format!("{what}: sealed"))?;
            }
        }
    }
    Ok(())
}

fn small() -> Result<Parameters, Error> {
    Parameters::new(Scheme::Gcm, Hash::Sha256, 32, 100)
}

fn hmac() -> Result<Parameters, Error> {
    let scheme = Scheme::CtrHmac { hash: Hash::Sha256, tag_bytes: 16 };
    Parameters::new(scheme, Hash::Sha256, 16, 100)
}

fn ranges(device: &Device) -> Tried {
    limit(device, 2, 4096);
    for parameters in [small()?, hmac()?] {
        let case = Case::new(parameters, 2000)?;
        let (cuda, sealed) = (Cuda::new(device)?, case.sealed()?);
        for range in
            [0..0, 0..1, 5..44, 43..45, 44..128, 100..1500, 1999..2000, 2000..2000, 0..2000]
        {
            let buffer = cuda.open_range_to_device(&sealed, range.clone(), options())?;
            let expected = &case.text[range.start as usize..range.end as usize];
            require(read(&buffer)? == expected, format!("{range:?}"))?;
        }
        for range in [0..2001, 2001..2001, 7..u64::MAX] {
            let refused = cuda.open_range_to_device(&sealed, range.clone(), options());
            require(matches!(refused, Err(Error::Range { .. })), format!("{range:?}"))?;
        }
    }
    Ok(())
}

/// The device names the segment that the CPU names, whichever byte was changed.
fn what_was_changed_is_not_given_out(device: &Device) -> Tried {
    limit(device, 3, 4096);
    for parameters in [small()?, hmac()?] {
        let case = Case::new(parameters, 2000)?;
        let bytes = fs::read(case.path("sealed"))?;
        let segments = case.sealed()?.cipher().layout().segments(2000)?;
        for segment in [1, segments / 2, segments - 2] {
            for at in [0, 40, 99].map(|at| (100 * segment + at) as usize) {
                let mut changed = bytes.clone();
                changed[at] ^= 0x20;
                fs::write(case.path("sealed"), changed)?;
                let error = case.open(device).err().ok_or("it was opened")?;
                let is_it =
                    matches!(error, Error::NotAuthentic { segment: named } if named == segment);
                require(is_it, format!("byte {at} of segment {segment}: {error}"))?;
            }
        }
        // The first and the last segment are opened before anything goes to the device.
        for at in [0, 30, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 0x20;
            fs::write(case.path("sealed"), changed)?;
            let error = case.open(device).err().ok_or("it was opened")?;
            require(error.is_not_authentic(), error.to_string())?;
        }
        fs::write(case.path("sealed"), &bytes)?;
        let sealed = case.sealed()?;
        fs::write(case.path("sealed"), &bytes[..1000])?;
        let cut = Cuda::new(device)?.open_to_device(&sealed, options());
        require(matches!(cut, Err(Error::SourceChanged { .. })), format!("cut off: {cut:?}"))?;
        fs::write(case.path("sealed"), &bytes)?;
        require(case.open(device)? == case.text, "as it was")?;
    }
    Ok(())
}

fn memory_at_any_address_is_sealed(device: &Device) -> Tried {
    limit(device, 2, 4096);
    for parameters in [small()?, hmac()?] {
        let case = Case::new(parameters, 1500)?;
        for start in [1, 7, 8, 15] {
            require(case.seal(device, start)? == case.text, format!("from byte {start} on"))?;
        }
    }
    Ok(())
}

/// Memory of a device as a source gives several parts in one call.
fn several_parts_at_once(device: &Device) -> Tried {
    let text = text(5000);
    let buffer = DeviceBuffer::from_host(device, &text).map_err(lanecrypt::Error::from)?;
    let slice = buffer.slice(1..buffer.len()).map_err(lanecrypt::Error::from)?;
    let [mut first, mut second] = [[0; 1000], [0; 1000]];
    let mut parts = [(3999, &mut first[..]), (7, &mut second[..])];
    FromDevice(&slice).read_all_exact_at(&mut parts)?;
    require(first == text[4000..] && second == text[8..1008], "parts of a source")?;
    let beyond = FromDevice(&slice).read_all_exact_at(&mut [(4000, &mut first[..])]);
    require(beyond.is_err(), "a part beyond the end")
}

fn progress_and_cancelling(device: &Device) -> Tried {
    limit(device, 2, 4096);
    // Those of 96 bytes lie one behind the other on the device, so that several are written at once.
    let of_blocks = Parameters::new(Scheme::Gcm, Hash::Sha256, 32, 96)?;
    for parameters in [small()?, of_blocks, hmac()?] {
        let case = Case::new(parameters, 3000)?;
        let (cuda, sealed) = (Cuda::new(device)?, case.sealed()?);
        let [opened, written] = [AtomicU64::new(0), AtomicU64::new(0)];
        let progress = |bytes| {
            opened.fetch_add(bytes, Ordering::Relaxed);
        };
        let part = 77..2900;
        let options = Options { progress: &progress, ..options() };
        let buffer = cuda.open_range_to_device(&sealed, part.clone(), options)?;
        let told = opened.load(Ordering::Relaxed);
        require(told == part.end - part.start, format!("told of {told} bytes"))?;
        let progress = |bytes| {
            written.fetch_add(bytes, Ordering::Relaxed);
        };
        let options = Options { progress: &progress, ..options };
        let slice = buffer.slice(0..buffer.len()).map_err(lanecrypt::Error::from)?;
        cuda.seal_from_device(&case.keyset, &slice, &case.path("again"), options)?;
        let told = written.load(Ordering::Relaxed);
        require(told == part.end - part.start, format!("told of {told} written bytes"))?;

        let stop = AtomicBool::new(true);
        let options = Options { cancel: &stop, ..options };
        let cancelled = [
            cuda.open_to_device(&sealed, options).map(drop),
            cuda.seal_from_device(&case.keyset, &slice, &case.path("not there"), options),
        ];
        let is_cancelled = |result: &_| matches!(result, Err(Error::Cancelled));
        require(cancelled.iter().all(is_cancelled), format!("{cancelled:?}"))?;
        require(!case.path("not there").exists(), "something is left")?;
    }
    Ok(())
}

fn a_target_stays_where_sealing_fails(device: &Device) -> Tried {
    let case = Case::new(small()?, 500)?;
    let buffer = DeviceBuffer::from_host(device, &case.text)?;
    let slice = buffer.slice(0..500)?;
    let cuda = Cuda::new(device)?;
    let nowhere = case.path("no folder").join("target");
    let failed = cuda.seal_from_device(&case.keyset, &slice, &nowhere, options());
    require(matches!(failed, Err(Error::Io { .. })), format!("{failed:?}"))?;
    let target = case.path("target");
    fs::write(&target, b"precious")?;
    let stop = AtomicBool::new(true);
    let cancelled = Options { cancel: &stop, ..options() };
    let failed = cuda.seal_from_device(&case.keyset, &slice, &target, cancelled);
    require(failed.is_err() && fs::read(&target)? == b"precious", format!("{failed:?}"))?;
    cuda.seal_from_device(&case.keyset, &slice, &target, options())?;
    open_file(&case.keyset, &target, &case.path("opened"), options())?;
    require(fs::read(case.path("opened"))? == case.text, "sealed over it")
}

/// What a sealed file in memory has.
fn opened(keyset: &Keyset, sealed: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Opener::new(keyset, sealed, options())?.read_to_end(&mut text)?;
    Ok(text)
}

/// A writer that takes a few bytes at a time, and fails when it has `most`.
struct Few {
    taken: Vec<u8>,
    most: usize,
}

impl Write for Few {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(777)];
        if self.taken.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Pinned memory, other memory and a writer get what opens, of every kind of segment.
fn buffers_and_streams(device: &Device) -> Tried {
    let of_bytes = |bytes| Parameters::new(Scheme::Gcm, Hash::Sha256, 16, bytes);
    let cuda = Cuda::new(device)?;
    for parameters in [small()?, hmac()?, of_bytes(77)?, of_bytes(4096)?] {
        for (threads, run_bytes) in [(1, 4096), (3, 8192), (2, 1 << 20)] {
            limit(device, threads, run_bytes);
            for bytes in [0, 1, 43, 44, 45, 4000, 30_011] {
                let (keyset, text) = (Keyset::generate(parameters)?, text(bytes));
                let buffer = DeviceBuffer::from_host(device, &text)?;
                let data = buffer.slice(0..text.len())?;
                let length = keyset.sealed_bytes(bytes)? as usize;
                let what = format!("{bytes} bytes, {parameters:?}, {threads} threads");
                let mut memory = vec![0xc5; length + 9];
                cuda.seal_from_device_to_buffer(&keyset, &data, &mut memory[9..], options())?;
                require(memory[..9] == [0xc5; 9], "written outside")?;
                require(opened(&keyset, &memory[9..])? == text, format!("{what}: memory"))?;
                let mut pinned = PinnedBuffer::zeroed(device, length + 14)?;
                let sealed = &mut pinned[7..7 + length];
                cuda.seal_from_device_to_buffer(&keyset, &data, sealed, options())?;
                require(opened(&keyset, sealed)? == text, format!("{what}: pinned"))?;
                let is_clean = pinned[..7] == [0; 7] && pinned[7 + length..] == [0; 7];
                require(is_clean, "written outside the pinned memory")?;
                let mut writer = Few { taken: vec![], most: length };
                let told =
                    cuda.seal_from_device_to_stream(&keyset, &data, &mut writer, options())?;
                require(told == length as u64 && writer.taken.len() == length, "its length")?;
                require(opened(&keyset, &writer.taken)? == text, format!("{what}: stream"))?;
            }
        }
    }
    Ok(())
}

/// Nothing that was cut off by an error opens, and each error is told as what it is.
fn what_stays_behind_does_not_open(device: &Device) -> Tried {
    limit(device, 2, 4096);
    let cuda = Cuda::new(device)?;
    for parameters in [small()?, hmac()?] {
        let (keyset, text) = (Keyset::generate(parameters)?, text(9000));
        let buffer = DeviceBuffer::from_host(device, &text)?;
        let data = buffer.slice(0..text.len())?;
        let length = keyset.sealed_bytes(9000)? as usize;
        for given in [0, length - 1, length + 1] {
            let refused =
                cuda.seal_from_device_to_buffer(&keyset, &data, &mut vec![0; given], options());
            let is_it = matches!(refused, Err(Error::MemoryLength { expected, .. }) if expected == length as u64);
            require(is_it, format!("{given} bytes: {refused:?}"))?;
        }
        for most in (0..length).step_by(1234) {
            let mut writer = Few { taken: vec![], most };
            let failed = cuda.seal_from_device_to_stream(&keyset, &data, &mut writer, options());
            let is_it = matches!(&failed, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe);
            require(is_it, format!("{most} bytes: {failed:?}"))?;
            require(opened(&keyset, &writer.taken).is_err(), format!("{most} bytes open"))?;
        }
        let stop = AtomicBool::new(false);
        let progress = |_| stop.store(true, Ordering::Relaxed);
        let cancelled = Options { cancel: &stop, progress: &progress, ..options() };
        let mut memory = vec![0; length];
        let failed = cuda.seal_from_device_to_buffer(&keyset, &data, &mut memory, cancelled);
        require(matches!(failed, Err(Error::Cancelled)), format!("{failed:?}"))?;
        require(opened(&keyset, &memory).is_err(), "cancelled memory opens")?;
    }
    Ok(())
}

fn files_written_in_every_way(device: &Device) -> Tried {
    let cuda = Cuda::new(device)?;
    let case = Case::new(Template::Aes128GcmHkdf4Kb.parameters(), 300_001)?;
    limit(device, 3, 64 << 10);
    let buffer = DeviceBuffer::from_host(device, &case.text)?;
    let data = buffer.slice(0..case.text.len())?;
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
    for writing in [Writing::Fitting, Writing::Positioned, Writing::Allocated, Writing::Mapped] {
        let target = folder.path().join("target");
        cuda.seal_from_device_by(writing, &case.keyset, &data, &target, options())?;
        let sealed = fs::read(&target)?;
        require(opened(&case.keyset, &sealed)? == case.text, format!("{writing:?}"))?;
    }
    Ok(())
}

/// Frames of regions at multiples of 16 and not, with associated data and without.
fn frames_of_regions(device: &Device) -> Tried {
    let (cuda, key) = (Cuda::new(device)?, FrameKey::new(&[7; 32])?);
    let lengths = [4096, 0, 16, 4096, 1, 65_536, 33, 4096];
    let datas: Vec<_> = (0..lengths.len()).map(|number| format!("block {number}")).collect();
    let datas: Vec<&[u8]> = datas.iter().map(String::as_bytes).collect();
    for (threads, run_bytes, apart) in [(1, 8192, 0), (3, 4096, 16), (2, 1 << 20, 7)] {
        limit(device, threads, run_bytes);
        let all = text(lengths.iter().sum::<usize>() as u64 + 9 * apart as u64);
        let starts = lengths.iter().scan(apart, |at, &length| {
            *at += length + apart;
            Some(*at - length - apart)
        });
        let ranges: Vec<_> =
            starts.zip(lengths).map(|(start, length)| start..start + length).collect();
        let mut buffer = DeviceBuffer::from_host(device, &all)?;
        let slices = ranges.iter().map(|range| buffer.slice(range.clone()));
        let slices = slices.collect::<Result<Vec<_>, _>>()?;
        let mut sealed = PinnedBuffer::zeroed(device, frames::sealed_bytes(lengths))?;
        cuda.seal_frames(&key, &slices, &datas, &mut sealed)?;
        let found = frames::split(&sealed)?;
        for ((frame, data), range) in found.iter().zip(&datas).zip(&ranges) {
            require(*key.open(frame, data)? == all[range.clone()], format!("{range:?}"))?;
        }
        for swapped in [None, Some((0, 3)), Some((2, 4))] {
            let mut frames = found.clone();
            if let Some((one, other)) = swapped {
                frames.swap(one, other);
            }
            buffer.write(0, &vec![0x77; all.len()])?;
            let opened = open_into(&cuda, &key, &frames, &datas, &mut buffer, &ranges)?;
            let expected =
                swapped.map(|(one, other)| vec![one as u64, other as u64]).unwrap_or_default();
            require(opened == expected, format!("{opened:?} of {swapped:?}"))?;
            let mut right = vec![0x77; all.len()];
            for (number, range) in (0..).zip(&ranges) {
                let text = &all[range.clone()];
                let zeros = vec![0; text.len()];
                right[range.clone()].copy_from_slice(if expected.contains(&number) {
                    &zeros
                } else {
                    text
                });
            }
            require(read(&buffer)? == right, format!("{swapped:?}, {apart} apart"))?;
        }
        what_is_no_frame_is_named(&cuda, &found, &datas, &mut buffer, &ranges)?;
    }
    Ok(())
}

/// The numbers of the frames that do not open.
fn open_into(
    cuda: &Cuda,
    key: &FrameKey,
    frames: &[&[u8]],
    datas: &[&[u8]],
    buffer: &mut DeviceBuffer,
    ranges: &[std::ops::Range<usize>],
) -> Result<Vec<u64>, Failed> {
    let mut rest = buffer.slice_mut(0..buffer.len())?;
    let (mut regions, mut at) = (Vec::new(), 0);
    for range in ranges {
        let (_, behind) = rest.split_at(range.start - at)?;
        let (region, behind) = behind.split_at(range.len())?;
        regions.push(region);
        (rest, at) = (behind, range.end);
    }
    match cuda.open_frames(key, frames, datas, &mut regions) {
        Ok(()) => Ok(vec![]),
        Err(Error::FramesNotAuthentic { frames }) if !frames.is_empty() => Ok(frames),
        Err(error) => Err(error.into()),
    }
}

fn what_is_no_frame_is_named(
    cuda: &Cuda,
    found: &[&[u8]],
    datas: &[&[u8]],
    buffer: &mut DeviceBuffer,
    ranges: &[std::ops::Range<usize>],
) -> Tried {
    let (key, other) = (FrameKey::new(&[7; 32])?, FrameKey::new(&[8; 32])?);
    let mut changed = found[5].to_vec();
    for at in [0, 4, 7, 8, 20, 31, 32, 40_000, changed.len() - 1] {
        changed[at] ^= 1;
        let mut frames = found.to_vec();
        (frames[5], frames[1], frames[6]) = (&changed, &[], &found[6][..80]);
        let wrong = open_into(cuda, &key, &frames, datas, buffer, ranges)?;
        require(wrong == [1, 5, 6], format!("byte {at}: {wrong:?}"))?;
        changed[at] ^= 1;
    }
    let all: Vec<_> = (0..found.len() as u64).collect();
    require(open_into(cuda, &other, found, datas, buffer, ranges)? == all, "another key")?;
    require(open_into(cuda, &key, found, &[], buffer, ranges)? == all, "no associated data")?;
    require(open_into(cuda, &key, &found[1..], datas, buffer, ranges).is_err(), "too few frames")?;
    require(open_into(cuda, &key, found, &datas[1..], buffer, ranges).is_err(), "too few data")
}
