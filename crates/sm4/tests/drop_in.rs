//! Every public name and trait of the `sm4` crate, used in the same text on theirs and on ours: what is missing does
//! not compile, and what differs is seen, sizes among it.

#[macro_use]
#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// All types of `$library`.
macro_rules! interface {
    ($module:ident, $library:ident, $clears:tt) => {
        backend_types!($module, $library, $clears, Sm4: U16);
    };
}
interface!(theirs, sm4, []);
interface!(ours, lanecrypt_sm4, [crate::drop_in::Clears]);

#[test]
fn types_are_theirs() {
    assert_eq!(ours::all(), theirs::all());
}
