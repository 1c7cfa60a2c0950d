//! Contexts without OpenSSL: pieces of any length against the modes in one call, over the ciphers as
//! their standards read.

use lanecrypt::{Ccm, Direction, Engine, Gcm, cipher::InOutBuf, modes};
use lanecrypt_openssl_provider::{
    ALGORITHMS, Algorithm, Context, EvpCalls, EvpMode, Key, Reason, Transfer, Value,
};

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

fn reference(algorithm: &Algorithm, key: &[u8]) -> Box<dyn Engine> {
    (algorithm.cipher.backend("reference").expect("every cipher has one").create)(key)
        .expect("a good key")
}

/// What a mode makes of a message in one call; `None` of those that `lanecrypt::modes` does not have.
fn expected(
    algorithm: &Algorithm,
    direction: Direction,
    (key, iv): (&[u8], &[u8]),
    data: &[u8],
) -> Option<Vec<u8>> {
    if algorithm.mode == EvpMode::Xts {
        return None;
    }
    let engine = &*reference(algorithm, key);
    let mut data = data.to_vec();
    let all: InOutBuf<'_, '_, u8> = data.as_mut_slice().into();
    match (algorithm.mode, direction) {
        (EvpMode::Ecb, _) => engine.ecb(direction, all),
        (EvpMode::Cbc, Direction::Encrypt) => modes::cbc_encrypt(engine, iv, all),
        (EvpMode::Cbc, Direction::Decrypt) => modes::cbc_decrypt(engine, iv, all),
        (EvpMode::Cfb, Direction::Encrypt) => modes::cfb_encrypt(engine, iv, all),
        (EvpMode::Cfb, Direction::Decrypt) => modes::cfb_decrypt(engine, iv, all),
        (EvpMode::Ofb, _) => modes::ofb(engine, iv, all),
        (EvpMode::Ctr, _) => engine.ctr(iv, all),
        _ => return None,
    }
    .expect("whole blocks");
    Some(data)
}

/// Runs data in random pieces, in place or apart, and returns the output.
fn in_pieces(numbers: &mut Numbers, context: &mut Context, data: &[u8], most: usize) -> Vec<u8> {
    let mut output = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(numbers.below(most).min(rest.len()));
        let mut place = vec![0xaa; piece.len() + 16];
        let written = context
            .calls()
            .update(&mut Transfer::out_of_place(piece, &mut place))
            .expect("there is a key, and room");
        output.extend_from_slice(&place[..written]);
        rest = after;
    }
    output
}

fn iv_of(numbers: &mut Numbers, algorithm: &Algorithm) -> Vec<u8> {
    let mut iv = numbers.bytes(algorithm.iv_bytes());
    let length = iv.len();
    // A counter that wraps soon.
    if algorithm.mode == EvpMode::Ctr {
        iv[..length - 1].fill(0xff);
    }
    iv
}

#[test]
fn pieces_make_the_message() {
    let mut numbers = Numbers(13);
    for algorithm in &ALGORITHMS {
        for (direction, most) in
            Direction::BOTH.into_iter().flat_map(|direction| [(direction, 20), (direction, 700)])
        {
            let key = numbers.bytes(algorithm.key_bytes);
            let iv = iv_of(&mut numbers, algorithm);
            let data = numbers.bytes(numbers_of_bytes(algorithm));
            let Some(expected) = expected(algorithm, direction, (&key, &iv), &data) else {
                continue;
            };
            let mut context = Context::new(algorithm);
            context.calls().init(direction, Some(&key), Some(&iv)).expect("good lengths");
            context.calls().set(b"padding", Value::Number(0)).expect("it is known");
            let output = in_pieces(&mut numbers, &mut context, &data, most);
            assert_eq!(output, expected, "{:?} {direction}", algorithm.names);
        }
    }
}

fn numbers_of_bytes(algorithm: &Algorithm) -> usize {
    if algorithm.mode.is_of_blocks() { 2048 } else { 2051 }
}

