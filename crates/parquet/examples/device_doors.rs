//! How fast sealed data leaves a GPU and comes back, and what bounds it:
//! `cargo run --release --example device_doors -- [MIB] [ROUNDS] [THREADS]`.
//!
//! Prints GB/s of plaintext and cores busy, the median of the rounds behind a first call that allocates what is kept.
//! Rows named `bound` are what the parts take alone: the bus, copies of the host, a RAM disk's pages. Files lie in
//! /dev/shm where that is a folder. What was sealed is opened, and what was opened is compared. It needs three times the
//! bytes in host memory.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../../tink/examples/common/files.rs"]
#[allow(dead_code, reason = "others write files")]
mod files;

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{Read, Write},
    os::unix::{fs::FileExt, net::UnixStream},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use common::{SMALL, Shape, plain, uniform};
use files::{Comparing, Time, timed};
use lanecrypt::cuda::{Device, DeviceBuffer, DeviceSlice, Limits, MappedFile, PinnedBuffer};
use lanecrypt_parquet::{
    Algorithm, Encrypted, InMemory, OpenOptions, SealOptions, seal, seal_from_device,
};
use lanecrypt_tink::{
    Cuda, Keyset, Options, Sealed, Template, Writing,
    frames::{FrameKey, sealed_bytes, split},
};
use tempfile::TempDir;

type Done<T> = Result<T, Box<dyn Error>>;

/// What a thread copies at once, where nothing else is measured.
const PIECE: usize = 8 << 20;

/// What is measured, and where.
struct Bench {
    device: Device,
    cuda: Cuda,
    keyset: Keyset,
    folder: TempDir,
    bytes: usize,
    rounds: usize,
    threads: usize,
}

