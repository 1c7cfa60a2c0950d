//! Encrypted files straight to memory of a device and back: on the GPU, and on the host build of the kernels.
//!
//! Options are those of libtest.

mod common;
#[path = "../../lanecrypt/tests/common/on_devices.rs"]
mod on_devices;

use std::process::ExitCode;

use common::{SMALL, Shape, by_column, name, opened, page, place, plain, sealed, uniform};
use lanecrypt::cuda::{Device, DeviceBuffer, Limits};
use lanecrypt_parquet::{
    Algorithm, Encrypted, Error, InMemory, Keys, OpenOptions, SealOptions, seal_from_device,
};
use on_devices::{Property, Tried};

const PROPERTIES: [Property; 5] = [
    ("as_on_the_cpu", as_on_the_cpu),
    ("long_columns_are_copied", long_columns_are_copied),
    ("sealed_and_opened_again", sealed_and_opened_again),
    ("what_was_changed_is_named", what_was_changed_is_named),
    ("a_target_stays_where_sealing_fails", a_target_stays_where_sealing_fails),
];

fn main() -> ExitCode {
    on_devices::run(&PROPERTIES)
}

/// Files of pages that are alone in a run of the device, that share one, and that are no multiple of a block; and one
/// that has none.
const SHAPES: [Shape; 4] = [
    SMALL,
    Shape { row_groups: 1, columns: 2, pages: 40, values: 131, has_index: false, ..SMALL },
    Shape { row_groups: 3, columns: 1, pages: 3, values: 20_001, has_index: true, ..SMALL },
    Shape { row_groups: 0, columns: 1, pages: 0, values: 0, has_index: false, ..SMALL },
];

const ALGORITHMS: [Algorithm; 2] = [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1];

fn on_device(
    device: &Device,
    sealed: &[u8],
    keys: &Keys,
    options: OpenOptions<'_>,
) -> Result<Vec<u8>, Error> {
    let buffer = Encrypted::read(InMemory(sealed), keys, options)?.open_to_device(device)?;
    let mut found = vec![0; buffer.len()];
    buffer.read(0, &mut found)?;
    Ok(found)
}

/// What is opened on a device is what the CPU opens, by runs that are short as well.
fn as_on_the_cpu(device: &Device) -> Tried {
    for (shape, algorithm) in SHAPES.into_iter().flat_map(|shape| ALGORITHMS.map(|by| (shape, by)))
    {
        let plain = plain(shape);
        let options = SealOptions { algorithm, ..SealOptions::default() };
        let some = [name(0)];
        for keys in [uniform(), by_column(&[0])] {
            let sealed = sealed(&plain, &keys, &options);
            for columns in [None, Some(&some[..])] {
                let open = OpenOptions { columns, ..OpenOptions::default() };
                let expected = opened(&sealed, &keys, open)?;
                for limits in [Limits::default(), Limits { pinned_bytes: 20_000, threads: 2 }] {
                    device.limit_host_memory(limits);
                    let found = on_device(device, &sealed, &keys, open)?;
                    assert!(found == expected, "{shape:?} by {algorithm:?}");
                }
            }
        }
    }
    Ok(())
}

/// Those that are not encrypted, longer than what is copied at once.
fn long_columns_are_copied(device: &Device) -> Tried {
    let shape = Shape { row_groups: 1, columns: 2, pages: 3, values: 800_000, ..SMALL };
    let keys = by_column(&[0]);
    let sealed = sealed(&plain(shape), &keys, &SealOptions::default());
    let expected = opened(&sealed, &keys, OpenOptions::default())?;
    assert!(on_device(device, &sealed, &keys, OpenOptions::default())? == expected);
    Ok(())
}

fn sealed_and_opened_again(device: &Device) -> Tried {
    for (shape, algorithm) in SHAPES.into_iter().flat_map(|shape| ALGORITHMS.map(|by| (shape, by)))
    {
        let plain = plain(shape);
        for (keys, plaintext_footer) in [(uniform(), false), (by_column(&[0]), true)] {
            let options = SealOptions { algorithm, plaintext_footer, ..SealOptions::default() };
            let (_folder, path) = place();
            // At another address than a multiple of a block.
            let buffer = DeviceBuffer::from_host(device, &[&[0; 3], &plain[..]].concat())?;
            let image = buffer.slice(3..buffer.len())?;
            seal_from_device(device, &image, &keys, &options, &path)?;
            let sealed = std::fs::read(path)?;
            let found = opened(&sealed, &keys, OpenOptions::default())?;
            let expected = self::sealed(&plain, &keys, &options);
            assert!(found == opened(&expected, &keys, OpenOptions::default())?, "{shape:?}");
            for group in 0..shape.row_groups {
                for column in 0..shape.columns {
                    let first = page(shape, group, column, 0);
                    assert!(found.windows(first.len()).any(|window| window == first));
                }
            }
        }
    }
    Ok(())
}

/// Every byte of a page and of its tag counts, on the device as on the CPU, and the error is the same.
fn what_was_changed_is_named(device: &Device) -> Tried {
    let keys = uniform();
    let mut sealed = sealed(&plain(SMALL), &keys, &SealOptions::default());
    on_device(device, &sealed, &keys, OpenOptions::default())?;
    let mut pages = 0;
    for at in (4..sealed.len() - 8).step_by(61) {
        sealed[at] ^= 0x20;
        let here = opened(&sealed, &keys, OpenOptions::default()).expect_err("it was changed");
        let there = on_device(device, &sealed, &keys, OpenOptions::default());
        let there = there.expect_err("it was changed").to_string();
        assert_eq!(here.to_string(), there);
        pages += usize::from(there.starts_with("the page"));
        sealed[at] ^= 0x20;
    }
    assert!(pages > SMALL.pages * SMALL.columns, "{pages}");
    Ok(())
}

fn a_target_stays_where_sealing_fails(device: &Device) -> Tried {
    let (_folder, path) = place();
    std::fs::write(&path, b"before")?;
    let buffer = DeviceBuffer::from_host(device, &plain(SMALL)[..1000])?;
    let image = buffer.slice(0..1000)?;
    let refused = seal_from_device(device, &image, &uniform(), &SealOptions::default(), &path);
    assert!(matches!(refused, Err(Error::NotParquet { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&path)?, b"before");
    Ok(())
}
