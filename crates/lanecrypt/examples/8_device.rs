//! Data that is and stays in a GPU's memory, and the CPU where there is none. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 8_device`

use lanecrypt::{
    Engine, Operation,
    aes::{Aes256, cuda},
    cipher::KeyInit,
    cuda::{Device, DeviceBuffer, Error},
};

const KEY: [u8; 32] = [7; 32];
const COUNTER: [u8; 16] = [1; 16];

/// Encrypts on the device: the data is copied there once, and could be used by other kernels afterwards.
fn on_device(device: &Device, data: &mut [u8]) -> Result<(), Error> {
    // Constant-time kernels; those of `FASTEST` look tables up.
    let cipher = cuda::Aes256::constant_time(device, &KEY.into())?;
    let mut resident = DeviceBuffer::from_host(device, data)?; // cleared when it is dropped
    let whole = 0..resident.len();
    cipher.engine().run(Operation::Ctr(COUNTER.into()), &mut resident.slice_mut(whole)?)?;
    resident.read(0, data)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain = vec![0x5a; 1 << 20];
    let mut expected = plain.clone();
    let cpu = Aes256::new(&KEY.into());
    cpu.run(Operation::Ctr(COUNTER.into()), expected.as_mut_slice().into())?;

    let mut data = plain;
    match Device::default() {
        Ok(device) => {
            println!("on {}", device.properties().name);
            on_device(&device, &mut data)?;
        }
        // Never a panic: the error says in a sentence what is missing.
        Err(error) => {
            println!("on the CPU: {error}");
            cpu.run(Operation::Ctr(COUNTER.into()), data.as_mut_slice().into())?;
        }
    }
    assert_eq!(data, expected);
    Ok(())
}
