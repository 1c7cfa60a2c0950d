//! GHASH of data on a device, without a cipher: what an engine on a device is. Runs without a GPU, and then on
//! the CPU.
//!
//! `cargo run --package lanecrypt-cuda --example 3_hash`

use lanecrypt_cuda::{Device, DeviceBuffer, Error, GhashEngine, HashFamily};
use lanecrypt_reference::modes::ghash;

/// The hash key, which GCM makes by encrypting a block of zeros.
const KEY: [u8; 16] = [0x66; 16];

fn main() -> Result<(), Error> {
    let (header, data) = (b"associated data", vec![0x5a; 1 << 16]);
    let expected = ghash(u128::from_be_bytes(KEY), header, &data).to_be_bytes();
    println!("on the CPU: {expected:02x?}");
    let device = match Device::default() {
        Ok(device) => device,
        Err(error) => {
            println!("no GPU: {error}");
            return Ok(());
        }
    };
    // Matrices on tensor cores where the device has them, in constant time; tables elsewhere.
    let family = HashFamily::of(device.properties());
    let engine = GhashEngine::new(&device, family, &KEY)?; // its tables are made and cleared on the device
    let resident = DeviceBuffer::from_host(&device, &data)?;
    let hash = engine.hash(header, &resident.slice(0..data.len())?)?;
    println!("on {} by {family:?}: {hash:02x?}", device.properties().name);
    assert_eq!(hash, expected);
    Ok(())
}
