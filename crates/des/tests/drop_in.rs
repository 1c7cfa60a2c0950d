//! Every public name and trait of the `des` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen, sizes among it.

#[macro_use]
#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// All types of `$library`.
macro_rules! interface {
    ($module:ident, $library:ident, $clears:tt) => {
        backend_types!(
            $module, $library, $clears,
            Des: U8,
            TdesEde2: U16,
            TdesEde3: U24,
            TdesEee2: U16,
            TdesEee3: U24,
        );
    };
}
interface!(theirs, des, []);
interface!(ours, lanecrypt_des, [crate::drop_in::Clears]);

/// But for the Debug text of `TdesEde3`, which theirs calls `TdesEee3` by mistake.
#[test]
fn types_are_theirs() {
    let mut expected = theirs::all();
    for text in &mut expected[2].0[2..] {
        assert_eq!(text, "TdesEee3 { ... }");
        *text = text.replace("TdesEee3", "TdesEde3");
    }
    assert_eq!(ours::all(), expected);
}

/// The verdicts of a library on a strong and a weak key.
macro_rules! verdicts {
    ($library:ident) => {
        [[0x13; 8], [1; 8]].map(|key| {
            fn text<E: Copy + Eq + std::error::Error + 'static>(error: E) -> String {
                format!("{error:?}")
            }
            let verdict: Result<(), $library::WeakKeyError> = $library::weak_key_test(&key);
            verdict.map_err(text)
        })
    };
}

#[test]
fn weak_keys_are_theirs() {
    assert_eq!(verdicts!(lanecrypt_des), verdicts!(des));
}
