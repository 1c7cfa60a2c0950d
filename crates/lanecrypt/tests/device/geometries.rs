//! Thread blocks of every size and several grids compute the same.

use lanecrypt::{
    Direction,
    cuda::{
        DataUnits, DeviceBuffer, Geometry,
        kernels::{Kernel, Task},
        task_of,
    },
    registry::Platform,
};

use crate::{
    Case,
    common::{Outcome, noise},
    compare, expect, targets,
    units::{families_of_16_bytes, xts_by_the_cpu},
};

/// One of how many numbers of threads, between the smallest and the largest, a kernel has on the host build,
/// which takes minutes for all: kernels take turns, so that each number is some kernel's.
const TURNS: usize = 4;

/// Numbers of threads, each with another grid, and some that there cannot be. On a GPU every one.
fn geometries(case: &Case, kernel: &Kernel, turn: usize) -> impl Iterator<Item = Geometry> {
    let (group, largest) = (kernel.unit().threads.max(32), kernel.threads());
    let turns = if case.platform == Platform::Cuda { 1 } else { TURNS };
    let is_of_turn = move |i: usize, threads: u32| {
        i == 0 || threads + group > largest || i % turns == turn % turns
    };
    let all = (group..=largest).step_by(group as usize).enumerate();
    let threads =
        all.filter(move |&(i, threads)| is_of_turn(i, threads)).map(|(_, threads)| threads);
    let threads = threads.chain([0, 33, u32::MAX]);
    let grids = [1, 3, 2, u32::MAX, 0].into_iter().cycle();
    threads.zip(grids).map(|(threads, grid)| Geometry { threads, blocks_per_multiprocessor: grid })
}

fn say_what_is_spread(case: &Case) {
    if case.platform != Platform::Cuda {
        eprintln!(
            "geometries: spread, 1 in {TURNS} numbers of threads for a kernel; a GPU runs all"
        );
    }
}

/// Blocks for several groups of threads, the last of which are not full.
fn blocks(kernel: &Kernel) -> usize {
    (4 * kernel.unit().blocks as usize + 17).max(700)
}

/// Every kernel of a program.
pub(crate) fn operations(case: &Case) -> Outcome {
    let device = (case.open)()?;
    say_what_is_spread(case);
    let mut turns = 0..;
    for target in targets(case)? {
        let engine = &target.engine;
        for operation in target.operations() {
            let kernel = task_of(operation).and_then(|task| engine.program().kernel(task));
            let kernel = kernel.ok_or("no kernel")?;
            let data = noise(target.cipher.block_bytes * blocks(kernel), 11);
            let mut expected = data.clone();
            expect(target.cipher, operation, &mut expected)?;
            for geometry in geometries(case, kernel, turns.next().unwrap_or(0)) {
                engine.launch_as(Some(geometry));
                let mut buffer = DeviceBuffer::from_host(&device, &data)?;
                engine.run(operation, &mut buffer.slice_mut(0..data.len())?)?;
                let what = format!("{} {operation:?}, {geometry:?}", target.name());
                compare(&buffer, &expected, &what)?;
            }
        }
    }
    Ok(())
}

/// Those of XTS: units that end anywhere, and such as end with a row.
pub(crate) fn data_units(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let mut turns = 0..;
    for family in families_of_16_bytes() {
        let program = family.program(device.properties()).map_err(|reason| reason.to_string())?;
        let keys = noise(2 * family.cipher().key_bytes[0], 31);
        let engine = family.xts_engine(&device, &keys)?;
        let tasks =
            [(Direction::Encrypt, Task::XtsEncrypt), (Direction::Decrypt, Task::XtsDecrypt)];
        for ((direction, task), bytes) in tasks.into_iter().zip([528, 4096]) {
            let kernel = program.kernel(task).ok_or("no kernel")?;
            let data = noise(16 * blocks(kernel), bytes as u64);
            let units = DataUnits { bytes, first: 7 };
            let mut expected = data.clone();
            xts_by_the_cpu(family.cipher(), &keys, direction, units, &mut expected)?;
            for geometry in geometries(case, kernel, turns.next().unwrap_or(0)) {
                engine.data_engine().launch_as(Some(geometry));
                let mut buffer = DeviceBuffer::from_host(&device, &data)?;
                engine.run(direction, units, &mut buffer.slice_mut(0..data.len())?)?;
                let what = format!("{} {direction}, {units:?}, {geometry:?}", family.summary());
                compare(&buffer, &expected, &what)?;
            }
        }
    }
    Ok(())
}
