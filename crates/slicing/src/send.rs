//! Buffers for other threads.

use core::{
    fmt,
    ops::{Deref, DerefMut},
};

use cipher::InOutBuf;

/// A buffer on its way to another thread, which `InOutBuf`, made of pointers, cannot go by itself.
///
/// ```
/// use lanecrypt_slicing::SendBuf;
///
/// let mut data = *b"some bytes";
/// let (left, right) = cipher::InOutBuf::from(&mut data[..]).split_at(4);
/// let right = SendBuf::from(right);
/// std::thread::scope(|scope| {
///     scope.spawn(|| right.into_inner().get_out().make_ascii_uppercase());
///     drop(left);
/// });
/// assert_eq!(&data, b"some BYTES");
/// ```
pub struct SendBuf<'inp, 'out, T>(InOutBuf<'inp, 'out, T>);

// SAFETY: an `InOutBuf` is a `&[T]` and a `&mut [T]` apart from each other, or one `&mut [T]` that is both, and
// it is not `Copy`: who has it has alone what it would write, and shares what it only reads. So it may go
// where these references may.
unsafe impl<T: Send + Sync> Send for SendBuf<'_, '_, T> {}

impl<'inp, 'out, T> From<InOutBuf<'inp, 'out, T>> for SendBuf<'inp, 'out, T> {
    fn from(buffer: InOutBuf<'inp, 'out, T>) -> Self {
        Self(buffer)
    }
}

impl<'inp, 'out, T> SendBuf<'inp, 'out, T> {
    /// The buffer itself, on the thread where it is used; by reference it is there without this.
    #[must_use]
    pub fn into_inner(self) -> InOutBuf<'inp, 'out, T> {
        self.0
    }
}

impl<'inp, 'out, T> Deref for SendBuf<'inp, 'out, T> {
    type Target = InOutBuf<'inp, 'out, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for SendBuf<'_, '_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> fmt::Debug for SendBuf<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBuf").field("len", &self.0.len()).finish_non_exhaustive()
    }
}
