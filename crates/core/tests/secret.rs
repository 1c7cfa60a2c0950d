//! Key material: read and written like what it holds, never shown, cleared when dropped.

use cipher::{Array, consts::U3};
use lanecrypt_core::{Clear, Secret};

#[test]
fn words_and_arrays_are_cleared() {
    let mut words = ([1_u8; 3], [2_u16; 3], [3_u32; 3], [[4_u64; 2]; 3]);
    words.0.clear();
    words.1.clear();
    words.2.clear();
    words.3.clear();
    assert_eq!(words, ([0; 3], [0; 3], [0; 3], [[0; 2]; 3]));
    let mut array = Array::<[u32; 2], U3>::from([[5, 6]; 3]);
    array.clear();
    assert_eq!(array.0, [[0; 2]; 3]);
}

#[test]
fn secrets_are_what_they_hold_and_show_nothing() {
    let mut secret = Secret::new([7_u32; 4]);
    secret[1] = 0xb7b7;
    let copy = secret.clone();
    secret[1] = 1;
    assert_eq!((*copy, *secret), ([7, 0xb7b7, 7, 7], [7, 1, 7, 7]));
    assert_eq!(format!("{copy:?} {copy:#?}"), "Secret { .. } Secret { .. }");
}

/// What is dropped is cleared first, and only with the feature.
#[test]
fn secrets_are_cleared_when_dropped() {
    use std::{cell::Cell, rc::Rc};

    /// Notes that it was cleared.
    #[derive(Clone)]
    struct Noted(Rc<Cell<usize>>);

    impl Clear for Noted {
        fn clear(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    let cleared = Rc::new(Cell::new(0));
    let secret = Secret::new(Noted(cleared.clone()));
    let copy = secret.clone();
    assert_eq!(cleared.get(), 0);
    drop(secret);
    assert_eq!(cleared.get(), usize::from(cfg!(feature = "zeroize")));
    drop(copy);
    assert_eq!(cleared.get(), 2 * usize::from(cfg!(feature = "zeroize")));
}

#[cfg(feature = "zeroize")]
#[test]
fn secrets_say_that_they_are_cleared() {
    fn clears<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    clears(&Secret::new([0_u8; 4]));
}
