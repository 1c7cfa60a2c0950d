//! Several devices: what one of them makes of the data, whoever fails, and whoever is named for it.

use std::{ops::Range, time::Duration};

use cipher::InOutBuf;
use lanecrypt_core::{
    ChainedMode, Direction, Engine as _,
    batch::{Job, JobData},
    modes,
};

use super::{
    CHUNK, IV, KEY, WRAPS,
    batch::{FAMILIES, WRONG, messages},
    cpu, on_the_cpu, operations, watched, xts_on_the_cpu,
};
use crate::{
    DataUnits, DeviceBuffer, DeviceSliceMut, Error, Fleet, FleetReport, Limits, Operation,
    PinnedBuffer, XtsFleet,
    model_device::{self, Fault, Model},
};

/// A few ranges, which are no multiple of a piece, and a part of one.
const RANGE: usize = 13 * 16;
const LENGTH: usize = 60 * 16;

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn is_ctr(operation: Operation<'_>) -> bool {
    matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_))
}

fn fleet(models: &[Model]) -> Fleet {
    let devices: Vec<_> = models.iter().map(Model::device).collect();
    let fleet = model_device::FAMILY.fleet(&devices, &KEY).expect("nothing is asked of the driver");
    limit(&fleet);
    fleet
}

fn limit(fleet: &Fleet) {
    fleet.limit_range(RANGE);
    for engine in fleet.engines() {
        engine.limit_chunk(CHUNK);
        engine.device().limit_host_memory(Limits { threads: 3, ..Limits::default() });
    }
}

fn xts_fleet(models: &[Model]) -> XtsFleet {
    let devices: Vec<_> = models.iter().map(Model::device).collect();
    let mut keys = [KEY, KEY].concat();
    keys[16..].reverse();
    let fleet =
        model_device::FAMILY.xts_fleet(&devices, &keys).expect("nothing is asked of the driver");
    limit(fleet.data_fleet());
    fleet
}

fn good(devices: usize) -> Vec<Model> {
    (0..devices).map(|_| Model::default()).collect()
}

#[test]
fn ranges_are_seamless() {
    watched(|| {
        let lengths = [0, 16, RANGE - 16, RANGE, RANGE + 16, 3 * RANGE - 16, 3 * RANGE, LENGTH];
        for (devices, operation) in (1..=3).flat_map(|n| operations().map(|o| (n, o))) {
            let fleet = fleet(&good(devices));
            for length in lengths {
                let length = length.saturating_sub(if is_ctr(operation) { 3 } else { 0 });
                let (plain, what) = (data(length), format!("{operation:?}, {length}, {devices}"));
                let expected = on_the_cpu(operation, &plain);
                let mut found = plain.clone();
                let report = fleet.run_host_memory(operation, found.as_mut_slice().into());
                let report = report.expect("no fault");
                assert!(found == expected, "{what} in place");
                assert_eq!(report.bytes.iter().sum::<usize>(), length, "{what}");
                assert!(report.dropped.is_empty() && fleet.dropped().is_empty());
                let mut found = vec![0; length];
                let both = InOutBuf::new(&plain, &mut found).expect("equal lengths");
                let _kept = fleet.run_host_memory(operation, both).expect("no fault");
                assert!(found == expected, "{what} apart");
            }
        }
    });
}

/// Each device runs the program that fits it, in a grid that its properties make.
#[test]
fn devices_need_not_be_alike() {
    watched(|| {
        let fleet = fleet(&[Model::default(), Model::roomy(Fault::None)]);
        let modules = [0, 1].map(|member| fleet.engines()[member].program().module().name);
        assert_eq!(modules, ["aes_table", "aes_conflict_free_4"]);
        for operation in operations() {
            let mut found = data(LENGTH);
            let report = fleet.run_host_memory(operation, found.as_mut_slice().into());
            assert!(report.expect("no fault").dropped.is_empty());
            assert!(found == on_the_cpu(operation, &data(LENGTH)), "{operation:?}");
        }
    });
}

/// A mode over an engine.
type Pass =
    fn(&dyn lanecrypt_core::Engine, InOutBuf<'_, '_, u8>) -> Result<(), lanecrypt_core::Error>;