#[test]
fn feedback_of_bytes_and_bits_is_undone() {
    let mut numbers = Numbers(7);
    for algorithm in ALGORITHMS.iter().filter(|a| matches!(a.mode, EvpMode::Cfb8 | EvpMode::Cfb1)) {
        let (key, data) = (numbers.bytes(algorithm.key_bytes), numbers.bytes(600));
        let iv = numbers.bytes(algorithm.iv_bytes());
        let mut context = Context::new(algorithm);
        let (encrypt, decrypt) = (Direction::Encrypt, Direction::Decrypt);
        context.calls().init(encrypt, Some(&key), Some(&iv)).expect("good lengths");
        let sealed = in_pieces(&mut numbers, &mut context, &data, 50);
        // SP 800-38A, 6.3: the first byte, or bit, is hidden by that of the encrypted IV.
        let mut first = iv.clone();
        let engine = reference(algorithm, &key);
        engine.ecb(encrypt, first.as_mut_slice().into()).expect("a block");
        let shift = if algorithm.mode == EvpMode::Cfb8 { 0 } else { 7 };
        assert_eq!((sealed[0] ^ data[0]) >> shift, first[0] >> shift, "{:?}", algorithm.names);
        context.calls().init(decrypt, None, Some(&iv)).expect("good lengths");
        let opened = in_pieces(&mut numbers, &mut context, &sealed, 300);
        assert_eq!(opened, data, "{:?}", algorithm.names);
    }
}

/// A context counts bits if it was told so, and bytes if not, whatever the caller counts.
#[test]
fn lengths_are_what_the_context_counts() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode == EvpMode::Cfb1) {
        let (key, iv) = (vec![1; algorithm.key_bytes], vec![2; algorithm.iv_bytes()]);
        for (use_bits, count) in [(0, 1), (1, 5)] {
            let mut context = Context::new(algorithm);
            let calls = context.calls();
            calls.init(Direction::Encrypt, Some(&key), Some(&iv)).expect("good lengths");
            calls.set(b"use-bits", Value::Number(use_bits)).expect("it is known");
            let done = calls.update(&mut Transfer::in_place(&mut [0]).of_bits(5));
            assert_eq!(done, Ok(count), "{:?}", algorithm.names);
        }
    }
}

#[test]
fn gcm_in_pieces_is_gcm() {
    let mut numbers = Numbers(99);
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode == EvpMode::Gcm) {
        for (iv_bytes, aad, length) in [(12, 0, 0), (12, 31, 17), (8, 16, 40_000), (77, 1, 5)] {
            let (key, iv) = (numbers.bytes(algorithm.key_bytes), numbers.bytes(iv_bytes));
            let (aad, data) = (numbers.bytes(aad), numbers.bytes(length));
            let (mut sealed, mut tag) = (data.clone(), [0; 16]);
            let gcm = Gcm::<_>::of(reference(algorithm, &key)).expect("blocks of 16 bytes");
            let gcm: Gcm<Box<dyn Engine>> = gcm;
            gcm.encrypt(&iv, &aad, sealed.as_mut_slice().into(), &mut tag).expect("good lengths");
            let mut context = Context::new(algorithm);
            context.calls().init(Direction::Encrypt, Some(&key), Some(&iv)).expect("lengths");
            for part in aad.chunks(5) {
                context.calls().associate(part).expect("data comes later");
            }
            let output = in_pieces(&mut numbers, &mut context, &data, 9000);
            assert_eq!(output, sealed);
            assert_eq!(finish(&mut context), Ok(0));
            assert_eq!(context.calls().get(b"tag", 16), Ok(Some(Value::Bytes(&tag))));
            assert_eq!(context.calls().associate(b"late"), Err(Reason::Operation));
            for (tag_bytes, flip, result) in
                [(16, 0, Ok(0)), (4, 0, Ok(0)), (16, 1, Err(Reason::NotAuthentic))]
            {
                let mut given = tag;
                given[tag_bytes - 1] ^= flip;
                let calls = context.calls();
                calls.init(Direction::Decrypt, None, Some(&iv)).expect("good lengths");
                calls.set(b"tag", Value::Bytes(&given[..tag_bytes])).expect("a good length");
                calls.associate(&aad).expect("data comes later");
                assert_eq!(in_pieces(&mut numbers, &mut context, &sealed, 9000), data);
                assert_eq!(finish(&mut context), result);
            }
        }
    }
}

