//! Key material that is cleared when it is dropped.

use core::{
    fmt,
    ops::{Deref, DerefMut},
};

use cipher::{Array, array::ArraySize};

/// What can be cleared: words, and arrays of what can be.
pub trait Clear {
    /// Overwrites it with zeros.
    fn clear(&mut self);
}

macro_rules! clear_words {
    ($($word:ty)*) => {$(
        impl Clear for $word {
            fn clear(&mut self) {
                *self = 0;
            }
        }
    )*};
}
clear_words!(u8 u16 u32 u64);

impl<T: Clear, const N: usize> Clear for [T; N] {
    fn clear(&mut self) {
        self.iter_mut().for_each(Clear::clear);
    }
}

impl<T: Clear, N: ArraySize> Clear for Array<T, N> {
    fn clear(&mut self) {
        self.iter_mut().for_each(Clear::clear);
    }
}

/// Sets bytes to zero, at the speed of memory where `Zeroize` writes one after the other. The optimiser takes the zeros
/// for read (certainly so by feature `zeroize`), and does not leave them out.
#[inline]
pub fn clear_bytes(bytes: &mut [u8]) {
    bytes.fill(0);
    #[cfg(feature = "zeroize")]
    zeroize::optimization_barrier(bytes);
    #[cfg(not(feature = "zeroize"))]
    core::hint::black_box(bytes);
}

/// Key material: a key schedule, or round keys in the form that a batch wants. Cleared when dropped
/// (feature `zeroize`), and never printed.
#[derive(Clone)]
pub struct Secret<T: Clear>(T);

impl<T: Clear> Secret<T> {
    /// Takes it into keeping.
    pub fn new(material: T) -> Self {
        Self(material)
    }
}

impl<T: Clear> Deref for Secret<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clear> DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Clear> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret { .. }")
    }
}

#[cfg(feature = "zeroize")]
impl<T: Clear> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.clear();
        // The optimiser must take the zeros for read, and so write them.
        core::hint::black_box(&mut self.0);
    }
}

#[cfg(feature = "zeroize")]
impl<T: Clear> zeroize::ZeroizeOnDrop for Secret<T> {}
