//! Modes over whole buffers, in place and from one buffer to another. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 2_bulk`

use std::error::Error;

use lanecrypt::{
    Ctr, Direction, Engine, Operation,
    aes::Aes256,
    cipher::{InOutBuf, KeyInit},
    registry::Dispatch,
};

fn main() -> Result<(), Box<dyn Error>> {
    let cipher = Aes256::new(&[7; 32].into());
    let (iv, plain) = ([9; 16], vec![0x5a; 1 << 20]);

    // In place: the whole buffer goes to the cipher in one piece, which no mode over single blocks does.
    let mut data = plain.clone();
    cipher.run(Operation::Ctr(iv.into()), data.as_mut_slice().into())?;

    // From one buffer to another, which stays as it is.
    let mut sealed = vec![0; plain.len()];
    cipher.run(Operation::Ctr(iv.into()), InOutBuf::new(&plain, &mut sealed)?)?;
    assert_eq!(sealed, data);

    // CBC decryption runs side by side, its encryption block by block: an operation knows.
    for direction in Direction::BOTH {
        let operation = Operation::Cbc(direction, &iv);
        println!("CBC, {direction}: serial is {}", operation.is_serial());
    }

    // A key stream that is taken piece by piece, from any position on.
    let mut stream = Ctr::new(&cipher, &iv)?;
    stream.try_seek_to(1000)?;
    stream.try_apply((&mut data[1000..2000]).into())?;
    assert_eq!(data[1000..2000], plain[1000..2000]);
    assert_ne!(data[..1000], plain[..1000]);

    if let Some(Dispatch::Batches(lanes)) = cipher.dispatch(plain.len() / 16) {
        println!("this CPU runs {lanes} blocks side by side");
    }
    Ok(())
}