/// Messages by both standards (OpenSSL, `evpciph_sm4.txt`; the first is that of GB/T 17964-2021, without one by IEEE 1619).
#[test]
fn xts_has_two_standards() {
    let bytes = |text: &str| hex::decode(text).expect("hexadecimal");
    let key = bytes("2b7e151628aed2a6abf7158809cf4f3c000102030405060708090a0b0c0d0e0f");
    let iv = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let plain = bytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17",
    );
    let by_gb = bytes(
        "e9538251c71d7b80bbe4483fef497bd12c5c581bd6242fc51e08964fb4f60fdb\
         0ba42f63499279213d318d2c11f6886e903be7f93a1b3479",
    );
    let by_ieee = bytes(
        "e9538251c71d7b80bbe4483fef497bd1b3db1a3e60408c575d63ff7db39f8326\
         0869f9e2585fec9f0b863bf8fd784b8627d16c0db6d2cfc7",
    );
    let has_two =
        |algorithm: &&Algorithm| algorithm.mode == EvpMode::Xts && algorithm.cipher.name != "aes";
    let algorithm = ALGORITHMS.iter().find(has_two).expect("it is offered");
    let mut context = Context::new(algorithm);
    for (standard, sealed) in
        [("", &by_gb), ("IEEE", &by_ieee), ("GB", &by_gb), ("ieee", &by_ieee), ("Gb", &by_gb)]
    {
        if !standard.is_empty() {
            let named = Value::Text(standard.as_bytes());
            context.calls().set(b"xts_standard", named).expect("it is one");
        }
        for (direction, input, output) in
            [(Direction::Encrypt, &plain, sealed), (Direction::Decrypt, sealed, &plain)]
        {
            context.calls().init(direction, Some(&key), Some(&iv)).expect("good lengths");
            assert_eq!(unit(&mut context, input).as_ref(), Ok(output), "{standard:?} {direction}");
        }
    }
    let wrong = [Value::Text(b"ISO"), Value::Text(b"G"), Value::Number(1)];
    let wrong = wrong.map(|value| context.calls().set(b"xts_standard", value));
    let (set, get) = (Err(Reason::SetParameter), Err(Reason::GetParameter));
    assert_eq!(wrong, [set, set, get]);
    // Other parameters, and other ciphers, know nothing of standards.
    assert_eq!(context.calls().set(b"padding", Value::Number(0)), Ok(()));
    let of_aes = |algorithm: &&Algorithm| algorithm.mode == EvpMode::Xts && !has_two(algorithm);
    let mut context = Context::new(ALGORITHMS.iter().find(of_aes).expect("it is offered"));
    assert_eq!(context.calls().set(b"xts_standard", Value::Text(b"ISO")), Ok(()));
}

/// A call of a context.
fn unit(context: &mut Context, data: &[u8]) -> Result<Vec<u8>, Reason> {
    let mut data = data.to_vec();
    let written = context.calls().update(&mut Transfer::in_place(&mut data))?;
    assert_eq!(written, data.len());
    Ok(data)
}

