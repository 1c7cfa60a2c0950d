//! Families with another program for large data, and for small: which of them runs, and that all are right.

use lanecrypt_core::Direction;

use super::{IV, KEY, WRAPS, at_every_call_of, on_the_cpu, operations, xts_on_the_cpu};
use crate::{
    DataUnits, DeviceBuffer, Engine, Error, Operation, Properties,
    model_device::{self, LARGE, Model},
};

/// Blocks from which on the large program runs: those of a run of its warps.
const FROM: usize = (model_device::LARGE_FROM / 16) as usize;

fn data(blocks: usize) -> Vec<u8> {
    (0..16 * blocks).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn engine(model: &Model) -> Result<Engine, Error> {
    LARGE.engine(&model.device(), &KEY)
}

/// The operation over resident data, in place.
fn in_place(engine: &Engine, operation: Operation<'_>, data: &[u8]) -> Result<Vec<u8>, Error> {
    let mut buffer = DeviceBuffer::from_host(engine.device(), data)?;
    engine.run(operation, &mut buffer.slice_mut(0..data.len())?)?;
    let mut found = vec![0; data.len()];
    buffer.read(0, &mut found)?;
    Ok(found)
}

/// The modules of what a model loaded, but for what modes need beside a cipher.
fn programs_of(model: &Model) -> (bool, bool) {
    let loaded = model.loaded();
    let any = |prefix: &str| loaded.iter().any(|name| name.starts_with(prefix));
    (any("aes_table_shared_"), any("aes_mixed_"))
}

#[test]
fn the_length_of_a_launch_chooses_the_program() {
    for operation in operations() {
        for (blocks, programs) in [(FROM - 1, (true, false)), (3 * FROM + 1, (false, true))] {
            let (model, data) = (Model::roomy(model_device::Fault::None), data(blocks));
            let engine = engine(&model).expect("no fault");
            let found = in_place(&engine, operation, &data).expect("no fault");
            assert!(found == on_the_cpu(operation, &data), "{operation:?} of {blocks} blocks");
            // Before a counter of 32 bits wraps there are a few blocks, which are a launch of their own.
            let is_cut = matches!(operation, Operation::Ctr32(_)) && programs.1;
            let expected = if is_cut { (true, true) } else { programs };
            assert_eq!(programs_of(&model), expected, "{operation:?} of {blocks} blocks");
        }
    }
}

#[test]
fn small_data_has_a_program_too() {
    let family = LARGE.with_small(&lanecrypt_kernels::programs::AES_TABLE_GLOBAL, 16 * 8);
    let operation = Operation::Ecb(Direction::Encrypt);
    for (blocks, program) in
        [(7, "aes_table_global_"), (8, "aes_table_shared_"), (FROM, "aes_mixed_")]
    {
        let (model, data) = (Model::roomy(model_device::Fault::None), data(blocks));
        let engine = family.engine(&model.device(), &KEY).expect("no fault");
        assert_eq!(engine.other_programs().count(), 2);
        let found = in_place(&engine, operation, &data).expect("no fault");
        assert!(found == on_the_cpu(operation, &data), "{blocks} blocks");
        let loaded = model.loaded();
        assert!(loaded.iter().all(|name| name.starts_with(program)), "{blocks}: {loaded:?}");
    }
}

#[test]
fn a_counter_is_cut_where_its_low_words_wrap() {
    let engine = engine(&Model::roomy(model_device::Fault::None)).expect("no fault");
    // Up to there, across, and through the end of all 128 bits; the model refuses launches that cross.
    for (first, blocks) in [(WRAPS, 9), (WRAPS, 10), (WRAPS, 2 * FROM), ([0xff; 16], FROM + 1)] {
        let (operation, data) = (Operation::Ctr(first.into()), data(blocks));
        let found = in_place(&engine, operation, &data).expect("no fault");
        let mut expected = data;
        lanecrypt_core::Engine::ctr(&super::cpu(), &first, expected.as_mut_slice().into())
            .expect("the CPU does not fail");
        assert!(found == expected, "{blocks} blocks from {first:x?}");
    }
}

#[test]
fn large_data_reports() {
    let data = data(2 * FROM + 5);
    for operation in [Operation::Cbc(Direction::Decrypt, &IV), Operation::Ctr32(WRAPS.into())] {
        let expected = on_the_cpu(operation, &data);
        at_every_call_of(Model::roomy, "large data", &expected, |model| {
            Ok(in_place(&engine(model)?, operation, &data)?)
        });
    }
}

#[test]
fn large_data_units_have_masks_for_every_run() {
    let data = data(3 * FROM + 7);
    for bytes in [512, 520, 16 * FROM, data.len()] {
        let units = DataUnits { bytes, first: 3 };
        let mut keys = [KEY, KEY].concat();
        keys[16..].reverse();
        let model = Model::roomy(model_device::Fault::None);
        let engine = LARGE.xts_engine(&model.device(), &keys).expect("no fault");
        let rest = data.len() % bytes;
        let data = &data[..data.len() - if rest < 16 { rest } else { 0 }];
        let device = engine.data_engine().device();
        let mut buffer = DeviceBuffer::from_host(device, data).expect("no fault");
        let mut whole = buffer.slice_mut(0..data.len()).expect("in it");
        engine.run(Direction::Encrypt, units, &mut whole).expect("no fault");
        let mut found = vec![0; data.len()];
        buffer.read(0, &mut found).expect("no fault");
        assert!(found == xts_on_the_cpu(Direction::Encrypt, units, data), "units of {bytes}");
        assert!(model.loaded().contains(&"aes_mixed_xts_encrypt"));
    }
}

#[test]
fn a_program_that_does_not_fit_never_runs() {
    let of = |model: &Model| engine(model).expect("no fault").other_programs().count() > 0;
    assert!(of(&Model::roomy(model_device::Fault::None)));
    assert!(!of(&Model::default()), "64 KiB are too little");
    let (model, data) = (Model::default(), data(FROM));
    let found = in_place(&engine(&model).expect("no fault"), operations()[0], &data);
    assert!(found.expect("no fault") == on_the_cpu(operations()[0], &data));
    assert_eq!(programs_of(&model), (true, false));
    // The other programs are chosen as without it.
    let mut properties: Properties = Model::default().device().properties().clone();
    properties.shared_bytes_per_block = 4351;
    assert!(LARGE.program(&properties).is_err());
}

#[test]
fn keys_must_serve_both_programs() {
    let refused = |keys: fn(&[u8]) -> crate::KeyPair| {
        let family =
            crate::Family::new(LARGE.cipher(), "", LARGE.constant_time(), LARGE.programs(), keys);
        let family = family.with_large(&lanecrypt_kernels::programs::AES_MIXED, 1);
        let error = family.engine(&Model::roomy(model_device::Fault::None).device(), &KEY);
        error.expect_err("does not fit").to_string()
    };
    let text = refused(model_device::toy_keys::<64, 60, 10>);
    assert!(text.contains("64 key words") && text.contains("480"), "{text}");
    refused(model_device::toy_keys::<480, 60, 11>);
    refused(model_device::toy_keys::<484, 60, 10>);
}
