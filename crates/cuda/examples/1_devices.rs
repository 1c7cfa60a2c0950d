//! The GPUs of this machine and what each says of itself. Runs without a GPU, and then says what is missing.
//!
//! `cargo run --package lanecrypt-cuda --example 1_devices`

use lanecrypt_cuda::{Device, Error};

fn main() -> Result<(), Error> {
    // No driver, an old one, no device: an error each, never a panic.
    let count = match Device::count() {
        Ok(count) => count,
        Err(error) => {
            println!("no GPU: {error}");
            return Ok(());
        }
    };
    for number in 0..count {
        // One by one: another program may have one of them for itself.
        let device = match Device::number(number) {
            Ok(device) => device,
            Err(error) => {
                println!("{number}: {error}");
                continue;
            }
        };
        let properties = device.properties();
        let (major, minor) = properties.compute_capability;
        println!(
            "{number}: {}, compute capability {major}.{minor}, {} multiprocessors, {} of {} MiB free",
            properties.name,
            properties.multiprocessors,
            device.free_bytes()? >> 20,
            properties.memory_bytes >> 20,
        );
    }
    // A number beyond the last is an error that says how many there are.
    assert!(matches!(Device::number(count), Err(Error::NoSuchDevice { .. })));
    Ok(())
}