/// Each call is a data unit under the IV, of a length that XTS has.
#[test]
fn calls_of_xts_are_data_units() {
    let mut numbers = Numbers(1619);
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode == EvpMode::Xts) {
        let (key, iv) = (numbers.bytes(algorithm.key_bytes), numbers.bytes(16));
        let (data_key, tweak_key) = key.split_at(key.len() / 2);
        let engines = [data_key, tweak_key].map(|key| reference(algorithm, key));
        let is_aes = algorithm.cipher.name == "aes";
        let run = if is_aes { modes::xts } else { modes::xts_gb };
        let mut context = Context::new(algorithm);
        assert_eq!(context.calls().get(b"num", 4), Ok(Some(Value::Number(0))));
        assert_eq!(unit(&mut context, &[0; 16]), Err(Reason::Operation), "no key");
        context.calls().init(Direction::Encrypt, Some(&key), None).expect("good lengths");
        assert_eq!(unit(&mut context, &[0; 16]), Err(Reason::Operation), "no IV");
        for direction in Direction::BOTH {
            context.calls().init(direction, Some(&key), Some(&iv)).expect("good lengths");
            for length in [16, 17, 31, 32, 100, 512, 4096, 5003, 3 << 20] {
                let data = numbers.bytes(length);
                let mut expected = data.clone();
                let all = expected.as_mut_slice().into();
                run(&*engines[0], &*engines[1], &iv, direction, all).expect("long enough");
                assert!(
                    unit(&mut context, &data) == Ok(expected),
                    "{:?}, {length}",
                    algorithm.names
                );
            }
            for length in [0, 1, 15] {
                let refused = unit(&mut context, &vec![0; length]);
                assert_eq!(refused, Err(Reason::Operation), "{length} bytes");
            }
            let mut largest = vec![0; (16 << 20) + 1];
            let refused = context.calls().update(&mut Transfer::in_place(&mut largest));
            assert_eq!(refused, Err(Reason::DataUnitTooLarge));
            if is_aes {
                let most = &mut largest[1..];
                assert_eq!(context.calls().update(&mut Transfer::in_place(most)), Ok(16 << 20));
            }
        }
        let same = [data_key, data_key].concat();
        let refused = context.calls().init(Direction::Encrypt, Some(&same), Some(&iv));
        assert_eq!(refused, if is_aes { Err(Reason::DuplicatedKeys) } else { Ok(()) });
        let refused = context.calls().init(Direction::Encrypt, Some(data_key), Some(&iv));
        assert_eq!(refused, Err(Reason::KeyLength));
        let other = numbers.bytes(algorithm.key_bytes);
        let units = [&key, &other].map(|new_key| {
            context.calls().init(Direction::Encrypt, Some(&key), Some(&iv)).expect("good lengths");
            let refused = context.calls().init(Direction::Encrypt, Some(new_key), Some(&iv[1..]));
            assert_eq!(refused, Err(Reason::IvLength));
            unit(&mut context, &[0; 48]).expect("a key and an IV")
        });
        assert_eq!(units[0], units[1], "both keys stay");
    }
}

#[test]
fn ccm_of_a_message_is_ccm() {
    let mut numbers = Numbers(77);
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode == EvpMode::Ccm) {
        for (nonce_bytes, aad, length, tag_bytes) in
            [(12, 0, 0, 16), (13, 31, 17, 8), (7, 300, 40_000, 4)]
        {
            let (key, nonce) = (numbers.bytes(algorithm.key_bytes), numbers.bytes(nonce_bytes));
            let (aad, data) = (numbers.bytes(aad), numbers.bytes(length));
            let (mut sealed, mut tag) = (data.clone(), vec![0; tag_bytes]);
            let ccm = Ccm::<_>::of(reference(algorithm, &key)).expect("blocks of 16 bytes");
            let ccm: Ccm<Box<dyn Engine>> = ccm;
            ccm.encrypt(&nonce, &aad, sealed.as_mut_slice().into(), &mut tag).expect("lengths");

            let mut context = Context::new(algorithm);
            let calls = context.calls();
            calls.set(b"ivlen", Value::Number(nonce_bytes as u64)).expect("a good length");
            calls.set(b"tag", Value::Absent(tag_bytes)).expect("a good length");
            calls.init(Direction::Encrypt, Some(&key), Some(&nonce)).expect("lengths");
            calls.announce(length).expect("a nonce");
            calls.associate(&aad).expect("data comes later");
            let mut output = data.clone();
            let all = |calls: &mut dyn EvpCalls, data: &mut [u8]| {
                calls.update(&mut Transfer::in_place(data))
            };
            let mut longer = [&data[..], b"?"].concat();
            assert_eq!(all(calls, &mut longer), Err(Reason::Operation), "another length");
            assert_eq!(all(calls, &mut output), Ok(length));
            assert!(output == sealed, "{:?}", algorithm.names);
            assert_eq!(calls.get(b"tag", tag_bytes), Ok(Some(Value::Bytes(&tag))));
            assert_eq!(all(calls, &mut output), Err(Reason::Operation), "the nonce is used");

            for flip in [0, 1] {
                tag[tag_bytes - 1] ^= flip;
                calls.init(Direction::Decrypt, None, Some(&nonce)).expect("good lengths");
                calls.announce(length).expect("a nonce");
                calls.associate(&aad).expect("data comes later");
                let mut output = sealed.clone();
                // A tag opens one message, and without one none is opened.
                assert_eq!(all(calls, &mut output), Err(Reason::Operation), "no tag");
                calls.set(b"tag", Value::Bytes(&tag)).expect("a good length");
                // The nonce stays where its length does.
                let other = if nonce_bytes == 7 { 8 } else { 7 };
                calls.set(b"ivlen", Value::Number(nonce_bytes as u64)).expect("a good length");
                let opened = all(calls, &mut output);
                assert_eq!(opened, if flip == 0 { Ok(length) } else { Err(Reason::Operation) });
                let left = if flip == 0 { &data } else { &sealed };
                assert!(output == *left, "{:?}", algorithm.names);
                calls.init(Direction::Decrypt, None, Some(&nonce)).expect("good lengths");
                calls.set(b"ivlen", Value::Number(other)).expect("a good length");
                assert_eq!(calls.announce(length), Err(Reason::Operation), "a nonce of its length");
                calls.set(b"ivlen", Value::Number(nonce_bytes as u64)).expect("a good length");
            }
            assert_eq!(calls.get(b"iv", nonce_bytes), Ok(Some(Value::Bytes(&nonce))));
            assert_eq!(calls.get(b"iv", nonce_bytes - 1), Err(Reason::IvLength));
            assert_eq!(calls.set(b"tlsaad", Value::Bytes(&[0; 13])), Err(Reason::Operation));
            assert_eq!(calls.set(b"tlsivfixed", Value::Bytes(&[0; 4])), Err(Reason::Operation));
            assert_eq!(calls.set(b"tag", Value::Bytes(&[0; 5])), Err(Reason::TagLength));
            assert_eq!(calls.set(b"ivlen", Value::Number(14)), Err(Reason::IvLength));
        }
    }
}

