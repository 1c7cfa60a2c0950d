//! What OpenSSL calls a cipher context, in whichever mode.

use lanecrypt::Direction;

use crate::{
    Algorithm, Reason, Transfer, any_length::AnyLength, blocks::Blocks, ccm::Ccm, gcm::Gcm,
    xts::Xts,
};

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// An integer that is not negative.
    Number(u64),
    /// A string of octets.
    Bytes(&'a [u8]),
    /// A text.
    Text(&'a [u8]),
    /// Octets for which no length is said: an IV as long as the context's, a random key.
    Unsized(&'a [u8]),
    /// Octets that are not there, but whose number is: the length of a tag.
    Absent(usize),
    /// Anything else.
    Other,
}

impl<'a> Value<'a> {
    /// The integer.
    ///
    /// # Errors
    /// [`Reason::GetParameter`] where it is none.
    pub fn number(self) -> Result<usize, Reason> {
        match self {
            Self::Number(number) => usize::try_from(number).map_err(|_| Reason::GetParameter),
            _ => Err(Reason::GetParameter),
        }
    }

    /// The octets.
    ///
    /// # Errors
    /// [`Reason::GetParameter`] where there are none.
    pub fn bytes(self) -> Result<&'a [u8], Reason> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(Reason::GetParameter),
        }
    }
}

/// What a context does, by the functions of provider-cipher(7).
pub trait EvpCalls {
    /// Starts anew: what is not given stays, but for what the mode says of IVs.
    ///
    /// # Errors
    /// [`Reason::KeyLength`], [`Reason::IvLength`].
    fn init(
        &mut self,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<(), Reason>;

    /// Whether lengths of input and output are in bits.
    fn counts_bits(&self) -> bool {
        false
    }

    /// Takes all input and gives the length of what it wrote, in bytes, or bits where the input is
    /// counted so.
    ///
    /// # Errors
    /// Any [`Reason`]; the output is unspecified then.
    fn update(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason>;

    /// Says how many bytes of data will come.
    ///
    /// # Errors
    /// [`Reason::Argument`] where the mode does not ask for that, and they are not none.
    fn announce(&mut self, bytes: usize) -> Result<(), Reason> {
        if bytes == 0 { Ok(()) } else { Err(Reason::Argument) }
    }

    /// Takes associated data.
    ///
    /// # Errors
    /// [`Reason::Operation`] where the mode has none.
    fn associate(&mut self, _data: &[u8]) -> Result<(), Reason> {
        Err(Reason::Operation)
    }

    /// Ends the message: gives what was held back, or checks the tag.
    ///
    /// # Errors
    /// Any [`Reason`]; of a wrong tag [`Reason::NotAuthentic`].
    fn finish(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason>;

    /// The mode without padding and without holding anything back: `EVP_Cipher`.
    ///
    /// # Errors
    /// Any [`Reason`]; the output is unspecified then.
    fn cipher(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        self.update(data)
    }

    /// A parameter by name, for a place of `size` bytes; `None` where there is no such parameter.
    ///
    /// # Errors
    /// Any [`Reason`] why it cannot be had now.
    fn get(&mut self, name: &[u8], size: usize) -> Result<Option<Value<'_>>, Reason>;

    /// Sets a parameter by name; unknown ones are passed over, as OpenSSL's own providers do.
    ///
    /// # Errors
    /// Any [`Reason`] why it cannot be so.
    fn set(&mut self, name: &[u8], value: Value<'_>) -> Result<(), Reason>;
}

/// A context of one of the five kinds.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one allocation a context, of whichever kind")]
pub enum Context {
    /// Whole blocks, padded: ECB and CBC.
    Blocks(Blocks),
    /// Bytes or bits: CFB, OFB and CTR.
    AnyLength(AnyLength),
    /// GCM.
    Gcm(Gcm),
    /// CCM.
    Ccm(Ccm),
    /// XTS.
    Xts(Xts),
}

impl Context {
    /// A context without a key.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm) -> Self {
        use crate::EvpMode;
        match algorithm.mode {
            EvpMode::Ecb | EvpMode::Cbc => Self::Blocks(Blocks::new(algorithm)),
            EvpMode::Gcm => Self::Gcm(Gcm::new(algorithm)),
            EvpMode::Ccm => Self::Ccm(Ccm::new(algorithm)),
            EvpMode::Xts => Self::Xts(Xts::new(algorithm)),
            _ => Self::AnyLength(AnyLength::new(algorithm)),
        }
    }

    /// What it does.
    pub fn calls(&mut self) -> &mut dyn EvpCalls {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::AnyLength(context) => context,
            Self::Gcm(gcm) => gcm,
            Self::Ccm(ccm) => ccm,
            Self::Xts(xts) => xts,
        }
    }
}
