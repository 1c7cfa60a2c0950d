//! Every public name and trait of the `camellia` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen, sizes among it.

#[macro_use]
#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// All types of `$library`.
macro_rules! interface {
    ($module:ident, $library:ident, $clears:tt) => {
        backend_types!(
            $module, $library, $clears,
            Camellia128: U16,
            Camellia192: U24,
            Camellia256: U32,
            Camellia<consts::U16, 26>: U16,
            Camellia<consts::U24, 34>: U24,
            Camellia<consts::U32, 34>: U32,
        );
    };
}
interface!(theirs, camellia, []);
interface!(ours, lanecrypt_camellia, [crate::drop_in::Clears]);

#[test]
fn types_are_theirs() {
    assert_eq!(ours::all(), theirs::all());
}
