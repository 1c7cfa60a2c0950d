//! A block cipher of another crate as an engine: every mode over whole buffers, in place or not. Runs without a GPU.
//!
//! `cargo run --package lanecrypt-core --example 1_engine`

use std::error::Error;

use cipher::{InOutBuf, KeyInit};
use lanecrypt_core::{CpuEngine, Direction, Engine, Operation};

fn main() -> Result<(), Box<dyn Error>> {
    let engine = CpuEngine::new(aes::Aes128::new(&[7; 16].into()));
    let (iv, plain) = ([1; 16], vec![0x5a; 4096]);

    // An operation says all that a call needs: an engine keeps nothing from one call to the next.
    for (seal, open) in [
        (Operation::Ecb(Direction::Encrypt), Operation::Ecb(Direction::Decrypt)),
        (Operation::Cbc(Direction::Encrypt, &iv), Operation::Cbc(Direction::Decrypt, &iv)),
        (Operation::Ctr(iv.into()), Operation::Ctr(iv.into())),
        (Operation::Ofb(&iv), Operation::Ofb(&iv)),
    ] {
        let mut sealed = vec![0; plain.len()];
        engine.run(seal, InOutBuf::new(&plain, &mut sealed)?)?; // from one buffer to another
        assert_ne!(sealed, plain);
        engine.run(open, sealed.as_mut_slice().into())?; // in place
        assert_eq!(sealed, plain, "{}", seal.mode());
        println!("{}: there and back, serial is {}", seal.mode(), seal.is_serial());
    }

    // What does not fit is an error before anything is written.
    let mut short = [0x5a; 17];
    let error = engine.ecb(Direction::Encrypt, short.as_mut_slice().into());
    assert!(error.is_err() && short == [0x5a; 17]);
    Ok(())
}
