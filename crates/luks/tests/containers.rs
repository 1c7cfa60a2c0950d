//! Containers of every kind, made and judged by RustCrypto's crates; and headers that are not whole.

mod support;

use std::{fs::File, io::Write};

use lanecrypt_luks::{DerivationLimits, Disk, Error, Header, Storage};
use support::{
    AES, HEADER, Kind, LIMITS, Memory, PASSPHRASE, PAYLOAD, Random, SLOT, binary_header,
};

const DISK: usize = 9 * 4096;

fn open(container: Vec<u8>) -> Result<Disk<Memory>, Error> {
    Disk::open(Memory::new(container), PASSPHRASE, &LIMITS)
}

/// What is said of a container that does not open.
fn fault(container: Vec<u8>) -> String {
    open(container).expect_err("it is not to be opened").to_string()
}

/// What is said of a container of LUKS2 whose metadata has this in place of that.
fn metadata_fault(from: &str, to: &str) -> String {
    let metadata = AES.metadata();
    assert!(metadata.contains(from), "{from}");
    let metadata = metadata.replace(from, to);
    let mut container = AES.luks2(&[0; 4096]);
    container[..HEADER].copy_from_slice(&binary_header(0, 8, metadata.as_bytes()));
    match open(container) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_cipher_opens_and_is_written() {
    for (mode, cipher, key_bytes) in [
        ("xts-plain64", "aes", 32),
        ("xts-plain64", "aes", 64),
        ("xts-plain64", "aria", 32),
        ("xts-plain64", "aria", 64),
        ("xts-plain64", "camellia", 32),
        ("xts-plain64", "camellia", 48),
        ("xts-plain64", "camellia", 64),
        ("cbc-plain64", "aes", 32),
        ("cbc-plain64", "camellia", 24),
        ("cbc-essiv:sha256", "aes", 16),
        ("cbc-essiv:sha256", "aes", 32),
        ("cbc-essiv:sha256", "aria", 16),
        ("cbc-essiv:sha256", "camellia", 24),
    ] {
        for sector in [512, 1024, 2048, 4096] {
            for first_tweak in [0, 0xffff_ffff, u64::MAX - 1000] {
                let kind = Kind { cipher, mode, key_bytes, sector, first_tweak, ..AES };
                let plain = Random(key_bytes as u64).bytes(DISK);
                if sector == 512 && first_tweak == 0 {
                    check(kind, kind.luks1(&plain), plain.clone());
                }
                check(kind, kind.luks2(&plain), plain);
            }
        }
    }
}

#[test]
fn every_hash_opens() {
    for hash in ["sha1", "sha256", "sha512"] {
        let (kind, plain) = (Kind { hash, ..AES }, Random(1).bytes(DISK));
        check(kind, kind.luks1(&plain), plain.clone());
        check(kind, kind.luks2(&plain), plain);
    }
}

fn check(kind: Kind, container: Vec<u8>, mut plain: Vec<u8>) {
    let disk = open(container).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    assert_eq!((disk.bytes(), disk.sector_bytes()), (DISK as u64, kind.sector));
    let mut read = vec![0; DISK];
    disk.read_at(&mut read, 0).expect("it reads");
    assert!(read == plain, "{kind:?}");
    for (at, bytes) in [(0, 1), (4095, 2), (5000, 10_000), (DISK - 1, 1), (8192, 4096)] {
        plain[at..at + bytes].fill(0x5a);
        disk.write_at(&plain[at..at + bytes], at as u64).expect("it writes");
    }
    assert!(disk.storage().copy()[PAYLOAD..] == kind.encrypted(&plain), "{kind:?}");
}

#[test]
fn the_newer_of_two_valid_headers_is_taken() {
    let mut container = AES.luks2(&[1; 4096]);
    // The second header is newer and says that the disk is shorter.
    let newer = AES.metadata().replace("dynamic", "1024");
    container[HEADER..2 * HEADER].copy_from_slice(&binary_header(HEADER, 9, newer.as_bytes()));
    assert_eq!(open(container.clone()).expect("it opens").bytes(), 1024);
    // The first one is newer still.
    let newest = AES.metadata().replace("dynamic", "2048");
    container[..HEADER].copy_from_slice(&binary_header(0, 10, newest.as_bytes()));
    assert_eq!(open(container.clone()).expect("it opens").bytes(), 2048);
    // Of two that are as new, it is the first.
    let mut same = container.clone();
    same[..HEADER].copy_from_slice(&binary_header(0, 9, newest.as_bytes()));
    assert_eq!(open(same).expect("it opens").bytes(), 2048);
    // It is damaged; then its magic is gone.
    for at in [4100, 0] {
        container[at] ^= 1;
        assert_eq!(open(container.clone()).expect("it opens").bytes(), 1024);
    }
    container[HEADER + 4100] ^= 1;
    assert_eq!(fault(container), "not a LUKS container: it does not begin with a LUKS header");
}

#[test]
fn headers_describe_themselves() {
    let kind = Kind { cipher: "camellia", key_bytes: 32, sector: 4096, ..AES };
    let header = Header::read(&Memory::new(kind.luks2(&[]))).expect("a header");
    assert_eq!((header.version(), header.cipher(), header.sector_bytes()), {
        (2, "camellia-xts-plain64", 4096)
    });
    let header = Header::read(&Memory::new(AES.luks1(&[]))).expect("a header");
    assert_eq!(
        (header.version(), header.cipher(), header.sector_bytes()),
        (1, "aes-xts-plain64", 512)
    );
}

#[test]
fn an_empty_disk_is_a_disk() {
    for container in [AES.luks1(&[]), AES.luks2(&[])] {
        let disk = open(container).expect("it opens");
        assert_eq!(disk.bytes(), 0);
        disk.read_at(&mut [], 0).expect("nothing to read");
        assert!(disk.read_at(&mut [0], 0).is_err());
    }
}

#[test]
fn a_detached_header_opens_what_lies_elsewhere() {
    let plain = Random(4).bytes(DISK);
    let metadata = AES.metadata().replace(&format!("\"{PAYLOAD}\""), "\"0\"");
    let mut header = AES.luks2(&[]);
    header[..HEADER].copy_from_slice(&binary_header(0, 8, metadata.as_bytes()));
    header.truncate(SLOT + 512); // it may end with its key slot
    let payload = Memory::new(AES.encrypted(&plain));
    let disk = Disk::open_detached(&Memory::new(header), payload, PASSPHRASE, &LIMITS);
    let mut read = vec![0; DISK];
    disk.expect("it opens").read_at(&mut read, 0).expect("it reads");
    assert!(read == plain);
}

/// Its first write would destroy the key slots.
#[test]
fn a_disk_over_its_own_header_is_refused() {
    let slot_end = SLOT + 0x8000;
    for (offset, end) in
        [(0, None), (SLOT, None), (slot_end - 512, None), (slot_end, Some(PAYLOAD))]
    {
        let metadata = AES.metadata().replace(&format!("\"{PAYLOAD}\""), &format!("\"{offset}\""));
        let mut luks2 = AES.luks2(&[0; 512]);
        luks2[..HEADER].copy_from_slice(&binary_header(0, 8, metadata.as_bytes()));
        let expected = format!(
            "the disk begins at byte {offset}, before its header ends, at byte {slot_end}: a detached \
             header, whose disk lies elsewhere"
        );
        match end {
            None => assert_eq!(fault(luks2), expected),
            Some(_) => drop(open(luks2).expect("behind the key slots")),
        }
    }
    let slot_end = SLOT + 64 * support::STRIPES;
    for sector in [0, 1, (slot_end - 1) / 512] {
        let mut luks1 = AES.luks1(&[0; 512]);
        luks1[104..108].copy_from_slice(&(sector as u32).to_be_bytes());
        assert!(fault(luks1).ends_with("whose disk lies elsewhere"), "sector {sector}");
    }
}

#[test]
fn wrong_passphrases_and_altered_slots_are_refused() {
    for container in [AES.luks1(&[0; 512]), AES.luks2(&[0; 512])] {
        let refused = "none of the 1 key slots tried opens: \
             the passphrase is wrong, or the key slots are damaged";
        for wrong in [&b""[..], b"open sesam", b"open sesame\n"] {
            let opened = Disk::open(Memory::new(container.clone()), wrong, &LIMITS);
            assert_eq!(opened.expect_err("wrong").to_string(), refused);
        }
        for at in [SLOT, SLOT + 100, SLOT + 255] {
            let mut altered = container.clone();
            altered[at] ^= 0x80;
            assert_eq!(fault(altered), refused, "byte {at}");
        }
    }
}

#[test]
fn limits_hold() {
    for container in [AES.luks1(&[0; 512]), AES.luks2(&[0; 512])] {
        let limits = DerivationLimits { pbkdf2_iterations: 2, ..LIMITS };
        let opened = Disk::open(Memory::new(container), PASSPHRASE, &limits);
        let expected = "a key slot asks for 3 iterations of PBKDF2; the limit is 2";
        assert_eq!(opened.expect_err("too much").to_string(), expected);
    }
}

#[test]
fn what_is_not_supported_is_named() {
    for (from, to, expected) in [
        ("aes-xts-plain64", "aes-xts-plain", "cipher \"aes-xts-plain\" is not supported"),
        ("aes-xts-plain64", "aes-cbc-essiv:md5", "cipher \"aes-cbc-essiv:md5\" is not supported"),
        ("aes-xts-plain64", "aes-cbc-plain64", "aes key of 64 bytes"),
        ("aes-xts-plain64", "null", "cipher \"null\" is not supported"),
        (
            "aes-xts-plain64",
            "serpent-xts-plain64",
            "cipher \"serpent-xts-plain64\" is not supported",
        ),
        ("aes-xts-plain64", "des-xts-plain64", "cipher \"des-xts-plain64\" is not supported"),
        ("\"key_size\":64", "\"key_size\":60", "aes key of 30 bytes"),
        ("\"sector_size\":512", "\"sector_size\":8192", "sector size \"8192\" is not supported"),
        ("\"hash\":\"sha256\"", "\"hash\":\"whirlpool\"", "hash \"whirlpool\" is not supported"),
        ("\"type\":\"crypt\"", "\"type\":\"linear\"", "segment \"linear\" is not supported"),
        ("\"size\":\"dynamic\"", "\"size\":\"many\"", "a segment's size is \"many\""),
        ("\"size\":\"dynamic\"", "\"size\":\"4608\"", "cut short: the disk ends at byte 70144"),
        ("\"size\":\"dynamic\"", "\"size\":\"100\"", "100 bytes are not whole sectors of 512"),
        ("\"size\":\"dynamic\"", "\"size\":\"18446744073709551104\"", "cut short: the disk"),
        (
            "\"config\":{",
            "\"config\":{\"requirements\":{\"mandatory\":[\"online-reencrypt-v2\"]},",
            "the container requires \"online-reencrypt-v2\"",
        ),
        ("\"iv_tweak\":\"0\"", "\"iv_tweak\":\"0\",\"integrity\":{\"type\":\"none\"}", "integrity"),
        ("\"stripes\":4", "\"stripes\":0", "no sensible lengths"),
        ("\"segments\":[\"0\"]", "\"segments\":[\"1\"]", "the disk's key has no digest"),
        (
            "\"type\":\"crypt\"",
            "\"type\":\"crypt\",\"flags\":[\"backup-final\"]",
            "there is no segment",
        ),
        (
            "\"segments\":{",
            "\"segments\":{\"1\":{\"type\":\"linear\",\"offset\":\"0\",\"size\":\"512\"},",
            "number of segments \"2\" is not supported; supported is one",
        ),
    ] {
        let said = metadata_fault(from, to);
        assert!(said.contains(expected), "{to}: {said:?}");
    }
}

/// The metadata with more slots, `(name, from, to)`: the slot that opens with that in place of this.
fn with_slots(slots: &[(&str, &str, &str)]) -> String {
    let metadata: serde_json::Value = serde_json::from_str(&AES.metadata()).expect("JSON");
    let (mut all, ours) = (metadata.clone(), metadata["keyslots"]["3"].to_string());
    for (name, from, to) in slots {
        assert!(ours.contains(from), "{from}");
        let slot = serde_json::from_str(&ours.replace(from, to)).expect("JSON");
        all["keyslots"][*name] = slot;
        let of_digest = all["digests"]["0"]["keyslots"].as_array_mut().expect("a list");
        of_digest.push((*name).into());
    }
    all.to_string()
}

fn open_with(
    metadata: &str,
    passphrase: &[u8],
    limits: &DerivationLimits,
) -> Result<Disk<Memory>, Error> {
    let mut container = AES.luks2(&[0; 4096]);
    container[..HEADER].copy_from_slice(&binary_header(0, 8, metadata.as_bytes()));
    Disk::open(Memory::new(container), passphrase, limits)
}

/// Whatever one slot has, tried first, the others open; and where none does, it is named.
#[test]
fn a_slot_that_is_not_known_closes_no_other() {
    for (from, to, expected) in [
        ("\"sha256\"", "\"sha384\"", "hash \"sha384\" is not supported"),
        ("\"pbkdf2\"", "\"scrypt\"", "key derivation \"scrypt\" is not supported"),
        ("\"stripes\":4", "\"stripes\":-4", "key slot \"0\": invalid value"),
        ("\"offset\":\"32768\"", "\"offset\":\"\"", "key slot \"0\": "),
        ("\"salt\":", "\"salts\":", "a key slot's pbkdf2: missing field `salt`"),
        ("\"iterations\":3", "\"iterations\":101", "101 iterations of PBKDF2; the limit is 100"),
        ("aes-xts-plain64", "serpent-xts-plain64", "cipher \"serpent-xts-plain64\""),
    ] {
        let metadata = with_slots(&[("0", from, to)]);
        open_with(&metadata, PASSPHRASE, &LIMITS).expect("another slot opens");
        let said = open_with(&metadata, b"wrong", &LIMITS).expect_err("it is wrong").to_string();
        assert!(said.starts_with("none of the 1 key slots tried opens"), "{said}");
        assert!(said.contains(expected), "{to}: {said}");
    }
    // The other is its own digest's, not the disk's.
    let metadata = AES.metadata();
    let other = "\"digests\":{\"9\":{\"type\":\"pbkdf3\",\"keyslots\":[],\"segments\":[]},";
    let metadata = metadata.replace("\"digests\":{", other);
    open_with(&metadata, PASSPHRASE, &LIMITS).expect("the disk's digest is known");
}

/// All slots of a header together, however many it makes up.
#[test]
fn slots_are_limited_together() {
    let names: Vec<_> = (4..36).map(|name| name.to_string()).collect();
    let slots = |end: usize, from, to| {
        let slots: Vec<_> = names[..end].iter().map(|name| (name.as_str(), from, to)).collect();
        with_slots(&slots)
    };
    let dear = "\"iterations\":100";
    let all = slots(31, "\"iterations\":3", dear);
    let metadata = all.replace("\"3\":{", "\"40\":{").replace("[\"3\",", "[\"40\",");
    // There is work for three of them, and for the cheap one, which is tried last: a key of 64 bytes takes two digests,
    // and the digest of the volume key three iterations.
    open_with(&metadata, PASSPHRASE, &LIMITS).expect("the cheap one opens");
    let error = open_with(&metadata, b"wrong", &LIMITS).expect_err("it is wrong");
    let Error::NoSlotOpens { tried: 4, skipped: Some(skipped) } = error else { panic!("{error}") };
    let expected = "a key slot asks for 809 iterations of PBKDF2, together with the key slots before \
         it; the limit is 800";
    assert_eq!(skipped.to_string(), expected);
    let limits = DerivationLimits { pbkdf2_total_iterations: 31 * 203 + 9, ..LIMITS };
    let error = open_with(&metadata, b"wrong", &limits).expect_err("it is wrong");
    assert!(matches!(error, Error::NoSlotOpens { tried: 32, skipped: None }), "{error}");

    let argon2 = "\"kdf\":{\"type\":\"argon2id\",\"time\":2,\"memory\":64,\"cpus\":1,\"salt\":\"CQkJCQkJCQkJCQkJ\"},\"_\":{";
    let metadata = slots(5, "\"kdf\":{", argon2).replace("\"3\":{", "\"40\":{");
    let metadata = metadata.replace("[\"3\",", "[\"40\",");
    let error = open_with(&metadata, b"wrong", &LIMITS).expect_err("it is wrong");
    let Error::NoSlotOpens { tried: 5, skipped: Some(skipped) } = error else { panic!("{error}") };
    let expected = "a key slot asks for 640 KiB that Argon2 goes over, together with the key slots \
         before it; the limit is 512";
    assert_eq!(skipped.to_string(), expected);

    let error = open_with(&slots(32, "x", "x"), PASSPHRASE, &LIMITS).expect_err("one too many");
    let expected = "the LUKS header is damaged: it has 33 key slots; LUKS2 has at most 32";
    assert_eq!(error.to_string(), expected);
}

/// The kernel, too, leaves out what is no whole sector.
#[test]
fn a_container_of_odd_length_ends_with_its_last_whole_sector() {
    for mut container in [AES.luks1(&[5; 3 * 512]), AES.luks2(&[5; 3 * 512])] {
        for length in [1, 511] {
            container.truncate(PAYLOAD + 3 * 512);
            container.resize(PAYLOAD + 3 * 512 + length, 0xee);
            let disk = open(container.clone()).expect("it opens");
            assert_eq!(disk.bytes(), 3 * 512);
            let mut read = [0; 3 * 512];
            disk.read_at(&mut read, 0).expect("all of it");
            assert_eq!(read, [5; 3 * 512]);
            disk.write_at(&read, 0).expect("all of it");
            assert!(matches!(disk.read_at(&mut [0], 3 * 512), Err(Error::OutOfBounds { .. })));
            assert_eq!(disk.storage().copy(), container, "what is after it stays");
        }
    }
}

#[test]
fn slots_that_are_to_be_ignored_are() {
    for (from, to) in [
        ("\"type\":\"luks2\",", "\"type\":\"luks2\",\"priority\":0,"),
        ("\"type\":\"luks2\",", "\"type\":\"reencrypt\","),
        ("\"keyslots\":[\"3\"]", "\"keyslots\":[]"), // it has the key of another disk
    ] {
        let said = metadata_fault(from, to);
        assert!(said.starts_with("none of the 0 key slots"), "{to}: {said}");
    }
    assert_eq!(metadata_fault("\"type\":\"luks2\",", "\"type\":\"luks2\",\"priority\":2,"), "");
}

#[test]
fn what_is_cut_short_is_refused() {
    for container in [AES.luks1(&[3; 512]), AES.luks2(&[3; 512])] {
        let error = |bytes: usize| open(container[..bytes].to_vec()).expect_err("it is cut short");
        for bytes in [0, 1, 7] {
            assert!(matches!(error(bytes), Error::NotLuks), "{bytes}: {}", error(bytes));
        }
        for bytes in [8, 591, 4095, SLOT - 1, SLOT + 255, PAYLOAD - 1] {
            assert!(matches!(error(bytes), Error::Truncated { .. }), "{bytes}: {}", error(bytes));
        }
    }
}

#[test]
fn a_file_is_a_storage() {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&AES.luks2(&[7; 1024])).expect("it is written");
    let second = file.try_clone().expect("the same file");
    let open = |file| Disk::open(file, PASSPHRASE, &LIMITS).expect("it opens");
    let disk = open(file);
    assert_eq!(disk.bytes(), 1024);
    disk.write_at(&[8; 600], 0).expect("it writes");
    disk.sync().expect("it syncs");
    let mut read = [0; 1024];
    open(second).read_at(&mut read, 0).expect("it reads");
    assert_eq!((&read[..600], &read[600..]), (&[8; 600][..], &[7; 424][..]));
    // No device of the kernel's own can be synced.
    let null = File::open("/dev/null").expect("it is there");
    assert!(Storage::sync(&null).is_err());
}

#[test]
fn no_text_has_a_secret() {
    for kind in [AES, Kind { mode: "cbc-essiv:sha256", key_bytes: 32, ..AES }] {
        let disk = open(kind.luks2(&[0; 512])).expect("it opens");
        assert_eq!(
            format!("{disk:?}"),
            "Disk { bytes: 512, sectors: Sectors { bytes: 512, .. }, .. }"
        );
        let text = format!("{:?}", Header::read(disk.storage()).expect("a header"));
        assert!(!text.contains("5, 16, 27"), "{text}");
    }
}