/// What is given out as a tag was made as one, of its length and by an encryption.
#[test]
fn ccm_gives_out_whole_tags_alone() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode == EvpMode::Ccm) {
        let (key, nonce) = (vec![1; algorithm.key_bytes], [2; 7]);
        let mut context = Context::new(algorithm);
        let calls = context.calls();
        let seal = |calls: &mut dyn EvpCalls, tag_bytes| {
            let mut data = [3; 20];
            calls.init(Direction::Encrypt, Some(&key), Some(&nonce)).expect("good lengths");
            calls.set(b"tag", Value::Absent(tag_bytes)).expect("a good length");
            calls.update(&mut Transfer::in_place(&mut data)).expect("a key and a nonce");
            data
        };
        seal(calls, 8);
        calls.set(b"tag", Value::Absent(16)).expect("a good length");
        assert_eq!(calls.get(b"tag", 16), Err(Reason::TagNotSet), "half of one was made");
        calls.init(Direction::Decrypt, None, None).expect("nothing new");
        calls.set(b"tag", Value::Bytes(&[4; 16])).expect("a good length");
        calls.init(Direction::Encrypt, None, None).expect("nothing new");
        assert_eq!(calls.get(b"tag", 16), Err(Reason::TagNotSet), "it was given");
        let mut sealed = seal(calls, 16);
        calls.init(Direction::Decrypt, None, Some(&nonce)).expect("a good length");
        let opened = calls.update(&mut Transfer::in_place(&mut sealed));
        assert_eq!(opened, Err(Reason::Operation), "no tag was given");
    }
}

fn finish(context: &mut Context) -> Result<usize, Reason> {
    context.calls().finish(&mut Transfer::in_place(&mut []))
}

