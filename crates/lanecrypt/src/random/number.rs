//! The types of numbers that are drawn.

use std::ops::Range;

use zerocopy::{FromBytes, IntoBytes};

use super::{Draw, RandomError, Span};

mod sealed {
    pub trait Sealed {}
}

/// An integer that is drawn from a range: `i32`, `u32`, `i64` or `u64`.
pub trait Integer: sealed::Sealed + FromBytes + IntoBytes + Copy {
    #[doc(hidden)]
    fn draw(range: Range<Self>) -> Result<Draw, RandomError>;
}

/// A floating-point number: `f32` or `f64`.
pub trait Real: sealed::Sealed + FromBytes + IntoBytes + Copy {
    #[doc(hidden)]
    const UNITS: Draw;
    #[doc(hidden)]
    const NORMALS: Draw;
}

macro_rules! integers {
    ($($integer:ty, $variant:ident;)*) => {$(
        impl sealed::Sealed for $integer {}
        impl Integer for $integer {
            fn draw(range: Range<Self>) -> Result<Draw, RandomError> {
                Span::of(range.start.into()..range.end.into()).map(Draw::$variant)
            }
        }
    )*};
}

integers! {
    i32, Integers32;
    u32, Integers32;
    i64, Integers64;
    u64, Integers64;
}

impl sealed::Sealed for f32 {}
impl Real for f32 {
    const UNITS: Draw = Draw::Units32;
    const NORMALS: Draw = Draw::Normals32;
}

impl sealed::Sealed for f64 {}
impl Real for f64 {
    const UNITS: Draw = Draw::Units64;
    const NORMALS: Draw = Draw::Normals64;
}
