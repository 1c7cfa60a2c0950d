//! Memory that is refused: at every place that asks for some, in turn. The call fails for that, or gets by;
//! the same engine is as good as new afterwards.

use lanecrypt_core::Direction;

use super::{
    BLOCKS, IV, KEY, on_device, on_the_cpu, operations, plaintext, watched, xts_engine,
    xts_on_the_cpu,
};
use crate::{
    DataUnits, DeviceBuffer, Error, HashFamily, Operation, PinnedBuffer, Stream,
    model_device::{self, Fault, Model},
};

/// Refuses the first allocation of making something and calling it, then the second, and so on. What fails
/// for it succeeds when it is tried again.
fn at_every_allocation<T>(
    name: &str,
    expected: &[u8],
    make: impl Fn(&Model) -> Result<T, Error>,
    call: impl Fn(&T) -> Result<Vec<u8>, Error>,
) {
    let mut refused = 0;
    for allocation in 0.. {
        let model = Model::roomy(Fault::Allocation(allocation));
        let mut tries = 0;
        let mut twice = |run: &mut dyn FnMut() -> Result<(), Error>| {
            while let Err(error) = run() {
                let text = format!("{name}, allocation {allocation}: {error}");
                assert!(text.contains("CUDA_ERROR_OUT_OF_MEMORY") && tries == 0, "{text}");
                assert!(!error.is_device_lost(), "{text}");
                tries += 1;
            }
        };
        let mut result = None;
        twice(&mut || make(&model).map(|engine| result = Some(engine)));
        let engine = result.expect("it was made in the end");
        twice(&mut || {
            assert!(call(&engine)? == expected, "{name}, allocation {allocation}: wrong bytes");
            Ok(())
        });
        refused += tries;
        drop(engine);
        assert_eq!(model.left_behind(), (0, 0), "{name}, allocation {allocation}");
        if !model.has_failed() {
            break;
        }
    }
    assert!(refused > 0, "{name}: nothing was refused");
}

#[test]
fn operations_try_again() {
    watched(|| {
        for operation in operations() {
            let expected = on_the_cpu(operation, &plaintext());
            at_every_allocation("host memory", &expected, on_device, |cipher| {
                let mut data = plaintext();
                cipher.engine().run_host_memory(operation, data.as_mut_slice().into())?;
                Ok(data)
            });
            at_every_allocation("pinned memory", &expected, on_device, |cipher| {
                let mut data = PinnedBuffer::zeroed(cipher.engine().device(), expected.len())?;
                data.copy_from_slice(&plaintext());
                cipher.engine().run_host_memory(operation, (&mut data[..]).into())?;
                Ok(data.to_vec())
            });
            at_every_allocation("on a stream", &expected, on_device, |cipher| {
                let stream = Stream::new(cipher.engine().device())?;
                let mut buffer = DeviceBuffer::from_host(stream.device(), &plaintext())?;
                let mut slice = buffer.slice_mut(0..16 * BLOCKS)?;
                cipher.engine().queue(&stream, operation, &mut slice)?.wait()?;
                read(&buffer)
            });
        }
    });
}

fn read(buffer: &DeviceBuffer) -> Result<Vec<u8>, Error> {
    let mut data = vec![0; buffer.len()];
    buffer.read(0, &mut data)?;
    Ok(data)
}

#[test]
fn data_units_and_messages_try_again() {
    watched(|| {
        let units = DataUnits { bytes: 50, first: 1 };
        let expected = xts_on_the_cpu(Direction::Encrypt, units, &plaintext());
        at_every_allocation("data units", &expected, xts_engine, |engine| {
            let mut data = plaintext();
            engine.run_host_memory(Direction::Encrypt, units, data.as_mut_slice().into())?;
            Ok(data)
        });
        for hash in HashFamily::ALL {
            let model = Model::roomy(Fault::None);
            let make =
                |model: &Model| model_device::FAMILY.gcm_engine_with(&model.device(), hash, &KEY);
            let call = |engine: &crate::GcmEngine| {
                let (mut data, mut tag) = (plaintext(), [0; 16]);
                engine.encrypt_host_memory(&IV, &IV, data.as_mut_slice().into(), &mut tag)?;
                let sealed = data.clone();
                engine.decrypt_host_memory(&IV, &IV, data.as_mut_slice().into(), &tag)?;
                assert!(data == plaintext(), "it opens");
                Ok([&sealed[..], &tag].concat())
            };
            let expected = make(&model).and_then(|engine| call(&engine)).expect("no fault");
            at_every_allocation("GCM", &expected, make, call);
        }
    });
}

#[test]
fn fleets_go_on() {
    watched(|| {
        let expected = on_the_cpu(Operation::Ctr(IV.into()), &plaintext());
        for allocation in 0..12 {
            let models = [0, 1].map(|_| Model::failing(Fault::Allocation(allocation)));
            let devices = models.each_ref().map(Model::device);
            let fleet = model_device::FAMILY.fleet(&devices, &KEY).expect("nothing is allocated");
            fleet.limit_range(64);
            let run = || {
                let mut data = plaintext();
                let run =
                    fleet.run_host_memory(Operation::Ctr(IV.into()), data.as_mut_slice().into());
                run.map(|report| (data, report))
            };
            match run() {
                Ok((data, report)) => assert!(data == expected && report.dropped.len() < 2),
                Err(error) => assert!(!error.is_device_lost(), "{error}"),
            }
            fleet.restore();
            let (data, _) = run()
                .or_else(|_| {
                    fleet.restore();
                    run()
                })
                .expect("no more is refused");
            assert!(data == expected);
        }
    });
}