/// The modes of an engine that a fleet is.
#[test]
fn a_fleet_is_an_engine() {
    watched(|| {
        let fleet = fleet(&good(2));
        let passes: [Pass; 7] = [
            |engine, data| engine.ecb(Direction::Decrypt, data),
            |engine, data| engine.ctr(&IV, data),
            |engine, data| modes::ctr32(engine, &WRAPS, data),
            |engine, data| modes::cbc_decrypt(engine, &IV, data),
            |engine, data| modes::cfb_decrypt(engine, &IV, data),
            |engine, data| modes::xts(engine, &cpu(), &IV, Direction::Encrypt, data),
            |engine, data| modes::xts_units(engine, &cpu(), 3, 320, Direction::Decrypt, data),
        ];
        for (number, pass) in passes.into_iter().enumerate() {
            let (mut expected, mut found) = (data(LENGTH), data(LENGTH));
            pass(&cpu(), expected.as_mut_slice().into()).expect("the CPU does not fail");
            pass(&fleet, found.as_mut_slice().into()).expect("no fault");
            assert!(found == expected, "pass {number}");
        }
        // A mode that goes on where it ended.
        let (whole, mut found) = (data(LENGTH), data(LENGTH));
        let mut previous = IV;
        for piece in found.chunks_mut(LENGTH / 2) {
            let mode = ChainedMode::Cbc(Direction::Decrypt);
            mode.run_blocks(&fleet, &mut previous, piece.into()).expect("no fault");
        }
        assert!(found == on_the_cpu(Operation::Cbc(Direction::Decrypt, &IV), &whole));
        assert!(fleet.ecb(Direction::Encrypt, found[..20].as_mut().into()).is_err());
        assert!(fleet.ctr(&[0; 8], found.as_mut_slice().into()).is_err());
        assert!(fleet.dropped().is_empty(), "bad input is no device's fault");
    });
}

/// Short units and long ones, with and without stealing, the last one shorter.
const UNITS: [(usize, usize); 6] =
    [(16, LENGTH), (50, 50 * 21 + 18), (64, 64 * 17), (333, 1500), (96, 1000), (1000, 2900)];

#[test]
fn data_units_are_seamless() {
    watched(|| {
        let first = u128::MAX - 5;
        for ((bytes, length), direction) in
            UNITS.into_iter().flat_map(|unit| Direction::BOTH.map(|direction| (unit, direction)))
        {
            let units = DataUnits { bytes, first };
            let expected = xts_on_the_cpu(direction, units, &data(length));
            for devices in 1..=3 {
                let (fleet, mut found) = (xts_fleet(&good(devices)), data(length));
                let run = fleet.run_host_memory(direction, units, found.as_mut_slice().into());
                let report = run.expect("no fault");
                assert!(found == expected, "units of {bytes}, {devices} devices");
                assert!(report.bytes.iter().sum::<usize>() >= length / 16 * 16);
            }
        }
    });
}

/// Where data lies, and where its result goes: to the same memory, or to other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Same,
    PinnedSame,
    PinnedOther,
}

const PLACES: [Place; 3] = [Place::Same, Place::PinnedSame, Place::PinnedOther];

