//! Measuring random numbers that are drawn into memory of a GPU, by the device's events. The start, the middle and the end are
//! compared with what a CPU draws.

use lanecrypt::{
    aes,
    cuda::{DeviceBuffer, Family, Place},
    random::{Draw, Generator, Span},
};
use lanecrypt_record::{Figure, Work};

use super::{keyed::windows, passes::timed};

/// Whether `lanecrypt::random` draws by this family under such a key.
pub(crate) fn is_drawn_by(family: &Family, key_bytes: usize) -> bool {
    family.summary() == aes::cuda::FASTEST.summary() && key_bytes == 16
}

/// Draws as many numbers as the figure says into the first bytes of this memory.
///
/// # Errors
/// A sentence naming what failed; wrong numbers are a failure.
pub(crate) fn measure(
    figure: Figure,
    samples: usize,
    output: &mut DeviceBuffer,
) -> Result<Figure, String> {
    let draw = match figure.work {
        Work::RandomIntegers => Draw::Integers64(Span { lowest: 1, count: 6 }),
        Work::RandomUnits => Draw::Units32,
        Work::RandomNormals => Draw::Normals32,
        _ => Draw::Bytes,
    };
    let (bytes, text) = (figure.bytes, |error: &dyn std::fmt::Display| error.to_string());
    let key = Generator::from_seed(1).state();
    let engine = aes::cuda::FASTEST.engine(output.device(), &key[..16]);
    let engine = engine.map_err(|error| text(&error))?;
    let start = Place { stream: 0, bytes: 0 };
    let mut pass = |output: &mut DeviceBuffer| {
        let mut slice = output.slice_mut(0..bytes).map_err(|error| text(&error))?;
        let mut drawn = || engine.draw(draw.into(), start, &mut slice);
        let time = engine.device().time(&mut drawn).map_err(|error| text(&error))?;
        Ok(time.as_secs_f64())
    };
    timed(figure, samples, output, &mut pass, |output| {
        let mut random = Generator::from_seed(1);
        for window in windows(bytes) {
            let [mut found, mut expected] = [vec![0; window.len()], vec![0; window.len()]];
            output.read(window.start, &mut found).map_err(|error| text(&error))?;
            random.seek(window.start as u64);
            random.draw(draw, &mut expected).map_err(|error| text(&error))?;
            if found != expected {
                return Err(format!("{draw:?} is wrong within {window:?}; nothing is timed"));
            }
        }
        Ok(())
    })
}
