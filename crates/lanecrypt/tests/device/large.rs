//! Host memory of several GiB through the types of ciphers on devices.

use lanecrypt::{
    Direction, Operation, aes,
    cipher::{Array, Block, BlockCipherDecrypt, BlockCipherEncrypt},
    cuda::{Device, DeviceCipher, OnDevice},
    hight,
    registry::CipherDescription,
};

use crate::{Case, common::Outcome, expect, key_of, paint};

/// Host memory of the same size through `encrypt_blocks` and back.
pub(crate) fn host_buffers(case: &Case) -> Outcome {
    let device = (case.open)()?;
    host_buffer_of::<aes::Aes256>(&device, &aes::AES, case.large_bytes)?;
    host_buffer_of::<hight::Hight>(&device, &hight::HIGHT, case.large_bytes)
}

fn host_buffer_of<C: DeviceCipher>(
    device: &Device,
    description: &CipherDescription,
    length: usize,
) -> Outcome {
    let cipher = OnDevice::<C>::new(device, &key_of::<C>())?;
    let mut blocks: Vec<Block<C>> = vec![Array::default(); length / description.block_bytes];
    paint(Array::slice_as_flattened_mut(&mut blocks));
    let plain = blocks.clone();
    let mut expected = blocks.clone();
    let encrypt = Operation::Ecb(Direction::Encrypt);
    expect(description, encrypt, Array::slice_as_flattened_mut(&mut expected))?;
    cipher.encrypt_blocks(&mut blocks);
    if blocks != expected {
        return Err(format!("{cipher:?}: encrypt_blocks over {length} bytes").into());
    }
    cipher.decrypt_blocks(&mut blocks);
    if blocks != plain {
        return Err(format!("{cipher:?}: decrypt_blocks over {length} bytes").into());
    }
    if cipher.fallbacks() == 0 { Ok(()) } else { Err("the device failed".into()) }
}
