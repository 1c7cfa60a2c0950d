//! A mode in which each block waits for the one before it, over many messages side by side. Runs without a GPU.
//!
//! `cargo run --package lanecrypt-core --example 3_side_by_side`

use std::error::Error;

use cipher::KeyInit;
use lanecrypt_core::{
    CpuEngine, SerialMode,
    modes::{self, ChainedMessage},
};

fn main() -> Result<(), Box<dyn Error>> {
    let engine = CpuEngine::new(aes::Aes128::new(&[7; 16].into()));

    // Records under one key, each with its IV, as a sender of TLS has them.
    let mut records: Vec<_> = (0..100_u8).map(|i| vec![i; 16 * usize::from(1 + i)]).collect();
    let mut ivs: Vec<[u8; 16]> = (0..100).map(|i| [i; 16]).collect();
    let (plain, first_ivs) = (records.clone(), ivs.clone());

    let messages = ivs.iter_mut().zip(&mut records);
    let mut messages: Vec<_> = messages
        .map(|(iv, record)| ChainedMessage { iv, data: record.as_mut_slice().into() })
        .collect();
    // Alone, a block keeps a core waiting; here the engine has one of each message at once.
    SerialMode::Cbc.run_messages(&engine, &mut messages)?;

    // The same bytes as one after the other, and each IV is where its message goes on.
    for (record, ((plain, first), next)) in
        records.iter().zip(plain.iter().zip(&first_ivs).zip(&ivs))
    {
        let mut alone = plain.clone();
        modes::cbc_encrypt(&engine, first, alone.as_mut_slice().into())?;
        assert_eq!(*record, alone);
        assert_eq!(record[record.len() - 16..], *next);
    }
    println!("{} records, {} bytes", records.len(), plain.iter().map(Vec::len).sum::<usize>());
    Ok(())
}