#[test]
fn what_is_wrong_is_said() {
    let named = |name| ALGORITHMS.iter().find(|a| a.names == name).expect("it is offered");
    let mut context = Context::new(named(c"SEED-CBC:SEED:1.2.410.200004.1.4"));
    let calls = context.calls();
    let mut data = [0; 64];
    assert_eq!(calls.update(&mut Transfer::in_place(&mut data)), Err(Reason::NoKey));
    let encrypt = Direction::Encrypt;
    assert_eq!(calls.init(encrypt, Some(&[0; 17]), None), Err(Reason::KeyLength));
    assert_eq!(calls.init(encrypt, Some(&[0; 16]), Some(&[0; 8])), Err(Reason::IvLength));
    assert_eq!(calls.init(encrypt, Some(&[0; 16]), Some(&[0; 16])), Ok(()));
    let mut short = Transfer::out_of_place(&[1; 33], &mut data[..31]);
    assert_eq!(calls.update(&mut short), Err(Reason::OutputTooSmall));
    let mut odd = Transfer::in_place(&mut data[..33]);
    assert_eq!(calls.cipher(&mut odd), Err(Reason::FinalBlock));
    assert_eq!(calls.associate(b"AAD"), Err(Reason::Operation));
    assert_eq!([0, 1].map(|bytes| calls.announce(bytes)), [Ok(()), Err(Reason::Argument)]);
    assert_eq!(calls.get(b"randkey", 16), Ok(None), "keys of DES alone are drawn");
    assert_eq!(calls.set(b"padding", Value::Other), Err(Reason::GetParameter));
    assert_eq!(calls.set(b"tls-mac-size", Value::Number(65)), Err(Reason::GetParameter));
    assert_eq!(calls.set(b"nobody knows", Value::Other), Ok(()));
    assert_eq!(calls.get(b"nobody knows", 8), Ok(None));
    let mut stream = Context::new(named(c"HIGHT-CTR"));
    let calls = stream.calls();
    assert_eq!(calls.set(b"num", Value::Number(8)), Err(Reason::GetParameter));
    assert_eq!(calls.set(b"num", Value::Number(3)), Err(Reason::NoKey));
    let mut gcm = Context::new(named(c"ARIA-128-GCM:1.2.410.200046.1.1.34"));
    for (bytes, result) in [(0, Err(Reason::IvLength)), (128, Ok(())), (129, Err(Reason::IvLength))]
    {
        assert_eq!(gcm.calls().init(encrypt, None, Some(&vec![0; bytes])), result, "{bytes} bytes");
    }
}

/// A program that gives no IV gets one that is drawn, which must be long enough not to come again.
#[test]
fn an_iv_that_is_too_short_is_not_drawn() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode == EvpMode::Gcm) {
        for (bytes, result) in [(11, Err(Reason::Operation)), (12, Ok(5)), (16, Ok(5))] {
            let mut context = Context::new(algorithm);
            let calls = context.calls();
            let key = vec![1; algorithm.key_bytes];
            calls.init(Direction::Encrypt, Some(&key), None).expect("a good key");
            calls.set(b"ivlen", Value::Number(bytes)).expect("a length of IVs");
            let done = calls.update(&mut Transfer::in_place(&mut [0; 5]));
            assert_eq!(done, result, "{bytes} bytes, {:?}", algorithm.names);
        }
    }
}

/// A program may come back with more room: the message ends as if it had had it at once.
#[test]
fn padding_waits_for_room() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode.is_of_blocks()) {
        let (key, block) = (vec![1; algorithm.key_bytes], algorithm.block_size());
        let iv = vec![2; algorithm.iv_bytes()];
        // How a message ends whose data is held, in calls with this much room.
        let ends = |direction, held: &[u8], rooms: &[usize]| {
            let mut context = Context::new(algorithm);
            context.calls().init(direction, Some(&key), Some(&iv)).expect("good lengths");
            let taken = context.calls().update(&mut Transfer::out_of_place(held, &mut []));
            assert_eq!(taken, Ok(0), "{:?} {direction}", algorithm.names);
            let ended = rooms.iter().map(|&room| {
                let mut output = vec![0; room];
                let mut end = Transfer::out_of_place(&[], &mut output);
                context.calls().finish(&mut end).map(|written| output[..written].to_vec())
            });
            ended.collect::<Vec<_>>()
        };
        let too_small = || Err(Reason::OutputTooSmall);
        let at_once = ends(Direction::Encrypt, b"end", &[block]);
        let sealed = at_once[0].clone().expect("there is room");
        assert_eq!(sealed.len(), block, "{:?}", algorithm.names);
        let later = ends(Direction::Encrypt, b"end", &[block - 1, 2 * block]);
        assert_eq!(later, [too_small(), Ok(sealed.clone())]);
        let opened = ends(Direction::Decrypt, &sealed, &[0, 2, 3]);
        assert_eq!(opened, [too_small(), too_small(), Ok(b"end".to_vec())]);
    }
}