fn main() -> Done<()> {
    let mut arguments = env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (mebibytes, rounds) = (number(4096)?, number(3)?);
    let threads = number(Limits::default().threads)?;
    let memory = Path::new("/dev/shm");
    let device = Device::default()?;
    device.limit_host_memory(Limits { threads, ..Limits::default() });
    let bench = Bench {
        cuda: Cuda::new(&device)?,
        device,
        keyset: Keyset::generate(Template::default().parameters())?,
        folder: if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? },
        bytes: mebibytes << 20,
        rounds,
        threads,
    };
    println!(
        "{mebibytes} MiB in {}, {}, {threads} threads of {}",
        bench.folder.path().display(),
        bench.device.properties().name,
        thread::available_parallelism()?,
    );
    let mut buffer = bench.filled()?;
    bench.bounds(&buffer)?;
    bench.to_files(&buffer)?;
    bench.to_memory(&buffer)?;
    bench.to_socket(&buffer)?;
    for frame_bytes in [4 << 10, 64 << 10, 1 << 20] {
        bench.frames(&mut buffer, frame_bytes)?;
    }
    bench.opened_file(&buffer)?;
    drop(buffer);
    for page_bytes in [1 << 20, 64 << 10] {
        bench.parquet(page_bytes)?;
    }
    Ok(())
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs once, and some times more, and prints what it took.
    fn show(&self, name: &str, mut run: impl FnMut() -> Done<()>) -> Done<()> {
        let first = timed(&mut run)?.wall;
        let mut times = (0..self.rounds).map(|_| timed(&mut run)).collect::<Done<Vec<_>>>()?;
        times.sort_by(|one, other| one.wall.total_cmp(&other.wall));
        let Some(Time { wall, cpu }) = times.get(times.len() / 2) else { return Ok(()) };
        let [speed, of_first] = [*wall, first].map(|wall| self.bytes as f64 / wall / 1e9);
        let cores = cpu / wall;
        println!("{name:58} {speed:7.2} GB/s {cores:5.1} cores  (first {of_first:.2})");
        Ok(())
    }

    /// Memory of the device with what [`Comparing`] knows.
    fn filled(&self) -> Done<DeviceBuffer> {
        let path = self.path("text");
        files::write_text(&path, (self.bytes >> 20) as u64)?;
        let mut buffer = DeviceBuffer::zeroed(&self.device, self.bytes)?;
        let (mut file, mut part) = (File::open(&path)?, vec![0; PIECE]);
        for start in (0..self.bytes).step_by(PIECE) {
            file.read_exact(&mut part)?;
            buffer.write(start, &part)?;
        }
        fs::remove_file(path)?;
        Ok(buffer)
    }

    /// What the bus, the host's copies and the pages of files take alone.
    fn bounds(&self, buffer: &DeviceBuffer) -> Done<()> {
        let mut pinned = PinnedBuffer::zeroed(&self.device, self.bytes)?;
        self.show("bound: device to pinned memory, one copy", || Ok(buffer.read(0, &mut pinned)?))?;
        let mut memory = vec![0; self.bytes];
        self.show("bound: pinned memory to a Vec, by the threads", || {
            let share = self.bytes.div_ceil(self.threads);
            thread::scope(|scope| {
                for (to, from) in memory.chunks_mut(share).zip(pinned.chunks(share)) {
                    scope.spawn(|| to.copy_from_slice(from));
                }
            });
            Ok(())
        })?;
        drop(memory);
        for (name, way) in [
            ("written", Writing::Positioned),
            ("given room, written", Writing::Allocated),
            ("mapped", Writing::Mapped),
        ] {
            let name = format!("bound: pinned memory to a new file, {name}");
            self.show(&name, || self.write_by_threads(&pinned, way))?;
        }
        Ok(())
    }

    /// Writes memory to a new file by several threads, and does nothing else.
    fn write_by_threads(&self, from: &[u8], way: Writing) -> Done<()> {
        let path = self.path("alone");
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let length = from.len() as u64;
        file.set_len(length)?;
        if way == Writing::Allocated {
            lanecrypt::cuda::allocate(&file, length)?;
        }
        let mapped =
            if way == Writing::Mapped { Some(MappedFile::new(&file, length)?) } else { None };
        let next = AtomicU64::new(0);
        let write = || -> std::io::Result<()> {
            loop {
                let at = next.fetch_add(PIECE as u64, Ordering::Relaxed);
                if at >= length {
                    return Ok(());
                }
                let part = &from[at as usize..from.len().min(at as usize + PIECE)];
                match &mapped {
                    Some(mapped) => mapped.write_all_at(part, at)?,
                    None => file.write_all_at(part, at)?,
                }
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(write)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
        })?;
        Ok(fs::remove_file(path)?)
    }

    fn to_files(&self, buffer: &DeviceBuffer) -> Done<()> {
        let all = buffer.slice(0..self.bytes)?;
        for way in [Writing::Positioned, Writing::Allocated, Writing::Mapped] {
            self.show(&format!("seal_from_device to a file, {way:?}"), || {
                self.seal_to(&all, "sealed", way)
            })?;
        }
        let sealed = Sealed::open(File::open(self.path("sealed"))?, &self.keyset, b"")?;
        self.compare(&sealed)?;
        fs::remove_file(self.path("sealed"))?;
        for way in [Writing::Positioned, Writing::Allocated, Writing::Mapped] {
            self.show(&format!("seal_from_device to 4 files at once, {way:?}"), || {
                let quarter = self.bytes / 4;
                let seal = |i: usize| {
                    let part = buffer.slice(i * quarter..(i + 1) * quarter)?;
                    self.seal_to(&part, &format!("sealed {i}"), way)
                };
                let seal = &|i| seal(i).map_err(|error| error.to_string());
                thread::scope(|scope| {
                    let threads = [0, 1, 2, 3].map(|i| scope.spawn(move || seal(i)));
                    threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
                })?;
                Ok(())
            })?;
        }
        (0..4).try_for_each(|i| Ok(fs::remove_file(self.path(&format!("sealed {i}")))?))
    }

    fn seal_to(&self, data: &DeviceSlice<'_>, name: &str, way: Writing) -> Done<()> {
        let target = self.path(name);
        fs::remove_file(&target).ok(); // its pages are made anew, and two of them do not fit
        Ok(self.cuda.seal_from_device_by(way, &self.keyset, data, &target, Options::default())?)
    }

    /// Fails where sealed data does not have what [`filled`](Self::filled) has.
    fn compare<S: lanecrypt_tink::Source>(&self, sealed: &Sealed<S>) -> Done<()> {
        let mut comparing = Comparing::new((self.bytes >> 20) as u64);
        sealed.copy_range(0..sealed.plaintext_bytes(), &mut comparing, Options::default())?;
        comparing.finish()
    }

    fn compare_device(&self, buffer: &DeviceBuffer) -> Done<()> {
        let mut comparing = Comparing::new((self.bytes >> 20) as u64);
        let mut part = vec![0; PIECE];
        for start in (0..self.bytes).step_by(PIECE) {
            buffer.read(start, &mut part)?;
            comparing.write_all(&part)?;
        }
        comparing.finish()
    }

    fn to_memory(&self, buffer: &DeviceBuffer) -> Done<()> {
        let (all, options) = (buffer.slice(0..self.bytes)?, Options::default());
        let length = self.keyset.sealed_bytes(self.bytes as u64)? as usize;
        let mut pinned = PinnedBuffer::zeroed(&self.device, length)?;
        self.show("seal_from_device to pinned memory", || {
            Ok(self.cuda.seal_from_device_to_buffer(&self.keyset, &all, &mut pinned, options)?)
        })?;
        self.compare(&Sealed::open(InMemory(&pinned), &self.keyset, b"")?)?;
        drop(pinned);
        let mut memory = vec![0; length];
        self.show("seal_from_device to a Vec", || {
            Ok(self.cuda.seal_from_device_to_buffer(&self.keyset, &all, &mut memory, options)?)
        })?;
        self.compare(&Sealed::open(InMemory(&memory), &self.keyset, b"")?)
    }

    fn to_socket(&self, buffer: &DeviceBuffer) -> Done<()> {
        let all = buffer.slice(0..self.bytes)?;
        let bytes = vec![7; self.bytes.min(256 << 20)];
        let (name, times) = ("bound: a Vec to a pair of Unix sockets", self.bytes / bytes.len());
        self.show(name, || {
            let mut socket = Socket::new()?;
            (0..times).try_for_each(|_| socket.ours.write_all(&bytes))?;
            socket.end().map(drop)
        })?;
        self.show("seal_from_device to a pair of Unix sockets", || {
            let mut socket = Socket::new()?;
            let (keyset, options) = (&self.keyset, Options::default());
            let sealed =
                self.cuda.seal_from_device_to_stream(keyset, &all, &mut socket.ours, options)?;
            if socket.end()? == sealed { Ok(()) } else { Err("not all of it came".into()) }
        })
    }

    /// Frames of scattered blocks of this size, sealed and opened back.
    fn frames(&self, buffer: &mut DeviceBuffer, bytes: usize) -> Done<()> {
        let (key, count) = (FrameKey::new(&[7; 32])?, self.bytes / bytes);
        let names: Vec<_> = (0..count as u64).map(u64::to_le_bytes).collect();
        let names: Vec<_> = names.iter().map(|name| &name[..]).collect();
        // Far from each other, as blocks of a cache are; each once where their count is a power of two.
        let block = |i: usize| i.wrapping_mul(0x9e37_79b1) % count;
        let mut pinned =
            PinnedBuffer::zeroed(&self.device, sealed_bytes((0..count).map(|_| bytes)))?;
        let what = format!("{count} frames of {} KiB", bytes >> 10);
        let regions = (0..count).map(|i| {
            let start = block(i) * bytes;
            buffer.slice(start..start + bytes)
        });
        let regions = regions.collect::<Result<Vec<_>, _>>()?;
        self.show(&format!("{what}, sealed to pinned memory"), || {
            Ok(self.cuda.seal_frames(&key, &regions, &names, &mut pinned)?)
        })?;
        let mut memory = vec![0; pinned.len()];
        self.show(&format!("{what}, sealed to a Vec"), || {
            Ok(self.cuda.seal_frames(&key, &regions, &names, &mut memory)?)
        })?;
        drop(memory);
        let mut rest = buffer.slice_mut(0..self.bytes)?;
        let mut blocks = Vec::with_capacity(count);
        for _ in 0..count {
            let (block, behind) = rest.split_at(bytes)?;
            blocks.push(Some(block));
            rest = behind;
        }
        let mut regions = Vec::with_capacity(count);
        for i in 0..count {
            regions.push(blocks[block(i)].take().ok_or("two frames are of one block")?);
        }
        let sealed = split(&pinned)?;
        self.show(&format!("{what}, opened"), || {
            Ok(self.cuda.open_frames(&key, &sealed, &names, &mut regions)?)
        })?;
        drop(regions);
        self.compare_device(buffer)
    }

    fn opened_file(&self, buffer: &DeviceBuffer) -> Done<()> {
        self.seal_to(&buffer.slice(0..self.bytes)?, "sealed", Writing::Positioned)?;
        let path = self.path("sealed");
        self.show("bound: the sealed file, read by the threads", || self.read_by_threads(&path))?;
        let mut opened = None;
        self.show("open_to_device", || {
            opened = None; // its memory is wanted again
            let sealed = Sealed::open(File::open(&path)?, &self.keyset, b"")?;
            opened = Some(self.cuda.open_to_device(&sealed, Options::default())?);
            Ok(())
        })?;
        fs::remove_file(&path)?;
        self.compare_device(&opened.ok_or("nothing was opened")?)
    }

    /// Reads a file into pinned memory by several threads, and does nothing else.
    fn read_by_threads(&self, path: &Path) -> Done<()> {
        let (file, next) = (File::open(path)?, AtomicU64::new(0));
        let length = file.metadata()?.len();
        let read = |mut buffer: PinnedBuffer| -> std::io::Result<()> {
            loop {
                let at = next.fetch_add(PIECE as u64, Ordering::Relaxed);
                if at >= length {
                    return Ok(());
                }
                let bytes = (length - at).min(PIECE as u64) as usize;
                file.read_exact_at(&mut buffer[..bytes], at)?;
            }
        };
        let buffers = (0..self.threads).map(|_| PinnedBuffer::zeroed(&self.device, PIECE));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        thread::scope(|scope| {
            let read = &read;
            let threads: Vec<_> =
                buffers.into_iter().map(|buffer| scope.spawn(move || read(buffer))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
        })?;
        Ok(())
    }

    /// Row groups of 128 MiB in two columns, or as much of one as there are bytes.
    fn parquet(&self, page_bytes: usize) -> Done<()> {
        let shape = Shape {
            row_groups: (self.bytes >> 27).max(1),
            columns: 2,
            pages: (self.bytes / 2).min(64 << 20) / page_bytes,
            values: page_bytes / 8,
            has_index: false,
            ..SMALL
        };
        let image = plain(shape);
        let (keys, path) = (uniform(), self.path("parquet"));
        for algorithm in [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1] {
            let options = SealOptions { algorithm, ..SealOptions::default() };
            seal(&InMemory(&image), &keys, &options, &path)?;
            let what = format!("Parquet, pages of {} KiB, {algorithm:?}", page_bytes >> 10);
            self.show(&format!("bound: {what}, read"), || self.read_by_threads(&path))?;
            let read = || -> Done<Encrypted<File>> {
                Ok(Encrypted::read(File::open(&path)?, &keys, OpenOptions::default())?)
            };
            self.show(&format!("part: {what}, footer and headers"), || read().map(drop))?;
            let mut opened = None;
            self.show(&format!("{what}, opened"), || {
                opened = None;
                opened = Some(read()?.open_to_device(&self.device)?);
                Ok(())
            })?;
            let opened = opened.ok_or("nothing was opened")?;
            let expected = read()?.open()?;
            let mut found = vec![0; opened.len()];
            opened.read(0, &mut found)?;
            if found != expected {
                return Err("the device's file is not the CPU's".into());
            }
            drop((found, expected));
            let all = opened.slice(0..opened.len())?;
            self.show(&format!("{what}, sealed"), || {
                fs::remove_file(&path).ok();
                seal_from_device(&self.device, &all, &keys, &options, &path)?;
                Ok(())
            })?;
            Encrypted::read(File::open(&path)?, &keys, OpenOptions::default())?.open()?;
            fs::remove_file(&path)?;
        }
        Ok(())
    }
}

/// A pair of sockets, of which a thread reads one to its end.
struct Socket {
    ours: UnixStream,
    reader: thread::JoinHandle<std::io::Result<u64>>,
}

impl Socket {
    fn new() -> std::io::Result<Self> {
        let (ours, mut theirs) = UnixStream::pair()?;
        let reader = thread::spawn(move || {
            let (mut buffer, mut all) = (vec![0; 1 << 20], 0);
            loop {
                match theirs.read(&mut buffer)? {
                    0 => return Ok(all),
                    bytes => all += bytes as u64,
                }
            }
        });
        Ok(Self { ours, reader })
    }

    /// Bytes that came.
    fn end(self) -> Done<u64> {
        drop(self.ours);
        Ok(self.reader.join().map_err(|_| "the reader panicked")??)
    }
}
