//! Encrypted Parquet files and their plaintext: what is no file is refused, and what opens is sealed again and opens to the
//! same.

use lanecrypt_parquet::{
    Encrypted, InMemory, Key, Keys, OpenOptions, SealOptions, seal,
    thrift::{read_struct, write_struct},
};

/// The key of the seeds.
const KEY: [u8; 16] = [7; 16];

/// Reads the input as a structure of Thrift, as an encrypted file under the key of the seeds, and as a plaintext file.
///
/// # Panics
/// Where a structure or a file that was read is not the same again after it was written.
pub fn parquet(input: &[u8]) {
    if let Ok((fields, length)) = read_struct(input) {
        assert!(length <= input.len());
        let mut written = Vec::new();
        write_struct(&fields, &mut written);
        let (again, _) = read_struct(&written).expect("it was just written");
        assert!(again == fields, "written as something else");
    }
    let keys = Keys::uniform(Key::new(&KEY).expect("a length that AES has"));
    let open = |bytes: &[u8]| {
        Encrypted::read(InMemory(bytes), &keys, OpenOptions::default()).and_then(|file| file.open())
    };
    let plain = open(input);
    let plain = plain.as_deref().unwrap_or(input);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sealed");
    if seal(&InMemory(plain), &keys, &SealOptions::default(), &path).is_ok() {
        let sealed = std::fs::read(&path).expect("it was sealed");
        if let Ok(opened) = open(&sealed) {
            seal(&InMemory(&opened), &keys, &SealOptions::default(), &path).expect("it was opened");
            let again = std::fs::read(&path).expect("it was sealed");
            assert!(open(&again).expect("it was sealed") == opened, "opened as something else");
        }
    }
}