/// What comes out of a call over data there.
fn run_in(
    place: Place,
    plain: &[u8],
    run: impl FnOnce(InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> (Vec<u8>, Result<(), Error>) {
    let pinned = |data: &[u8]| {
        let mut pinned = PinnedBuffer::zeroed(&Model::default().device(), data.len());
        pinned.as_mut().expect("no fault").copy_from_slice(data);
        pinned.expect("no fault")
    };
    match place {
        Place::Same => {
            let mut data = plain.to_vec();
            let result = run(data.as_mut_slice().into());
            (data, result)
        }
        Place::PinnedSame => {
            let mut data = pinned(plain);
            let result = run((&mut data[..]).into());
            (data.to_vec(), result)
        }
        Place::PinnedOther => {
            let (input, mut output) = (pinned(plain), pinned(&vec![0; plain.len()]));
            let result = run(InOutBuf::new(&input, &mut output).expect("equal lengths"));
            assert!(*input == *plain, "the input stays");
            (output.to_vec(), result)
        }
    }
}

/// Devices of which one has a fault at every call in turn: the other one, which is slower, does its part.
fn others_do_its_part(
    what: &str,
    fault: fn(usize) -> Fault,
    expected: &[u8],
    run: impl Fn(&[Model]) -> (Vec<u8>, Result<FleetReport, Error>),
) {
    let mut failed = 0;
    for call in 0..CALLS {
        let models = [Model::failing(fault(call)), Model::slow(PAUSE)];
        let (found, result) = run(&models);
        let report = result.unwrap_or_else(|error| panic!("{what}, call {call}: {error}"));
        assert!(found == expected, "{what}, call {call}");
        for dropped in &report.dropped {
            assert_eq!(dropped.member, 0);
            let is_lost = matches!(fault(0), Fault::From(_));
            assert_eq!(dropped.error.is_device_lost(), is_lost, "{dropped}");
        }
        assert!(report.dropped.len() <= 1);
        assert!(models[0].has_failed() || report.dropped.is_empty(), "{what}: nobody failed");
        failed += report.dropped.len();
    }
    assert!(failed > CALLS / 4, "{what}: {failed} calls failed");
}

/// What the other one takes longer, so that it does not do all of the work.
const PAUSE: Duration = Duration::from_micros(150);
/// More driver calls than a device makes that does most of the work, in tests of this module.
const CALLS: usize = 60;

/// Devices that are not equally fast: each does what it can.
#[test]
fn a_slow_device_does_less() {
    watched(|| {
        let pauses = [8 * PAUSE, PAUSE];
        let fleet = fleet(&pauses.map(Model::slow));
        let operation = Operation::Ctr(IV.into());
        loop {
            let mut found = data(20 * LENGTH);
            let report = fleet.run_host_memory(operation, found.as_mut_slice().into());
            assert!(found == on_the_cpu(operation, &data(20 * LENGTH)));
            let [slow, fast] = report.expect("no fault").bytes[..] else { panic!("two devices") };
            assert_eq!(slow + fast, 20 * LENGTH);
            // Its threads may have started after everything was done.
            if slow > 0 {
                return assert!(fast > 2 * slow, "{slow} and {fast}");
            }
        }
    });
}

/// What comes out of a call over data in a place, and its report.
fn reported(
    place: Place,
    plain: &[u8],
    call: impl FnOnce(InOutBuf<'_, '_, u8>) -> Result<FleetReport, Error>,
) -> (Vec<u8>, Result<FleetReport, Error>) {
    let mut report = FleetReport::default();
    let (found, result) = run_in(place, plain, |data| call(data).map(|made| report = made));
    (found, result.map(|()| report))
}

#[test]
fn a_device_that_fails_is_left_out() {
    watched(|| {
        let plain = data(LENGTH);
        for operation in operations() {
            let expected = on_the_cpu(operation, &plain);
            for (place, fault) in [
                (Place::Same, Fault::From as fn(usize) -> Fault),
                (Place::Same, Fault::At),
                (Place::PinnedSame, Fault::From),
                (Place::PinnedOther, Fault::From),
            ] {
                let what = format!("{operation:?}, {place:?}");
                others_do_its_part(&what, fault, &expected, |models| {
                    reported(place, &plain, |data| fleet(models).run_host_memory(operation, data))
                });
            }
        }
    });
}

#[test]
fn data_units_of_a_device_that_fails_run_elsewhere() {
    watched(|| {
        for (bytes, length) in [UNITS[1], UNITS[2], UNITS[5]] {
            let units = DataUnits { bytes, first: 7 };
            let plain = data(length);
            let expected = xts_on_the_cpu(Direction::Encrypt, units, &plain);
            for place in PLACES {
                let what = format!("units of {bytes}, {place:?}");
                others_do_its_part(&what, Fault::From, &expected, |models| {
                    reported(place, &plain, |data| {
                        xts_fleet(models).run_host_memory(Direction::Encrypt, units, data)
                    })
                });
            }
        }
    });
}

/// What an error of a fleet names is as it was in place, and all else is complete.
fn check_incomplete(
    what: &str,
    (found, plain, expected): (&[u8], &[u8], &[u8]),
    error: &Error,
    place: Place,
) -> usize {
    let Error::Fleet { incomplete, dropped } = error else { panic!("{what}: {error}") };
    assert!(dropped.len() == 2 && error.is_device_lost(), "{what}: {error}");
    let mut complete = 0..0;
    let end = found.len()..found.len();
    for range in incomplete.iter().cloned().chain(std::iter::once(end)) {
        complete.end = range.start;
        assert!(found[complete.clone()] == expected[complete], "{what}: {incomplete:?}");
        if place != Place::PinnedOther {
            assert!(found[range.clone()] == plain[range.clone()], "{what}: {incomplete:?}");
        }
        complete = range.end..range.end;
    }
    incomplete.iter().map(Range::len).sum()
}

#[test]
fn where_nobody_is_left_the_rest_is_named() {
    watched(|| {
        let plain = data(LENGTH);
        let (mut failures, mut partial) = (0, 0);
        for (operation, place) in
            operations().into_iter().flat_map(|operation| PLACES.map(|place| (operation, place)))
        {
            let expected = on_the_cpu(operation, &plain);
            for calls in (0..90).step_by(4).flat_map(|one| [0, 11, 37, 61].map(|two| [one, two])) {
                let models = calls.map(|call| Model::failing(Fault::From(call)));
                let what = format!("{operation:?}, {place:?}, calls {calls:?}");
                let (found, result) = run_in(place, &plain, |data| {
                    fleet(&models).run_host_memory(operation, data).map(drop)
                });
                match result {
                    Ok(()) => assert!(found == expected, "{what}"),
                    Err(error) => {
                        let all = (&found[..], &plain[..], &expected[..]);
                        let bytes = check_incomplete(&what, all, &error, place);
                        assert!(bytes > 0, "{what}: nothing is incomplete");
                        failures += 1;
                        partial += usize::from(bytes < LENGTH);
                    }
                }
            }
        }
        assert!(failures > 100 && partial > 100, "{failures} failed, {partial} of them half-way");
    });
}

#[test]
fn who_dropped_out_comes_back_when_asked() {
    watched(|| {
        let fleet = fleet(&[Model::failing(Fault::At(0)), Model::default()]);
        let ecb = Operation::Ecb(Direction::Encrypt);
        let run = || {
            let mut found = data(20 * RANGE);
            let report = fleet.run_host_memory(ecb, found.as_mut_slice().into());
            assert!(found == on_the_cpu(ecb, &data(20 * RANGE)));
            report.expect("one is left")
        };
        while run().dropped.is_empty() {} // the other one may have been quicker
        let [dropped] = &fleet.dropped()[..] else { panic!("one dropped out") };
        assert!(dropped.member == 0 && dropped.to_string().contains("(model) dropped out: "));
        for _ in 0..10 {
            let report = run();
            assert!(report.bytes[0] == 0 && report.dropped.is_empty(), "{report:?}");
        }
        fleet.restore();
        assert!(fleet.dropped().is_empty());
        while run().bytes[0] == 0 {}
    });
}

#[test]
fn no_devices_are_no_fleet() {
    let of = |result: Result<(), Error>| result.expect_err("no devices").to_string();
    assert!(of(model_device::FAMILY.fleet(&[], &KEY).map(drop)).contains("none was given"));
    assert!(of(model_device::FAMILY.xts_fleet(&[], &[0; 32]).map(drop)).contains("none was given"));
    assert!(of(FAMILIES[0].fleet(&[]).map(drop)).contains("none was given"));
    let devices = [Model::default().device(), Model::default().device()];
    assert!(of(model_device::FAMILY.fleet(&devices, &[0; 3]).map(drop)).contains("key of 3 bytes"));
    assert!(of(FAMILIES[0].fleet(&devices).map(drop)).contains("65536 bytes of shared memory"));
}

/// Parts that lie on two devices in turn, one of them with nothing in it.
fn spread(buffers: &mut [DeviceBuffer]) -> Result<Vec<DeviceSliceMut<'_>>, Error> {
    buffers.iter_mut().map(|buffer| buffer.slice_mut(0..buffer.len())).collect()
}

fn buffers_on(fleet: &Fleet, data: &[u8], lengths: &[usize]) -> Result<Vec<DeviceBuffer>, Error> {
    let (mut rest, mut buffers) = (data, Vec::new());
    for (number, &length) in lengths.iter().enumerate() {
        let (part, after) = rest.split_at(length);
        let engine = &fleet.engines()[number % fleet.engines().len()];
        buffers.push(DeviceBuffer::from_host(engine.device(), part)?);
        rest = after;
    }
    Ok(buffers)
}

fn whole(buffers: &[DeviceBuffer]) -> Vec<u8> {
    let part = |buffer: &DeviceBuffer| {
        let mut part = vec![0; buffer.len()];
        buffer.read(0, &mut part).map(|()| part).unwrap_or_default()
    };
    buffers.iter().flat_map(part).collect()
}

#[test]
fn parts_on_devices_are_seamless() {
    for operation in operations() {
        let tail = if is_ctr(operation) { 5 } else { 16 };
        let lengths = [160, 16, 0, 352, 64 + tail];
        let plain = data(lengths.iter().sum());
        let expected = on_the_cpu(operation, &plain);
        let fleet = fleet(&good(2));
        let mut buffers = buffers_on(&fleet, &plain, &lengths).expect("no fault");
        let mut parts = spread(&mut buffers).expect("whole buffers");
        fleet.run(operation, &mut parts).expect("no fault");
        assert!(whole(&buffers) == expected, "{operation:?} in place");

        let inputs = buffers_on(&fleet, &plain, &lengths).expect("no fault");
        let mut outputs = buffers_on(&fleet, &vec![0; plain.len()], &lengths).expect("no fault");
        let to = spread(&mut outputs).expect("whole buffers");
        let from = inputs.iter().map(|input| input.slice(0..input.len()).expect("all of it"));
        fleet.run(operation, &mut from.zip(to).collect::<Vec<_>>()).expect("no fault");
        assert!(whole(&outputs) == expected, "{operation:?} apart");
        assert!(whole(&inputs) == plain);
    }
    for (bytes, lengths) in [(16, [32, 160, 48]), (50, [100, 150, 68]), (512, [512, 1024, 100])] {
        let (units, fleet) = (DataUnits { bytes, first: 9 }, xts_fleet(&good(2)));
        let plain = data(lengths.iter().sum());
        let mut buffers = buffers_on(fleet.data_fleet(), &plain, &lengths).expect("no fault");
        let mut parts = spread(&mut buffers).expect("whole buffers");
        fleet.run(Direction::Encrypt, units, &mut parts).expect("no fault");
        assert!(whole(&buffers) == xts_on_the_cpu(Direction::Encrypt, units, &plain), "{bytes}");
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let fleet = fleet(&good(2));
    let error = |lengths: &[usize], operation| {
        let plain = data(lengths.iter().sum());
        let mut buffers = buffers_on(&fleet, &plain, lengths).expect("no fault");
        let mut parts = spread(&mut buffers).expect("whole buffers");
        let error = fleet.run(operation, &mut parts).expect_err("it does not fit");
        assert!(whole(&buffers) == plain, "nothing is written");
        error.to_string()
    };
    assert!(error(&[17, 15], Operation::Ctr(IV.into())).contains("CTR over 17 bytes"));
    assert!(
        error(&[16, 17], Operation::Cbc(Direction::Decrypt, &IV)).contains("CBC over 33 bytes")
    );
    let other = Model::default().device();
    let mut buffer = DeviceBuffer::zeroed(&other, 16).expect("no fault");
    let mut part = [buffer.slice_mut(0..16).expect("all of it")];
    let refused = fleet.run(Operation::Ctr(IV.into()), &mut part);
    assert!(matches!(refused, Err(Error::OtherDevice { .. })));
    assert!(fleet.dropped().is_empty());
}

/// The data of a device that fails is with it: all the rest is complete, and it is named.
#[test]
fn parts_of_a_device_that_fails_are_named() {
    watched(|| {
        let lengths = [160, 176, 32, 64];
        let plain = data(lengths.iter().sum());
        for operation in operations() {
            let expected = on_the_cpu(operation, &plain);
            let mut named = 0;
            for call in 0.. {
                let models = [Model::default(), Model::failing(Fault::From(call))];
                let fleet = fleet(&models);
                let Ok(mut buffers) = buffers_on(&fleet, &plain, &lengths) else { continue };
                let before = models[1].has_failed();
                let mut parts = spread(&mut buffers).expect("whole buffers");
                let result = fleet.run(operation, &mut parts);
                if !models[1].has_failed() {
                    assert!(result.is_ok(), "{operation:?}: {result:?}");
                    let found = whole(&buffers);
                    if models[1].has_failed() {
                        continue;
                    }
                    assert!(found == expected, "{operation:?}");
                    break;
                }
                assert!(!before);
                let Err(Error::Fleet { incomplete, dropped }) = result else {
                    panic!("{operation:?}, call {call}: {result:?}")
                };
                assert!(dropped.len() == 1 && dropped[0].member == 1);
                // A chain reads what is before its parts; without that nothing runs.
                let is_early = incomplete.first() == Some(&(0..plain.len()));
                assert!(is_early || incomplete == [160..336, 368..432], "{incomplete:?}");
                let mut first = vec![0; 160];
                buffers[0].read(0, &mut first).expect("no fault");
                assert!(first == if is_early { &plain } else { &expected }[..160], "call {call}");
                named += usize::from(!is_early);
                let mut parts = spread(&mut buffers).expect("whole buffers");
                let again = fleet.run(operation, &mut parts);
                assert!(matches!(again, Err(Error::Fleet { .. })), "it is not used again");
            }
            assert!(named > 2, "{operation:?}: hardly a driver call was made");
        }
    });
}

/// Every job is complete or named, and what is named is as it was; a device that is lost leaves its jobs
/// to the other one, and only where both are some are named.
#[test]
fn batches_go_on_elsewhere() {
    watched(|| {
        let messages: Vec<_> = (0..3).flat_map(|_| messages()).collect();
        let wrong = |number: usize| number % (messages.len() / 3) == WRONG;
        let mut dropped = 0;
        for (calls, family) in (0..160).step_by(3).zip(FAMILIES.iter().cycle()) {
            for others in [Fault::None, Fault::From(calls / 2), Fault::At(20)] {
                let models = [Model::roomy(Fault::From(calls)), Model::roomy(others)];
                let devices = models.each_ref().map(Model::device);
                let fleet = family.fleet(&devices).expect("it fits");
                let mut tried = messages.clone();
                let mut texts: Vec<_> = tried.iter().map(|m| m.input.clone()).collect();
                let jobs = tried.iter_mut().zip(&mut texts).map(|(message, text)| Job {
                    key: &KEY,
                    mode: message.mode(),
                    data: JobData::from(text.as_mut_slice()),
                });
                let mut jobs: Vec<_> = jobs.collect();
                let (outcome, report) = fleet.run_in_parts(1000, 4, &mut jobs);
                drop(jobs);
                let mut failures = outcome.failures().iter().peekable();
                for (number, (message, text)) in tried.iter().zip(&texts).enumerate() {
                    let what = format!("job {number}, calls from {calls}, {others:?}");
                    match failures.next_if(|failure| failure.job == number) {
                        None => {
                            assert!(!wrong(number), "{what}: a wrong tag is accepted");
                            assert!(*text == message.output, "{what}");
                            assert!(message.mode != 6 || message.tag == message.sealed_tag);
                        }
                        Some(failure) => {
                            assert!(*text == message.input, "{what}: {failure}");
                            let is_of_all =
                                matches!(failure.error, lanecrypt_core::Error::Device(_));
                            let is_all = others != Fault::None && report.dropped.len() == 2;
                            assert!(
                                is_of_all == is_all && is_all || wrong(number),
                                "{what}: {failure}"
                            );
                        }
                    }
                }
                assert!(failures.next().is_none());
                dropped += report.dropped.len();
            }
        }
        assert!(dropped > 60, "{dropped} devices failed");
    });
}
