//! Sectors of a disk by XTS, many in one call, at any place. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 6_disk`

use std::error::Error;

use lanecrypt::{Direction, Xts, aes::Aes256, cipher::KeyInit, xts_halves_are_equal};

const SECTOR: usize = 512;

fn main() -> Result<(), Box<dyn Error>> {
    // The key of XTS is two, which differ.
    let key: [u8; 64] = std::array::from_fn(|i| i as u8);
    assert!(!xts_halves_are_equal(&key));
    let (data, tweak) = key.split_at(32);
    let xts = Xts::new(Aes256::new_from_slice(data)?, Aes256::new_from_slice(tweak)?);

    // A mebibyte of sectors that begins at sector 1000: each has its number as the tweak.
    let plain: Vec<u8> = (0..1 << 20).map(|i: u32| (i / 512) as u8).collect();
    let mut disk = plain.clone();
    xts.units(Direction::Encrypt, 1000, SECTOR, disk.as_mut_slice().into())?;

    // Any sector by itself, by its number.
    let at = 77 * SECTOR..78 * SECTOR;
    xts.units(Direction::Decrypt, 1077, SECTOR, (&mut disk[at.clone()]).into())?;
    assert_eq!(disk[at.clone()], plain[at.clone()]);
    xts.units(Direction::Encrypt, 1077, SECTOR, (&mut disk[at]).into())?;

    // XTS has no tag: a sector that was changed is opened to something else, without an error.
    disk[0] ^= 1;
    xts.units(Direction::Decrypt, 1000, SECTOR, disk.as_mut_slice().into())?;
    assert!(disk[..16] != plain[..16] && disk[16..] == plain[16..]);
    println!("{} sectors, of which one bit in the first cost 16 bytes", plain.len() / SECTOR);
    Ok(())
}
