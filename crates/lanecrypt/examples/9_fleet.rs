//! One message over all GPUs of a machine, or over all cores where it has none. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 9_fleet`

use lanecrypt::{
    Engine, Operation, aes,
    cuda::{Device, Fleet},
    engine,
};

const KEY: [u8; 32] = [7; 32];

/// All devices as one engine, each of which takes the next range of a message when it is free.
fn fleet() -> Result<Fleet, lanecrypt::cuda::Error> {
    aes::cuda::BITSLICE.fleet(&Device::all()?, &KEY)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let operation = Operation::Ctr([1; 16].into());
    let cpu = engine("aes", "default", &KEY)?; // long calls on all cores
    let mut expected = vec![0x5a; 8 << 20];
    cpu.run(operation, expected.as_mut_slice().into())?;

    let mut data = vec![0x5a; 8 << 20];
    match fleet() {
        Ok(fleet) => {
            // A device that fails drops out, and the others finish its share: the report names it.
            let report = fleet.run_host_memory(operation, data.as_mut_slice().into())?;
            println!("{} devices, {} dropped out", fleet.engines().len(), report.dropped.len());
        }
        Err(error) => {
            println!("on all cores: {error}");
            cpu.run(operation, data.as_mut_slice().into())?;
        }
    }
    assert_eq!(data, expected);
    Ok(())
}
