//! CTR by kernels that compute once what many counters share.

use lanecrypt::{
    aes,
    cuda::{DeviceBuffer, Geometry, Operation},
};

use crate::{
    Case,
    common::{Outcome, noise},
    compare, widest_on_the_cpu,
};

/// From any counter on, across every carry, under keys of every length; as few threads as it takes for
/// that to be worth it here.
pub(crate) fn shared_rounds(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let data = noise(16 * 5000 + 7, 13);
    for family in [&aes::cuda::BITSLICE, &aes::cuda::MIXED, &aes::cuda::CONFLICT_FREE] {
        for (i, &length) in aes::AES.key_bytes.iter().enumerate() {
            let key = noise(length, 17);
            let engine = family.engine(&device, &key)?;
            engine.launch_as(Some(Geometry { threads: 0, blocks_per_multiprocessor: 1 }));
            let carries = [8, 10, 16, 24, 32, 64, 128].map(|bits: u32| u128::MAX >> (128 - bits));
            let starts = [0, 0x0123_4567_89ab_cdef_0123_4567_fedc_ba98];
            let before = carries.map(|ones| ones.saturating_sub(2500));
            for first in starts.into_iter().chain(before).skip(if i == 0 { 0 } else { 6 }) {
                let counter = first.to_be_bytes();
                let mut expected = data.clone();
                let cpu = (widest_on_the_cpu(&aes::AES)?.create)(&key);
                let text = |error: lanecrypt::Error| error.to_string();
                let cpu = cpu.map_err(text)?;
                cpu.ctr(&counter, expected.as_mut_slice().into()).map_err(text)?;
                let mut buffer = DeviceBuffer::from_host(&device, &data)?;
                let mut whole = buffer.slice_mut(0..data.len())?;
                engine.run(Operation::Ctr(counter.into()), &mut whole)?;
                let what = format!("{} from {first:x}, {length}-byte key", family.summary());
                compare(&buffer, &expected, &what)?;
            }
        }
    }
    Ok(())
}
