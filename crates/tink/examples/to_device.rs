//! A sealed file straight to a GPU, and back:
//! `cargo run --release --example to_device -- [GIB] [ROUNDS] [THREADS] [PINNED_MIB] [TEMPLATE]`.
//!
//! Prints GB/s of plaintext and cores busy: the first call, which allocates what is kept, and the median of
//! the others. The row `read` is what the threads do without the GPU, reading the file into memory; `open` and
//! `seal` are the whole calls, with the device's memory and the file that they make. What was opened, and what
//! was sealed, is compared with the text byte for byte. Files lie in /dev/shm where that is a folder.

#[path = "common/files.rs"]
mod files;

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::Write,
    os::unix::fs::FileExt,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use files::{Comparing, Time, timed, write_text};
use lanecrypt::cuda::{Device, DeviceBuffer, Limits, PinnedBuffer};
use lanecrypt_tink::{Cuda, Keyset, Options, Sealed, Template, seal_file};
use tempfile::TempDir;

type Done<T> = Result<T, Box<dyn Error>>;

/// What a thread reads at once, where nothing else is measured.
const PIECE: usize = 8 << 20;

fn main() -> Done<()> {
    let mut arguments = env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (gibibytes, rounds) = (number(8)? as u64, number(5)?);
    let defaults = Limits::default();
    let threads = number(defaults.threads)?;
    let pinned_bytes = number(defaults.pinned_bytes >> 20)? << 20;
    let template = arguments.next().map_or(Ok(Template::default()), |text| text.parse())?;

    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
    let [plain, sealed, again] = ["plain", "sealed", "again"].map(|name| folder.path().join(name));
    let keyset = Keyset::generate(template.parameters())?;
    write_text(&plain, gibibytes << 10)?;
    seal_file(&keyset, &plain, &sealed, Options::default())?;
    fs::remove_file(&plain)?;

    let device = Device::default()?;
    device.limit_host_memory(Limits { pinned_bytes, threads });
    let cuda = Cuda::new(&device)?;
    println!(
        "{template}, {gibibytes} GiB in {}, {}, {threads} threads, {} MiB pinned",
        folder.path().display(),
        device.properties().name,
        pinned_bytes >> 20,
    );
    let bytes = gibibytes << 30;
    show("read", bytes, rounds, || read_by_threads(&device, &sealed, threads))?;
    let mut opened = None;
    show("open", bytes, rounds, || {
        opened = None; // its memory is wanted again
        let sealed = Sealed::open(File::open(&sealed)?, &keyset, b"")?;
        opened = Some(cuda.open_to_device(&sealed, Options::default())?);
        Ok(())
    })?;
    let opened = opened.ok_or("nothing was opened")?;
    compare_device(&opened, gibibytes << 10)?;
    fs::remove_file(&sealed)?;
    show("seal", bytes, rounds, || {
        let all = opened.slice(0..opened.len())?;
        Ok(cuda.seal_from_device(&keyset, &all, &again, Options::default())?)
    })?;
    let sealed = Sealed::open(File::open(&again)?, &keyset, b"")?;
    let mut comparing = Comparing::new(gibibytes << 10);
    sealed.copy_range(0..sealed.plaintext_bytes(), &mut comparing, Options::default())?;
    comparing.finish()
}

/// Runs once, and `rounds` times more, and prints what it took.
fn show(name: &str, bytes: u64, rounds: usize, mut run: impl FnMut() -> Done<()>) -> Done<()> {
    let print = |what: &str, Time { wall, cpu }: &Time| {
        let speed = bytes as f64 / wall / 1e9;
        println!("{name}, {what:8} {speed:7.2} GB/s {:6.2} cores {wall:8.3} s", cpu / wall);
    };
    print("first", &timed(&mut run)?);
    let mut times = (0..rounds).map(|_| timed(&mut run)).collect::<Done<Vec<_>>>()?;
    times.sort_by(|one, other| one.wall.total_cmp(&other.wall));
    if let Some(median) = times.get(times.len() / 2) {
        print("median", median);
    }
    Ok(())
}

/// Reads a file into pinned memory by several threads, and does nothing else.
fn read_by_threads(device: &Device, path: &Path, threads: usize) -> Done<()> {
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
    let buffers = (0..threads).map(|_| PinnedBuffer::zeroed(device, PIECE));
    let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        let read = &read;
        let threads: Vec<_> =
            buffers.into_iter().map(|buffer| scope.spawn(move || read(buffer))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    Ok(())
}

/// Fails where the device does not have what [`write_text`] writes.
fn compare_device(buffer: &DeviceBuffer, mebibytes: u64) -> Done<()> {
    let (mut comparing, mut part) = (Comparing::new(mebibytes), vec![0; 64 << 20]);
    for start in (0..buffer.len()).step_by(part.len()) {
        let part = &mut part[..(64 << 20).min(buffer.len() - start)];
        buffer.read(start, part)?;
        comparing.write_all(part)?;
    }
    comparing.finish()
}
