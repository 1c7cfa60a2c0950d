//! Every public name and trait of the `aria` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen, sizes among it.

#[macro_use]
#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// All types of `$library`.
macro_rules! interface {
    ($module:ident, $library:ident, $clears:tt) => {
        backend_types!(
            $module, $library, $clears,
            Aria128: U16,
            Aria192: U24,
            Aria256: U32,
            Aria<13>: U16,
            Aria<15>: U24,
            Aria<17>: U32,
        );
    };
}
interface!(theirs, aria, []);
interface!(ours, lanecrypt_aria, [crate::drop_in::Clears]);

#[test]
fn types_are_theirs() {
    assert_eq!(ours::all(), theirs::all());
}
