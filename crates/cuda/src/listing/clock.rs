//! The clock of a multiprocessor, read before and after launches: how long each took, to the cycle.

use crate::{
    Device, DeviceBuffer, Engine, Error, Operation, Stream,
    device::driver::{LoadedKernel, Shape},
};

/// One thread that writes `%clock64` and the number of its multiprocessor, each of 8 bytes.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry lanecrypt_read_clock(.param .align 8 .b8 job[16])
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [job];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u64 %rd2, %clock64;
    mov.u32 %r1, %smid;
    cvt.u64.u32 %rd3, %r1;
    st.global.u64 [%rd1], %rd2;
    st.global.u64 [%rd1 + 8], %rd3;
    ret;
}
";

/// Bytes of a reading.
const READING: usize = 16;

/// A clock of a device, by which launches are measured one after another.
///
/// A kernel of one thread reads the clock before and after each. The device is idle otherwise, so that all of these
/// threads run on the same multiprocessor; what two of them on different ones read is thrown away. A time includes the
/// device's own start of a launch, some thousand cycles.
#[derive(Debug)]
pub struct Clock {
    stream: Stream,
    kernel: LoadedKernel,
}

impl Clock {
    /// A clock of `device`, with a stream of its own.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for the host build, which has no clock; driver errors.
    pub fn new(device: &Device) -> Result<Self, Error> {
        // SAFETY: the kernel takes the address of a reading, as `read` launches it.
        let kernel = unsafe { device.driver().load_listing("lanecrypt_read_clock", PTX, 0) }?;
        Ok(Self { stream: Stream::new(device)?, kernel })
    }

    /// Cycles of `operation` over each piece of `bytes` of `data` in place, under `engines` in turn; `None` where the
    /// readings are of two multiprocessors.
    ///
    /// # Errors
    /// [`Error::Data`] for lengths that the mode does not take; [`Error::OtherDevice`]; driver errors.
    ///
    /// # Panics
    /// Without engines or bytes.
    pub fn cycles(
        &self,
        engines: &[&Engine],
        operation: Operation<'_>,
        data: &mut DeviceBuffer,
        bytes: usize,
    ) -> Result<Vec<Option<u64>>, Error> {
        self.stream.require_device(data.device())?;
        let pieces = data.len() / bytes;
        let mut readings = DeviceBuffer::zeroed(self.stream.device(), 2 * pieces * READING)?;
        let result = self.queue(engines, operation, (&mut *data, bytes), &mut readings);
        // What was queued runs in these buffers, also after an error.
        self.stream.synchronize()?;
        result?;
        let mut bytes = vec![0; readings.len()];
        readings.read(0, &mut bytes)?;
        let pairs = bytes.as_chunks::<8>().0.as_chunks::<4>().0;
        Ok(pairs
            .iter()
            .map(|pair| {
                let [start, first, end, last] = pair.map(u64::from_le_bytes);
                (first == last).then(|| end.wrapping_sub(start))
            })
            .collect())
    }

    /// Queues all runs, each between two readings.
    fn queue(
        &self,
        engines: &[&Engine],
        operation: Operation<'_>,
        (data, bytes): (&mut DeviceBuffer, usize),
        readings: &mut DeviceBuffer,
    ) -> Result<(), Error> {
        for number in 0..data.len() / bytes {
            let piece = data.slice(number * bytes..(number + 1) * bytes)?.address();
            let engine = engines[number % engines.len()];
            self.read(readings, 2 * number)?;
            // SAFETY: both buffers are borrowed until `cycles` has waited for the stream, and are of its device; the
            // engine checks that it is of it, too.
            unsafe { engine.queue_raw(&self.stream, operation, piece, piece, bytes) }?;
            self.read(readings, 2 * number + 1)?;
        }
        Ok(())
    }

    /// Queues a reading.
    fn read(&self, readings: &DeviceBuffer, number: usize) -> Result<(), Error> {
        let place = readings.slice(number * READING..(number + 1) * READING)?.address();
        let shape = Shape { grid: 1, threads: 1, shared_bytes: 0 };
        let driver = self.stream.device().driver();
        // SAFETY: the kernel writes a reading to the place, which is one of the buffer.
        unsafe { driver.launch(self.stream.handle, self.kernel, shape, &[place, 0]) }
    }
}
