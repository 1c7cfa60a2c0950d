//! What can go wrong on a device. Texts never contain key material or data.

use lanecrypt_core::Unavailable;

/// What can go wrong on a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no device that the kernels run on; one sentence says why.
    #[error("{0}")]
    Unavailable(#[from] Unavailable),
    /// A key, a length or a counter that the cipher or the mode does not take.
    #[error("{0}")]
    Data(lanecrypt_core::Error),
    /// There is too little memory on the device, or on the host for transfers.
    #[error("{device} has too little memory: {call}")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// What was being done.
        call: &'static str,
    },
    /// The device was removed, reset or has failed. [`Device::default`](crate::Device::default) opens it, or
    /// another one, anew.
    #[error("{device} was lost: {reason}")]
    Lost {
        /// The device's name.
        device: String,
        /// What is known.
        reason: String,
    },
    /// wgpu or the driver refused something.
    #[error("{device}: {call}: {reason}")]
    Refused {
        /// The device's name.
        device: String,
        /// What was being done.
        call: &'static str,
        /// What wgpu says.
        reason: String,
    },
}

impl From<Error> for lanecrypt_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable(unavailable) => Self::Unavailable(unavailable),
            Error::Data(error) => error,
            other => Self::Device(Box::new(other)),
        }
    }
}