/// What a first answer refused is not decrypted once more by the next call, whose padding might be right by chance.
#[test]
fn wrong_padding_stays_wrong() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.mode.is_of_blocks()) {
        let (key, iv) = (vec![1; algorithm.key_bytes], vec![2; algorithm.iv_bytes()]);
        let mut context = Context::new(algorithm);
        let calls = context.calls();
        let mut sealed = vec![0; algorithm.block_size()];
        calls.init(Direction::Encrypt, Some(&key), Some(&iv)).expect("good lengths");
        calls.set(b"padding", Value::Number(0)).expect("it is known");
        let done = calls.update(&mut Transfer::in_place(&mut sealed));
        assert_eq!(done, Ok(algorithm.block_size()));
        calls.init(Direction::Decrypt, None, Some(&iv)).expect("good lengths");
        calls.set(b"padding", Value::Number(1)).expect("it is known");
        assert_eq!(calls.update(&mut Transfer::out_of_place(&sealed, &mut [])), Ok(0));
        let mut output = [0; 16];
        for _ in 0..1000 {
            let ended = calls.finish(&mut Transfer::out_of_place(&[], &mut output));
            assert_eq!(ended, Err(Reason::BadDecrypt), "{:?}", algorithm.names);
        }
        assert_eq!(output, [0; 16]);
    }
}

#[test]
fn texts_do_not_depend_on_the_key() {
    for algorithm in &ALGORITHMS {
        let texts = [0x11, 0x95].map(|seed| {
            let key: Vec<u8> = (seed..).take(algorithm.key_bytes).collect();
            let mut context = Context::new(algorithm);
            context.calls().init(Direction::Encrypt, Some(&key), None).expect("a good key");
            let cipher_key = &key[..key.len() / if algorithm.mode == EvpMode::Xts { 2 } else { 1 }];
            let key = Key::new(algorithm, cipher_key).expect("a good key");
            (format!("{context:?}"), format!("{key:?}"))
        });
        assert_eq!(texts[0], texts[1]);
        let (context, key) = &texts[0];
        assert!(context.contains(&format!("{:?}", algorithm.names)), "{context}");
        assert!(key.contains("large: Large"), "{key}");
    }
}

#[test]
fn a_key_stream_is_resumed_inside_a_block() {
    let algorithm = ALGORITHMS.iter().find(|a| a.mode == EvpMode::Ctr).expect("there is one");
    let (key, iv, data) = (vec![3; algorithm.key_bytes], [0xff; 16], [5; 90]);
    let whole = expected(algorithm, Direction::Encrypt, (&key, &iv), &data).expect("CTR");
    for (before, calls) in [(21, 1), (32, 2), (50, 7)] {
        let mut first = Context::new(algorithm);
        first.calls().init(Direction::Encrypt, Some(&key), Some(&iv)).expect("good lengths");
        let mut begun = data;
        for piece in begun[..before].chunks_mut(before.div_ceil(calls)) {
            first.calls().update(&mut Transfer::in_place(piece)).expect("there is a key");
        }
        let mut next = [0; 16];
        if let Ok(Some(Value::Bytes(bytes))) = first.calls().get(b"updated-iv", 16) {
            next.copy_from_slice(bytes);
        }
        let used = first.calls().get(b"num", 4).expect("it is known").expect("it is known");
        assert_eq!(used, Value::Number(before as u64 % 16));
        let mut second = Context::new(algorithm);
        let calls = second.calls();
        calls.init(Direction::Encrypt, Some(&key), Some(&next)).expect("good lengths");
        calls.set(b"num", used).expect("a part of a block");
        calls.update(&mut Transfer::in_place(&mut begun[before..])).expect("there is a key");
        assert_eq!(begun[..], whole[..], "{before}");
    }
}
