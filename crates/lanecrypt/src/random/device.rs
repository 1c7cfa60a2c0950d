//! Numbers drawn into memory of a device.

use lanecrypt_aes::cuda::FASTEST;
use lanecrypt_cuda::{self as cuda, DeviceSliceMut, Pending, Stream, kernels::random};

use super::{Draw, Generator, RandomError, Span};

impl Generator {
    /// As [`draw`](Self::draw), on a stream of a device. The numbers are those that the CPU would have drawn.
    ///
    /// The first call for a device makes the keys for it; later ones only launch.
    ///
    /// # Errors
    /// [`RandomError::Length`], [`RandomError::WideRange`], [`RandomError::End`]; [`RandomError::Device`], after which the generator is at the end of
    /// the request as well.
    pub fn draw_on<'b>(
        &mut self,
        stream: &'b Stream,
        draw: Draw,
        output: &'b mut DeviceSliceMut<'_>,
    ) -> Result<Pending<'b>, RandomError> {
        let bytes = self.take(draw, output.as_slice().len())?;
        let there = self.there.take().filter(|engine| engine.device() == stream.device());
        let engine = match there {
            Some(engine) => engine,
            None => FASTEST.engine(stream.device(), &*self.key)?,
        };
        let place = cuda::Place { stream: self.stream, bytes };
        let engine = self.there.insert(engine);
        Ok(engine.queue_draw(stream, draw.into(), place, output)?)
    }
}

impl From<Draw> for cuda::Draw {
    fn from(draw: Draw) -> Self {
        let (numbers, span) = match draw {
            Draw::Bytes => (random::Draw::Bytes, None),
            Draw::Integers32(span) => (random::Draw::Integers32, Some(span)),
            Draw::Integers64(span) => (random::Draw::Integers64, Some(span)),
            Draw::Units32 => (random::Draw::Units32, None),
            Draw::Units64 => (random::Draw::Units64, None),
            Draw::Normals32 => (random::Draw::Normals32, None),
            Draw::Normals64 => (random::Draw::Normals64, None),
        };
        let Span { lowest, count } = span.unwrap_or(Span { lowest: 0, count: 0 });
        Self { numbers, lowest, range: count }
    }
}
