//! Every way to compute a cipher by its name, and why some of them cannot run here. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 3_backends [CIPHER]`

use std::{env, error::Error};

use lanecrypt::{ConstantTime, Direction, engine, find_cipher};

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or_else(|| "aes".to_owned());
    let cipher = find_cipher(&name)?;
    let key = vec![7; cipher.key_bytes[0]];
    let plain = vec![0x5a; 100 * cipher.block_bytes];

    // The reference is the first row of each table, and what all others must agree with.
    let mut expected = plain.clone();
    engine(&name, "reference", &key)?.ecb(Direction::Encrypt, expected.as_mut_slice().into())?;
    println!("{name}, {}:", cipher.standard);
    for backend in cipher.backends {
        if let Err(reason) = (backend.available)() {
            println!("  {:24} not here: {reason}", backend.id);
            continue;
        }
        let mut data = plain.clone();
        engine(&name, backend.id, &key)?.ecb(Direction::Encrypt, data.as_mut_slice().into())?;
        assert_eq!(data, expected, "{}", backend.id);
        let claim = match backend.constant_time {
            ConstantTime::Yes => "constant-time".to_owned(),
            ConstantTime::No(why) => format!("not constant-time: {why}"),
        };
        println!("  {:24} {claim}", backend.id);
    }

    // A name that is not there is an error that lists those that are.
    if let Err(error) = engine(&name, "fastest-ever", &key) {
        println!("{error}");
    }
    Ok(())
}
