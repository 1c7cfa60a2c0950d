//! Random numbers on the CPU: the key stream that the reference makes, cut anywhere, and as many of each as theirs is the share.

use cipher::{BlockCipherEncrypt, KeyInit};
use lanecrypt::random::{Draw, Generator, Integer, RandomError, STREAMS, Span};
use proptest::prelude::*;

/// AES-128 of the crate `aes` on the counters of a stream.
fn key_stream(random: &Generator, stream: u64, blocks: u64) -> Vec<u8> {
    let state = random.state();
    let cipher = aes::Aes128::new_from_slice(&state[..16]).expect("16 bytes");
    let block = |number: u64| {
        let counter = u128::from(stream) << 64 | u128::from(number);
        let mut block = counter.to_be_bytes().into();
        cipher.encrypt_block(&mut block);
        block
    };
    (0..blocks).flat_map(block).collect()
}

#[test]
fn bytes_are_aes_on_counters() {
    let first = Generator::from_seed(11);
    for stream in [0, 1, STREAMS - 1] {
        let mut random = first.stream(stream).expect("it is one of them");
        let expected = key_stream(&random, stream, 300);
        let mut found = vec![0; 4800];
        random.bytes(&mut found).expect("bytes");
        assert!(found == expected, "stream {stream}");
    }
    // The key of a seed is part of what the crate promises.
    assert_eq!(first.state()[..16], KEY_OF_SEED_11);
}

const KEY_OF_SEED_11: [u8; 16] =
    [115, 183, 73, 40, 170, 217, 207, 76, 109, 237, 116, 217, 131, 27, 86, 61];

#[cfg(feature = "getrandom")]
#[test]
fn keys_of_the_system_differ() {
    let mut found = [[0; 32]; 2];
    for bytes in &mut found {
        let mut random = Generator::from_system().expect("a system has entropy");
        random.bytes(bytes).expect("bytes");
    }
    assert_ne!(found[0], found[1]);
}

