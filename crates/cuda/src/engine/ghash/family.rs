//! The ways to compute GHASH on a device.

use lanecrypt_core::ConstantTime;
use lanecrypt_kernels::{Kernel, ghash as kernels};

use crate::{Properties, device::geometry::Launch};

/// A way to compute GHASH on a device. Parts of a message are multiplied by powers of the key in
/// constant time in either way; they differ in how they go through long messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashFamily {
    /// Look-ups of bytes in shared memory, on any device.
    Tables,
    /// Products of bits on tensor cores: compute capability 8.0 to 9.x, and the host build, which
    /// emulates them.
    Matrices,
    /// The same with the products and copies that compute capability 9.0 alone has, and the host build,
    /// which emulates them too.
    WideMatrices,
}

impl HashFamily {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tables, Self::Matrices, Self::WideMatrices];

    /// The fastest for a device.
    #[must_use]
    pub fn of(properties: &Properties) -> Self {
        match properties.compute_capability {
            (9, 0) => Self::WideMatrices,
            (8 | 9, _) => Self::Matrices,
            _ => Self::Tables, // later devices emulate products of bits
        }
    }

    /// Whether a device can run it.
    #[must_use]
    pub fn fits(self, properties: &Properties) -> bool {
        match (self, properties.compute_capability) {
            (Self::Tables, _) | (Self::Matrices, (0 | 8 | 9, _)) => true,
            (Self::WideMatrices, (major, minor)) => major == 0 || (major, minor) == (9, 0),
            (Self::Matrices, _) => false,
        }
    }

    /// The compute capabilities that it needs, as a message has them.
    pub(super) const fn needs(self) -> &'static str {
        match self {
            Self::Tables => "any compute capability",
            Self::Matrices => "compute capability 8.0 to 9.x",
            Self::WideMatrices => "compute capability 9.0",
        }
    }

    /// Its constant-time claim.
    #[must_use]
    pub const fn constant_time(self) -> ConstantTime {
        match self {
            Self::Tables => ConstantTime::LOOKS_UP,
            Self::Matrices | Self::WideMatrices => ConstantTime::Yes,
        }
    }

    /// One line for tables.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Tables => "GHASH by look-ups of bytes",
            Self::Matrices => "GHASH by matrices of bits on tensor cores",
            Self::WideMatrices => "GHASH by matrices of bits on tensor cores, from shared memory",
        }
    }

    /// The kernel that goes through long messages.
    pub(super) const fn kernel(self) -> &'static Kernel {
        match self {
            Self::Tables => &kernels::TABLES,
            Self::Matrices => &kernels::MATRICES,
            Self::WideMatrices => &kernels::WIDE_MATRICES,
        }
    }

    /// Sums that a launch of its kernel for long messages writes.
    pub(super) fn sums(self, long: Launch) -> u64 {
        let groups = long.threads() / self.kernel().unit().threads as usize;
        groups as u64 * self.matrices().map_or(1, |matrices| matrices.rows)
    }

    /// The matrices that it multiplies by, if any.
    pub(super) const fn matrices(self) -> Option<Matrices> {
        match self {
            Self::Tables => None,
            Self::Matrices => Some(Matrices {
                writer: &kernels::MATRIX_WORDS,
                words: kernels::MATRIX_WORD_COUNT,
                rows: kernels::MATRIX_ROWS,
                step: 4, // of four neighbours of 64 blocks each
            }),
            Self::WideMatrices => Some(Matrices {
                writer: &kernels::WIDE_MATRIX_WORDS,
                words: kernels::WIDE_MATRIX_WORD_COUNT,
                rows: kernels::WIDE_MATRIX_ROWS,
                step: 1,
            }),
        }
    }
}

/// What a family does with matrices of bits.
#[derive(Clone, Copy)]
pub(super) struct Matrices {
    /// The kernel that makes them of powers of the key.
    pub(super) writer: &'static Kernel,
    /// Their 32-bit words.
    pub(super) words: usize,
    /// Sums that a unit's threads write.
    pub(super) rows: u64,
    /// Blocks between what neighbours of these sums stand for.
    pub(super) step: u64,
}
