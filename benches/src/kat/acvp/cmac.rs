//! Algorithm functional tests of CMAC: tags that are made, and tags that are compared.

use std::{fmt, marker::PhantomData};

use cipher::{
    BlockSizeUser,
    array::ArraySize,
    consts::{U8, U16},
    inout::InOutBuf,
};
use lanecrypt::{Chains, Engine, Error, MessagesError, Operation, cmac::BatchCmac};
use serde_json::{Map, Value};

use super::{
    algorithm::{Context, exactly, hex},
    error::AcvpError,
    fields::Fields,
};

pub(super) fn answer(
    Context { algorithm, target }: Context<'_>,
    group: Fields<'_>,
    test: Fields<'_>,
) -> Result<Map<String, Value>, AcvpError> {
    let key = algorithm.key(group, test)?;
    let message = exactly(test, "message", group.bits_as_bytes("msgLen")?)?;
    let bytes = group.bits_as_bytes("macLen")?;
    let block = target.cipher.block_bytes;
    if !(1..=block).contains(&bytes) {
        return Err(group.refused("macLen", format!("8 to {} bits", 8 * block)));
    }
    let made = (target.backend.create)(&key).and_then(|engine| tag(engine, &message));
    let made = made.map_err(|error| AcvpError::Engine { place: test.place, error })?;
    let made = &made[..bytes];
    match group.text("direction")? {
        "gen" => Ok(Map::from_iter([("mac".to_owned(), hex(made))])),
        "ver" => {
            let is_right = exactly(test, "mac", bytes)? == made;
            Ok(Map::from_iter([("testPassed".to_owned(), is_right.into())]))
        }
        _ => Err(group.refused("direction", "gen or ver")),
    }
}

/// The whole tag of a message.
fn tag(engine: Box<dyn Engine>, message: &[u8]) -> Result<Vec<u8>, Error> {
    match engine.block_bytes() {
        8 => tag_of_blocks::<U8>(engine, message),
        _ => tag_of_blocks::<U16>(engine, message),
    }
}

fn tag_of_blocks<N>(engine: Box<dyn Engine>, message: &[u8]) -> Result<Vec<u8>, Error>
where
    N: ArraySize<ArrayType<u8>: Copy>,
{
    let mut tags = [cipher::Array::<u8, N>::default()];
    match BatchCmac::of(OfBlocks::<N>(engine, PhantomData))?.tags(&[message], &mut tags) {
        Ok(()) => Ok(tags[0].to_vec()),
        Err(MessagesError::Engine(error) | MessagesError::Message { error, .. }) => Err(error),
        Err(error) => unreachable!("one tag for one message: {error}"),
    }
}

/// An engine whose blocks have `N` bytes, as the compiler knows.
struct OfBlocks<N>(Box<dyn Engine>, PhantomData<fn() -> N>);

impl<N: ArraySize> BlockSizeUser for OfBlocks<N> {
    type BlockSize = N;
}

impl<N> fmt::Debug for OfBlocks<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<N> Engine for OfBlocks<N> {
    fn block_bytes(&self) -> usize {
        self.0.block_bytes()
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.0.run(operation, data)
    }

    fn chains_at_once(&self) -> usize {
        self.0.chains_at_once()
    }

    fn run_chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        self.0.run_chains(chains)
    }
}
