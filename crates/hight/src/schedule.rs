//! Whitening keys and subkeys, and the constants that an LFSR gives for them.

use lanecrypt_slicing::Bytes;

/// Rounds, four subkeys each.
pub(crate) const ROUNDS: usize = 32;

/// `delta[i]` is the seven bits of the LFSR from `s[i]`, its lowest bit, to `s[i + 6]`. The LFSR
/// has connection polynomial x^7 + x^3 + 1, that is `s[i + 6] = s[i + 2] ^ s[i - 1]`, and starts
/// from `delta[0] = 0x5a`.
pub(crate) const DELTA: [u8; 4 * ROUNDS] = {
    let mut delta = [0x5a; 4 * ROUNDS];
    let mut i = 1;
    while i < delta.len() {
        let bits = delta[i - 1];
        delta[i] = bits >> 1 | (bits >> 3 & 1 ^ bits & 1) << 6;
        i += 1;
    }
    delta
};

/// Whitening keys and subkeys, in every lane of a `B`: `u8` for one block.
#[derive(Clone)]
pub struct Subkeys<B: Bytes> {
    /// WK0 to WK7: the first four before the first round, the others after the last.
    pub(crate) whitening: [B; 8],
    /// SK(4i) to SK(4i + 3), those of round i.
    pub(crate) rounds: [[B; 4]; ROUNDS],
}

impl Subkeys<u8> {
    /// Expands a key whose first byte is MK15. Without branches and look-ups that depend on it.
    pub(crate) fn expand(key: &[u8; 16]) -> Self {
        let master = |i: usize| key[15 - i];
        let whitening = core::array::from_fn(|i| master((i + 12) % 16));
        let mut rounds = [[0; 4]; ROUNDS];
        for (n, subkey) in rounds.as_flattened_mut().iter_mut().enumerate() {
            // n = 16i + 8h + j: byte j - i modulo 8 of half h of the key.
            let (i, half, j) = (n / 16, n / 8 % 2, n % 8);
            *subkey = master((8 + j - i) % 8 + 8 * half).wrapping_add(DELTA[n]);
        }
        Self { whitening, rounds }
    }

    /// The same keys in every lane.
    pub(crate) fn splat<B: Bytes>(&self) -> Subkeys<B> {
        Subkeys {
            whitening: self.whitening.map(B::splat),
            rounds: self.rounds.map(|round| round.map(B::splat)),
        }
    }
}

impl<B: Bytes> core::fmt::Debug for Subkeys<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Subkeys").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<B: Bytes> Drop for Subkeys<B> {
    fn drop(&mut self) {
        self.whitening.fill(B::splat(0));
        self.rounds.as_flattened_mut().fill(B::splat(0));
        // Keeps the writes above from being optimised away: the keys are used afterwards.
        core::hint::black_box(self);
    }
}

#[cfg(feature = "zeroize")]
impl<B: Bytes> zeroize::ZeroizeOnDrop for Subkeys<B> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The LFSR from its recurrence, a bit at a time, against the constants.
    #[test]
    fn constants_are_the_lfsr() {
        let mut s = [0; 4 * ROUNDS + 6];
        s[..7].copy_from_slice(&[0, 1, 0, 1, 1, 0, 1]);
        for i in 1..4 * ROUNDS {
            s[i + 6] = s[i + 2] ^ s[i - 1];
        }
        for (i, &delta) in DELTA.iter().enumerate() {
            assert_eq!(delta, (0..7).map(|bit| s[i + bit] << bit).sum::<u8>(), "delta {i}");
        }
        assert_eq!(DELTA[..5], [0x5a, 0x6d, 0x36, 0x1b, 0x0d]);
        assert_eq!(DELTA[127], 0x5a, "the period is 127");
    }
}
