//! What is known of a value: whether it depends on key or data, and where it points.

/// A value of a general-purpose register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// It may depend on key or data.
    Secret,
    /// It may, but for its lowest byte.
    PublicByte,
    /// It does not: a length, a counter, a pointer to blocks or keys. What is loaded through it is
    /// secret.
    Public,
    /// This number.
    Number(i64),
    /// Points into the function's frame, this number of bytes from the return address; `None`
    /// where that is not one place, or may be elsewhere. The body is a part of the frame, from
    /// [`BODY`] on.
    Frame(Option<i64>),
    /// This number of bytes from the start of the keys of a body.
    Keys(i64),
    /// Points to what is a constant of the program, wherever in it; or to public words that a region only reads.
    Constants,
    /// A function, by the address of its entry in the table that the loader fills.
    Function(u64),
}

/// Where the body that an argument points to is put, beyond any frame.
pub(crate) const BODY: i64 = 1 << 40;

impl Value {
    pub(crate) fn is_secret(self) -> bool {
        matches!(self, Self::Secret | Self::PublicByte)
    }

    fn is_frame(self) -> bool {
        matches!(self, Self::Frame(_))
    }

    /// What is known of a value that is one or the other.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Secret, _) | (_, Self::Secret) => Self::Secret,
            (Self::PublicByte, _) | (_, Self::PublicByte) => Self::PublicByte,
            _ if self.is_frame() || other.is_frame() => Self::Frame(None),
            _ => Self::Public,
        }
    }

    /// What is known of a value that is computed of both, however.
    pub(crate) fn mix(self, other: Self) -> Self {
        match self.join(other) {
            Self::Secret | Self::PublicByte => Self::Secret,
            Self::Frame(_) => Self::Frame(None),
            _ => Self::Public,
        }
    }

    /// Its lowest `bytes` bytes.
    pub(crate) fn lowest(self, bytes: i64) -> Self {
        match (self, bytes) {
            (value, 8) => value,
            (Self::PublicByte, 1) => Self::Public,
            (Self::Secret | Self::PublicByte, _) => self,
            (Self::Number(number), 4) => Self::Number(number & 0xffff_ffff),
            _ => Self::Public,
        }
    }

    /// The sum. A body has no arrays, so a place in it that is not known is taken for secret.
    pub(crate) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a.wrapping_add(b)),
            (Self::Frame(Some(at)), Self::Number(by))
            | (Self::Number(by), Self::Frame(Some(at))) => Self::Frame(Some(at.wrapping_add(by))),
            (Self::Keys(at), Self::Number(by)) | (Self::Number(by), Self::Keys(at)) => {
                Self::Keys(at.wrapping_add(by))
            }
            (Self::Constants, Self::Number(_) | Self::Public)
            | (Self::Number(_) | Self::Public, Self::Constants) => Self::Constants,
            (Self::Frame(Some(at)), _) | (_, Self::Frame(Some(at))) if at >= BODY => Self::Secret,
            _ => self.mix(other),
        }
    }

    /// The difference.
    pub(crate) fn minus(self, other: Self) -> Self {
        match (self, other) {
            (_, Self::Number(by)) => self.plus(Self::Number(by.wrapping_neg())),
            (Self::Constants, Self::Public) => Self::Constants,
            (Self::Frame(Some(_)), Self::Frame(Some(_))) => Self::Public,
            _ => self.mix(other),
        }
    }

    /// The product with the scale of an index.
    pub(crate) fn times(self, scale: u8) -> Self {
        match self {
            Self::Number(value) => Self::Number(value.wrapping_mul(i64::from(scale))),
            _ if scale == 1 => self,
            _ => self.mix(self),
        }
    }

    /// The bits that both have. An address in the frame is taken to be that far from a multiple of
    /// 4096 which it is from the return address: what is in a frame does not depend on where it lies.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a & b),
            (Self::Frame(Some(at)), Self::Number(bits)) if at < BODY && bits < 0 => {
                Self::Frame(Some(at & bits))
            }
            _ => self.mix(other),
        }
    }
}
