//! Host memory in pieces: what is done with each on a lane, and the results in order.

use std::ptr::NonNull;

use cipher::InOutBuf;
use lanecrypt_slicing::SendBuf;

use super::{
    Cut, Piece,
    cut::Way,
    lane::{Extent, Lent},
    order::{Awaited, Order},
    pass,
};
use crate::{Device, Error, Stream};

/// Bytes of a piece up to which kernels read and write the lane's pinned memory itself.
const SHORT: usize = 16 << 10;

/// Host memory that passes a device.
enum Text<'a> {
    /// Data whose result comes back.
    Both(SendBuf<'a, 'a, u8>),
    /// Data of which nothing comes back.
    Input(&'a [u8]),
}

impl Text<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Both(data) => data.len(),
            Self::Input(data) => data.len(),
        }
    }

    fn input(&self) -> &[u8] {
        match self {
            Self::Both(data) => data.get_in(),
            Self::Input(data) => data,
        }
    }

    /// Where the result comes, if it does.
    fn output(&mut self) -> &mut [u8] {
        match self {
            Self::Both(data) => data.get_out(),
            Self::Input(_) => &mut [],
        }
    }

    /// Input and output for copies that go on when the borrow has ended.
    fn ends(&mut self) -> (NonNull<[u8]>, NonNull<[u8]>) {
        let slice = |start: *mut u8, length| {
            let start = NonNull::new(start).unwrap_or(NonNull::dangling()); // which it is not
            NonNull::slice_from_raw_parts(start, length)
        };
        match self {
            Self::Both(data) => {
                let (length, (input, output)) = (data.len(), data.reborrow().into_raw());
                (slice(input.cast_mut(), length), slice(output, length))
            }
            Self::Input(data) => (NonNull::from(*data), NonNull::from(&mut [])),
        }
    }

    fn split_at(self, length: usize) -> (Self, Self) {
        match self {
            Self::Both(data) => {
                let (first, rest) = data.into_inner().split_at(length);
                (Self::Both(first.into()), Self::Both(rest.into()))
            }
            Self::Input(data) => {
                let (first, rest) = data.split_at(length);
                (Self::Input(first), Self::Input(rest))
            }
        }
    }
}

/// A call: what its pieces share.
struct Call<W> {
    cut: Cut,
    /// What the device's part of a piece is filled up to.
    grain: usize,
    work: W,
    order: Order,
}

/// The pieces that no thread has taken yet.
struct Rest<'a, W> {
    call: &'a Call<W>,
    text: Option<Text<'a>>,
    taken: usize,
}

struct HostPiece<'a, W> {
    call: &'a Call<W>,
    /// Among all of them, from 0 on.
    number: usize,
    text: Text<'a>,
    awaited: Awaited<'a>,
}

/// Runs `work` over all of `data`, a piece at a time: it gets a stream, the address of a piece on the
/// device, the number of the piece and its bytes, and queues what is to be done in place. There the
/// piece is filled up to a multiple of `grain` bytes with whatever is there.
///
/// # Errors
/// [`Error::Interrupted`] by those of `work` and of the driver.
pub(crate) fn run(
    device: &Device,
    data: InOutBuf<'_, '_, u8>,
    cut: Cut,
    grain: usize,
    work: impl Fn(&Stream, u64, usize, usize) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let interrupted = |(piece, error): (usize, Error)| Error::Interrupted {
        complete: piece * cut.bytes,
        error: Box::new(error),
    };
    run_all(device, Text::Both(data.into()), cut, grain, work).map_err(interrupted)
}

/// The same where nothing comes back.
///
/// # Errors
/// Those of `work` and of the driver.
pub(crate) fn feed(
    device: &Device,
    data: &[u8],
    cut: Cut,
    grain: usize,
    work: impl Fn(&Stream, u64, usize, usize) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    run_all(device, Text::Input(data), cut, grain, work).map_err(|(_, error)| error)
}

/// An error is that of the first piece that failed.
fn run_all(
    device: &Device,
    text: Text<'_>,
    cut: Cut,
    grain: usize,
    work: impl Fn(&Stream, u64, usize, usize) -> Result<(), Error> + Sync,
) -> Result<(), (usize, Error)> {
    let call = Call { cut, grain, work, order: Order::default() };
    let text = (text.len() > 0).then_some(text);
    pass(device, cut.crew, Rest { call: &call, text, taken: 0 });
    call.order.into_failure().map_or(Ok(()), Err)
}

impl<'a, W> Iterator for Rest<'a, W> {
    type Item = HostPiece<'a, W>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { call, .. } = *self;
        if call.order.has_failed() {
            return None;
        }
        let text = self.text.take()?;
        let length = call.cut.bytes.min(text.len());
        let (text, rest) = text.split_at(length);
        self.text = (rest.len() > 0).then_some(rest);
        self.taken += 1;
        let awaited = call.order.awaited();
        Some(HostPiece { call, number: self.taken - 1, text, awaited })
    }
}

impl<W> Piece for HostPiece<'_, W>
where
    W: Fn(&Stream, u64, usize, usize) -> Result<(), Error> + Sync,
{
    /// That of every piece, also of the last one: so lanes are of one kind.
    fn lane_bytes(&self) -> usize {
        self.call.cut.bytes.next_multiple_of(self.call.grain)
    }

    fn start(&mut self, lane: &mut Lent<'_>) -> Result<(), Error> {
        let Self { call, number, text, .. } = self;
        let length = text.len();
        let all = length.next_multiple_of(call.grain);
        let work = |stream: &Stream, address| (call.work)(stream, address, *number, length);
        match call.cut.way {
            Way::Staged => {
                let extent = Extent { up: length, down: 0..text.output().len(), all };
                let fill = |pinned: &mut [u8]| pinned.copy_from_slice(text.input());
                if all <= SHORT {
                    return lane.start_short(extent, fill, work);
                }
                lane.start(extent, fill, work)
            }
            // SAFETY: the memory is the piece's, which the call has until it has waited for the lane;
            // it is dropped with the lane, and after it, if it does not come to that.
            Way::Pinned => unsafe { lane.start_pinned(all, text.ends(), work) },
        }
    }

    fn end(self, came_back: Result<&mut [u8], Error>) {
        let Self { call, number, mut text, awaited } = self;
        match came_back {
            Err(error) => call.order.fail(number, error),
            Ok(bytes) => {
                let is_turn = call.order.wait_for_turn(number);
                if is_turn && call.cut.way == Way::Staged {
                    let output = text.output();
                    output.copy_from_slice(&bytes[..output.len()]);
                }
            }
        }
        awaited.end();
    }
}
