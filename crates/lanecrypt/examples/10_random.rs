//! Random numbers that two machines agree on: drawn on a GPU where there is one, else on the CPU. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 10_random`

use lanecrypt::{
    cuda::{Device, DeviceBuffer, Stream},
    random::{Draw, Generator, RandomError},
};

const COUNT: usize = 1 << 20;

/// Draws normal numbers in memory of the device, where a simulation would use them, and copies them here to be looked at.
fn on_device(
    device: &Device,
    random: &mut Generator,
    numbers: &mut [u8],
) -> Result<(), RandomError> {
    let stream = Stream::new(device)?;
    let mut there = DeviceBuffer::zeroed(device, numbers.len())?;
    random.draw_on(&stream, Draw::Normals32, &mut there.slice_mut(0..numbers.len())?)?.wait()?;
    Ok(there.read(0, numbers)?)
}

fn main() -> Result<(), RandomError> {
    // The same seed gives the same numbers everywhere; `Generator::from_system` takes a key that nobody knows.
    let simulation = Generator::from_seed(42);

    // Each worker has a stream of its own, which meets no other one.
    let mut worker = simulation.stream(3)?;
    let mut numbers = vec![0; 4 * COUNT];
    match Device::default() {
        Ok(device) => {
            println!("on {}", device.properties().name);
            on_device(&device, &mut worker, &mut numbers)?;
        }
        Err(error) => {
            println!("on the CPU: {error}");
            worker.draw(Draw::Normals32, &mut numbers)?;
        }
    }

    // A part of them, drawn again by itself: the numbers are where they were.
    let mut again = [0.0_f32; 1000];
    worker.seek(4 * 5000);
    worker.normals(&mut again)?;
    let floats = numbers.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
    assert!(floats.clone().skip(5000).take(1000).eq(again));

    let mean = floats.map(f64::from).sum::<f64>() / COUNT as f64;
    println!("the mean of {COUNT} normal numbers is {mean:.5}");
    Ok(())
}
