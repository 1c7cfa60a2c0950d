//! Thrift's compact protocol: what is written is read, as others write it, and nothing that is read fails but by an error.

use lanecrypt_parquet::thrift::{
    List, MOST_DEPTH, Malformed, PAD_FIELD, PAD_LEAST, Struct, Value, padded, read_struct,
    write_struct,
};
use proptest::{collection::vec, prelude::*};

fn written(fields: &Struct) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_struct(fields, &mut bytes);
    bytes
}

fn any_value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<u8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::I16),
        any::<i32>().prop_map(Value::I32),
        any::<i64>().prop_map(Value::I64),
        any::<[u8; 8]>().prop_map(Value::Double),
        vec(any::<u8>(), 0..200).prop_map(Value::Binary),
        vec(any::<i32>(), 0..40).prop_map(|items| Value::List(List::of_i32(items))),
    ];
    plain.prop_recursive(4, 60, 6, |inner| {
        let fields = vec((any::<i16>(), inner), 0..6);
        let fields = fields.prop_map(|fields| fields.into_iter().collect::<Struct>());
        let list =
            vec(fields.clone(), 0..20).prop_map(|items| Value::List(List::of_structures(items)));
        prop_oneof![fields.prop_map(Value::Struct), list]
    })
}

fn any_struct() -> impl Strategy<Value = Struct> {
    vec((any::<i16>(), any_value()), 0..8).prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    #[test]
    fn what_is_written_is_read(fields in any_struct(), behind in vec(any::<u8>(), 0..9)) {
        let mut bytes = written(&fields);
        let length = bytes.len();
        bytes.extend(behind);
        let (read, taken) = read_struct(&bytes).unwrap();
        prop_assert!(read == fields);
        prop_assert_eq!(taken, length);
        for end in (0..length).step_by(1 + length / 20) {
            prop_assert!(read_struct(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..400)) {
        if let Ok((fields, taken)) = read_struct(&bytes) {
            prop_assert!(taken <= bytes.len());
            prop_assert!(read_struct(&written(&fields)).unwrap().0 == fields);
        }
    }

    #[test]
    fn changed_bytes_are_read_or_refused(fields in any_struct(), at: prop::sample::Index, to: u8) {
        let mut bytes = written(&fields);
        let at = at.index(bytes.len());
        bytes[at] = to;
        if let Ok((fields, _)) = read_struct(&bytes) {
            prop_assert!(read_struct(&written(&fields)).unwrap().0 == fields);
        }
    }

    #[test]
    fn what_is_padded_is_as_long(number: i32, more in PAD_LEAST..=PAD_LEAST + 127) {
        let fields: Struct = [(1, Value::I32(number))].into_iter().collect();
        let mut bytes = written(&fields);
        let length = bytes.len();
        padded(&mut bytes, more);
        prop_assert_eq!(bytes.len(), length + more);
        let (mut read, taken) = read_struct(&bytes).unwrap();
        prop_assert_eq!(taken, bytes.len());
        prop_assert!(read.remove(PAD_FIELD).is_some());
        prop_assert!(read == fields);
    }
}

/// By the specification of the protocol: deltas of field numbers, zigzag, and the two forms of lists.
#[test]
fn bytes_are_as_the_protocol_says() {
    let items = (0..16).map(|i| i - 1);
    let fields: Struct = [
        (1, Value::I32(-1)),
        (3, Value::Bool(true)),
        (20, Value::Binary(b"ab".to_vec())),
        (21, Value::List(List::of_i32([1]))),
        (22, Value::List(List::of_i32(items))),
    ]
    .into_iter()
    .collect();
    let start = [0x15, 1, 0x21, 0x08, 40, 2, b'a', b'b', 0x19, 0x15, 2, 0x19, 0xf5, 16, 1, 0, 2, 4];
    let bytes = written(&fields);
    assert_eq!(bytes[..start.len()], start);
    assert_eq!(bytes.last(), Some(&0));
}

#[test]
fn integers_of_any_size_are_read_as_one() {
    let all = [Value::I16(-2), Value::I32(-3), Value::I64(-4), Value::Bool(true)];
    let fields: Struct = (1..).zip(all).collect();
    let read = [1, 2, 3, 4, 5].map(|id| fields.integer(id));
    assert_eq!(read, [Some(-2), Some(-3), Some(-4), None, None]);
    // The largest has all 64 bits, and one more is too many.
    let largest = [[0x16].as_slice(), &[0xff; 9], &[1, 0]].concat();
    assert_eq!(read_struct(&largest).unwrap().0.integer(1), Some(i64::MIN));
    let larger = [[0x16].as_slice(), &[0xff; 9], &[2, 0]].concat();
    assert!(read_struct(&larger).unwrap_err().what.contains("64 bits"));
}

#[test]
fn what_asks_for_too_much_is_refused() {
    let what = |bytes: &[u8]| read_struct(bytes).unwrap_err().what;
    // A list of 2^32 structures, a text of as many bytes, a number of 70 bits.
    assert!(what(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f]).contains("more values"));
    assert!(what(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]).contains("more bytes"));
    // A text of 2^40 bytes, a length that a CPU of 32 bits does not have.
    let wide = if cfg!(target_pointer_width = "64") { "more bytes" } else { "too large" };
    assert!(what(&[0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0]).contains(wide));
    assert!(what(&[[0x16].as_slice(), &[0xff; 10], &[1, 0]].concat()).contains("64 bits"));
    assert!(what(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x10, 0]).contains("too large"));
    // A map, the same field twice, a number of a field that does not fit.
    assert!(what(&[0x1b, 0, 0]).contains("Parquet does not have"));
    assert!(what(&[0x15, 0, 0x05, 2, 0, 0]).contains("out of order"));
    assert!(what(&[0x05, 0xfe, 0xff, 3, 0, 0xf5, 0, 0]).contains("number is too large"));
    let deep = vec![0x1c; MOST_DEPTH + 1];
    assert!(what(&deep).contains("nested too deep"));
    let lists = [vec![0x19], vec![0x19; 100_000]].concat();
    assert!(what(&lists).contains("nested too deep"));
    assert_eq!(
        read_struct(&[]).unwrap_err(),
        Malformed { at: 0, of: 0, what: "it is cut off here" }
    );
}