fn draws() -> impl Strategy<Value = Draw> {
    let span = (any::<u64>(), any::<u64>()).prop_map(|(lowest, count)| Span { lowest, count });
    let of_32 = (i64::from(i32::MIN)..1 << 32, 0..=1_u64 << 32)
        .prop_map(|(lowest, count)| Span { lowest: lowest.cast_unsigned(), count });
    prop_oneof![
        Just(Draw::Bytes),
        of_32.prop_map(Draw::Integers32),
        span.prop_map(Draw::Integers64),
        Just(Draw::Units32),
        Just(Draw::Units64),
        Just(Draw::Normals32),
        Just(Draw::Normals64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A request is its parts, one after the other, wherever it is cut and however long it is.
    #[test]
    fn cuts_do_not_show(draw in draws(), place in 0..100_000_u64, counts in prop::array::uniform3(0..3000_usize)) {
        let number = draw.number_bytes();
        let mut random = Generator::from_seed(5);
        random.seek(place);
        let mut parts = Vec::new();
        for count in counts {
            let mut part = vec![0; number * count];
            random.draw(draw, &mut part).expect("numbers");
            parts.extend(part);
        }
        let start = place.next_multiple_of(number as u64);
        prop_assert_eq!(random.place(), start + parts.len() as u64);
        random.seek(place);
        let mut whole = vec![0; parts.len()];
        random.draw(draw, &mut whole).expect("numbers");
        prop_assert!(whole == parts);
        prop_assert_eq!(random.place(), start + parts.len() as u64);
    }

    /// Integers of 64 bits by exact arithmetic: the words whose lower halves are below 2^64 mod `count` are drawn again.
    #[test]
    fn integers_are_in_their_range(lowest: i64, count in 1..=i64::MAX) {
        let Some(end) = lowest.checked_add(count) else { return Ok(()) };
        let mut found = [0_i64; 100];
        Generator::from_seed(9).integers(lowest..end, &mut found).expect("integers");
        prop_assert!(found.iter().all(|number| (lowest..end).contains(number)));
    }
}

/// A long request runs on all cores.
#[test]
fn threads_do_not_show() {
    let mut random = Generator::from_seed(6);
    let mut whole = vec![0_f32; 1_500_001];
    random.units(&mut whole).expect("numbers");
    random.seek(0);
    for part in whole.chunks(9999) {
        let mut again = vec![0.0; part.len()];
        random.units(&mut again).expect("numbers");
        assert!(part == again);
    }
}

/// Half of the words are refused: those that are taken share the range equally (chi-squared, 15 degrees of freedom, below
/// 44.3 with a probability of 0.9999; the seed is fixed).
fn shares_are_equal<T: Integer + Into<i128>>(range: std::ops::Range<T>, zero: T) {
    let (lowest, end): (i128, i128) = (range.start.into(), range.end.into());
    let mut found = vec![zero; 160_000];
    Generator::from_seed(8).integers(range, &mut found).expect("integers");
    let mut counts = [0_i32; 16];
    for number in found {
        let share = (number.into() - lowest) * 16 / (end - lowest);
        counts[usize::try_from(share).expect("below 16")] += 1;
    }
    let squares = counts.map(|count| f64::from(count - 10_000).powi(2) / 10_000.0);
    let sum: f64 = squares.iter().sum();
    assert!(sum < 44.3, "{counts:?}: {sum}");
}

#[test]
fn integers_have_equal_shares() {
    shares_are_equal(i32::MIN..1, 0);
    shares_are_equal(-5_i32..11, 0);
    shares_are_equal(0..(1_u32 << 31) + 1, 0);
    shares_are_equal(i64::MIN..1, 0);
    shares_are_equal(0..(1_u64 << 63) + 1, 0);
}

/// Moments of a million numbers, within four standard errors.
#[test]
fn units_and_normals_have_their_moments() {
    let mut random = Generator::from_seed(10);
    let count = 1_000_000_usize;
    let (mut units, mut normals) = (vec![0_f64; count], vec![0_f64; count]);
    random.units(&mut units).expect("numbers");
    random.normals(&mut normals).expect("numbers");
    assert!(units.iter().all(|number| (0.0..1.0).contains(number)));
    for (numbers, power, moment, deviation) in [
        (&units, 1, 0.5, 0.289),
        (&units, 2, 1.0 / 3.0, 0.298),
        (&normals, 1, 0.0, 1.0),
        (&normals, 2, 1.0, 1.415),
        (&normals, 4, 3.0, 9.8),
    ] {
        let found = numbers.iter().map(|number| number.powi(power)).sum::<f64>() / count as f64;
        let error = (found - moment) / (deviation / (count as f64).sqrt());
        assert!(error.abs() < 4.0, "moment {power}: {found} for {moment}, {error} errors");
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let mut random = Generator::from_seed(0);
    let error = random.integers(3..3, &mut [0_i32]).expect_err("no number");
    assert_eq!(error.to_string(), "the range from 3 to 3 is empty");
    let error = random.draw(Draw::Units64, &mut [0; 9]).expect_err("part of a number");
    assert_eq!(error.to_string(), "9 bytes of memory; a number has 8");
    let error = random.stream(STREAMS).expect_err("no stream").to_string();
    assert_eq!(error, "stream 281474976710656; streams are numbered from 0 to 2^48 - 1");
    assert!(matches!(Generator::from_state(&[0xff; 32]), Err(RandomError::NoSuchStream { .. })));
    random.seek(u64::MAX);
    assert!(matches!(random.bytes(&mut [0; 2]), Err(RandomError::End { length: 2, .. })));
    let secret = format!("{random:?}");
    assert_eq!(secret, format!("Generator {{ stream: 0, place: {}, .. }}", u64::MAX));
}

#[test]
fn ranges_are_of_the_numbers_that_are_drawn() {
    let wide = [
        i128::MIN..i128::MAX,
        i128::MAX - 1..i128::MAX,
        -1..(1 << 63) + 1,
        0..(1 << 64) + 1,
        i128::from(i64::MIN) - 1..0,
    ];
    for range in wide {
        let refused = Span::of(range.clone());
        assert!(matches!(refused, Err(RandomError::WideRange { bits: 64, .. })), "{range:?}");
    }
    let mut random = Generator::from_seed(3);
    let mut draw = |range| {
        let span = Span::of(range)?;
        random.draw(Draw::Integers32(span), &mut [0; 4])
    };
    for range in [0..1 << 32, -5..5, i128::from(i32::MIN)..0, (1 << 32) - 1..1 << 32] {
        draw(range).expect("32 bits");
    }
    for range in
        [0..1 << 33, 0..(1 << 32) + 1, 1 << 32..(1 << 32) + 6, -(1 << 31) - 1..0, 0..1 << 63]
    {
        let error = draw(range.clone()).expect_err("more bits").to_string();
        let (lowest, end) = (range.start, range.end);
        assert!(error.starts_with(&format!("the range from {lowest} to {end};")), "{error}");
        assert!(error.ends_with("32 bits"), "{error}");
    }
}
