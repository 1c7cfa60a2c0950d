//! Random numbers on a device: those of the CPU, at any place and address.

use lanecrypt::{
    aes::cuda::MIXED,
    cuda::{self, Device, DeviceBuffer, Stream},
    random::{Draw, Generator, RandomError, Span},
};

use crate::{
    Case, Platform,
    common::{Outcome, noise},
    compare,
};

/// Every sort of number; of integers, ranges of which half of all words, few and none are refused.
fn draws() -> Vec<Draw> {
    let span = |lowest, count| Span { lowest, count };
    vec![
        Draw::Bytes,
        Draw::Integers32(span(0, 6)),
        Draw::Integers32(span(u64::MAX - 9, (1 << 31) + 1)),
        Draw::Integers32(span(0, 0)),
        Draw::Integers64(span(5, 1_000_003)),
        Draw::Integers64(span(u64::MAX - 9, (1 << 63) + 1)),
        Draw::Integers64(span(0, 0)),
        Draw::Units32,
        Draw::Units64,
        Draw::Normals32,
        Draw::Normals64,
    ]
}

/// Where requests begin in a stream, where in memory, and how many numbers they have: within a block, in blocks that memory
/// has askew, and over the places where counters carry out of 16 and 32 bits.
const REQUESTS: [(u64, usize, usize); 9] = [
    (0, 0, 0),
    (0, 0, 1),
    (8, 8, 1000),
    (16, 8, 1001),
    (24, 48, 3),
    (8, 16, 2),
    (0, 32, 5000),
    (16 * 0xffff - 8, 24, 300),
    ((16 << 32) - 64, 0, 40),
];

/// Random numbers are the CPU's, to the last bit, and touch nothing around them.
pub(crate) fn numbers(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let stream = Stream::new(&device)?;
    for draw in draws() {
        let mut here = Generator::from_seed(1).stream(0xffff_ffff_fffe)?;
        for (place, at, count) in REQUESTS {
            let length = count * draw.number_bytes();
            let mut expected = noise(at + length + 32, 7);
            let mut buffer = DeviceBuffer::from_host(&device, &expected)?;
            here.seek(place);
            let mut there = Generator::from_state(&here.state())?;
            here.draw(draw, &mut expected[at..at + length])?;
            there.draw_on(&stream, draw, &mut buffer.slice_mut(at..at + length)?)?.wait()?;
            compare(&buffer, &expected, &format!("{draw:?} from byte {place} to {at}, {count}"))?;
            assert_eq!(here.place(), there.place(), "{draw:?}");
        }
    }
    Ok(())
}

/// Bytes by the kernel for many of them, in runs that begin and end anywhere.
pub(crate) fn bytes_of_runs(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let stream = Stream::new(&device)?;
    let mut random = Generator::from_seed(4).stream(1)?;
    let engine = MIXED.engine(&device, &random.state()[..16])?;
    let draw = cuda::Draw::from(Draw::Bytes);
    for (bytes, length) in [
        (0, 16),
        (0, 200_000),
        (16 * 1023, 40_000),
        (16 * 0xffff, 70_000),
        ((16 << 32) - 3200, 6400),
    ] {
        let mut expected = noise(length + 64, 9);
        let mut buffer = DeviceBuffer::from_host(&device, &expected)?;
        let mut slice = buffer.slice_mut(32..32 + length)?;
        engine.queue_draw(&stream, draw, cuda::Place { stream: 1, bytes }, &mut slice)?.wait()?;
        random.seek(bytes);
        random.bytes(&mut expected[32..32 + length])?;
        compare(&buffer, &expected, &format!("{length} bytes from {bytes} in runs"))?;
    }
    Ok(())
}

/// A long request, of bytes by the kernel for many of them; and what cannot be drawn.
pub(crate) fn many(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let stream = Stream::new(&device)?;
    let bytes = if case.platform == Platform::Cuda { case.large_bytes } else { 70_001 };
    let mut expected = vec![0; bytes];
    for (draw, length) in [(Draw::Bytes, bytes), (Draw::Normals32, bytes / 64 * 4)] {
        let mut random = Generator::from_seed(2);
        random.draw(draw, &mut expected[..length])?;
        random.seek(0);
        let mut buffer = DeviceBuffer::zeroed(&device, length)?;
        random.draw_on(&stream, draw, &mut buffer.slice_mut(0..length)?)?.wait()?;
        compare(&buffer, &expected[..length], &format!("{length} bytes of {draw:?}"))?;
    }
    refused(&device, &stream)
}

fn refused(device: &Device, stream: &Stream) -> Outcome {
    let mut buffer = DeviceBuffer::zeroed(device, 64)?;
    let mut random = Generator::from_seed(3);
    let part = random.draw_on(stream, Draw::Units64, &mut buffer.slice_mut(0..12)?).map(drop);
    assert!(matches!(part, Err(RandomError::Length { given: 12, number: 8 })), "{part:?}");
    random.seek(u64::MAX - 63);
    let end = random.draw_on(stream, Draw::Bytes, &mut buffer.slice_mut(0..64)?).map(drop);
    assert!(matches!(end, Err(RandomError::End { length: 64, .. })), "{end:?}");
    Ok(())
}
