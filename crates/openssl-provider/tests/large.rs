//! Large calls: on the CPU or a GPU, they give what small ones make of the same bytes.

use lanecrypt::Direction;
use lanecrypt_openssl_provider::{
    ALGORITHMS, Context, EvpMode, LargeCalls, Reason, Transfer, Value,
};

/// Installs the backend with the most to choose from that this build has.
#[test]
fn large_calls_are_many_small_ones() {
    let name = if cfg!(feature = "cuda") { "auto" } else { "cpu" };
    LargeCalls::parse(name.as_bytes()).expect("this build has it").install();
    let data: Vec<u8> = (0..(5_usize << 20) + 48).map(|i| ((i * i) >> 7) as u8).collect();
    let is_independent =
        |mode| matches!(mode, EvpMode::Ecb | EvpMode::Ctr | EvpMode::Cbc | EvpMode::Gcm);
    let algorithms = ALGORITHMS.iter().filter(|algorithm| is_independent(algorithm.mode));
    let mut modes = Vec::new();
    for algorithm in algorithms {
        // One algorithm per cipher and mode: key lengths differ in nothing here.
        if modes.contains(&(algorithm.cipher.name, algorithm.mode)) {
            continue;
        }
        modes.push((algorithm.cipher.name, algorithm.mode));
        for direction in Direction::BOTH {
            let run = |piece_bytes: usize| {
                let mut context = Context::new(algorithm);
                let (key, iv) = (vec![7; algorithm.key_bytes], vec![9; algorithm.iv_bytes()]);
                let iv = Some(&iv[..]).filter(|iv| !iv.is_empty());
                let calls = context.calls();
                calls.init(direction, Some(&key), iv).expect("a good key");
                if matches!(algorithm.mode, EvpMode::Ecb | EvpMode::Cbc) {
                    calls.set(b"padding", Value::Number(0)).expect("it is known");
                }
                let mut output = data.clone();
                for piece in output.chunks_mut(piece_bytes) {
                    let made = calls.update(&mut Transfer::in_place(piece));
                    assert_eq!(made.expect("whole blocks"), piece.len());
                }
                output
            };
            assert!(run(data.len()) == run(4096), "{:?}, {direction}", algorithm.names);
        }
    }
    assert!(modes.len() > 10, "{modes:?}");
}

#[test]
fn other_backends_are_refused() {
    for name in [&b""[..], b"fast", b"CPU", b"cpu "] {
        assert_eq!(LargeCalls::parse(name), Err(Reason::Argument));
    }
    assert_eq!(LargeCalls::parse(b"auto").is_ok(), cfg!(feature = "cuda"));
}
