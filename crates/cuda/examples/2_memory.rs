//! Memory of a device: buffers that clear themselves, parts of them, and host memory that passes fastest. Runs
//! without a GPU, and then does nothing.
//!
//! `cargo run --package lanecrypt-cuda --example 2_memory`

use lanecrypt_cuda::{Device, DeviceBuffer, Error, PinnedBuffer};

fn main() -> Result<(), Error> {
    match Device::default() {
        Ok(device) => show(&device),
        Err(error) => {
            println!("no GPU: {error}");
            Ok(())
        }
    }
}

fn show(device: &Device) -> Result<(), Error> {
    let mut buffer = DeviceBuffer::from_host(device, b"a key, or a text")?;

    // A part of it, for as long as it is borrowed: no two parts that may be written overlap.
    let mut part = buffer.slice_mut(2..5)?;
    part.write(0, b"KEY")?;
    let mut back = [0; 16];
    buffer.read(0, &mut back)?;
    assert_eq!(&back, b"a KEY, or a text");

    // Beyond the end is an error, before anything is copied.
    assert!(buffer.slice(10..17).is_err() && buffer.write(16, b"x").is_err());

    // Pinned host memory, which a device reads and writes without the driver's copy between.
    let mut pinned = PinnedBuffer::zeroed(device, 16)?;
    buffer.read(0, &mut pinned)?;
    assert_eq!(pinned[..], back);
    println!(
        "{}: {} bytes of its memory, and as many pinned",
        device.properties().name,
        buffer.len()
    );
    Ok(()) // both are cleared when they are dropped: whoever gets the memory next finds zeros
}
