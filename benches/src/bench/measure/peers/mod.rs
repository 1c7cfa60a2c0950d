//! Libraries in other languages, measured in the same run: Botan and OpenSSL, where the feature
//! `peers` compiles them in.

pub(crate) mod baseline;
#[cfg(feature = "peers")]
mod botan;
mod older;
#[cfg(feature = "peers")]
mod openssl;

use lanecrypt::registry::CipherDescription;
use lanecrypt_record::Work;

use crate::bench::measure::runner::Runner;

/// Makes a keyed mode of a cipher; the key is that of [`super::runner::key`]. An error says what
/// the library lacks.
type CreateRunner = fn(&CipherDescription, Work, &[u8]) -> Result<Box<dyn Runner>, String>;

/// Another library.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The name in reports.
    pub(crate) name: &'static str,
    /// Name and version.
    pub(crate) version: fn() -> String,
    /// Makes a mode of a cipher.
    pub(crate) create: CreateRunner,
}

/// Every peer of this build.
pub(crate) static PEERS: &[Peer] = &[
    #[cfg(feature = "peers")]
    Peer { name: "Botan", version: botan::version, create: botan::create },
    #[cfg(feature = "peers")]
    Peer { name: "OpenSSL", version: openssl::version, create: openssl::create },
];

#[cfg(all(test, feature = "peers"))]
mod tests {
    use lanecrypt::CIPHERS;

    use super::*;
    use crate::bench::{
        measure::runner::{Data, expected, key},
        plan::{ON_CPU, fits},
    };

    /// More than any library takes at once, and no power of two.
    const BLOCKS: usize = 1003;

    /// The modes of a cipher that a peer has, each compared with the reference in every size.
    fn compared(peer: &Peer, cipher: &'static CipherDescription) -> Vec<(usize, Work)> {
        let mut compared = Vec::new();
        for &key_bytes in cipher.key_bytes {
            for work in ON_CPU.into_iter().filter(|&work| fits(work, cipher.block_bytes)) {
                let Ok(mut runner) = (peer.create)(cipher, work, &key(work, key_bytes)) else {
                    continue;
                };
                for blocks in [1, 2, BLOCKS] {
                    let bytes = blocks * cipher.block_bytes;
                    let mut found = Data::new(bytes, cipher.block_bytes);
                    found.run(&mut *runner).expect("it runs");
                    let create = cipher.backends[0].create;
                    let expected = expected(cipher, create, work, key_bytes, bytes);
                    let is_right = found.output() == expected.expect("ours runs").output();
                    assert!(is_right, "{peer:?}: {} {work}, {bytes} bytes", cipher.name);
                }
                compared.push((key_bytes, work));
            }
        }
        compared
    }

    #[test]
    fn peers_compute_their_ciphers() {
        let count = |peer: usize, cipher| {
            compared(&PEERS[peer], lanecrypt::find_cipher(cipher).expect("it is known")).len()
        };
        // Three key sizes of six modes; OpenSSL has no XTS of AES-192, nor of another cipher, and no
        // GCM of Camellia.
        assert_eq!(["aes", "aria", "camellia"].map(|name| count(0, name)), [18, 18, 18]);
        assert_eq!(["aes", "aria", "camellia"].map(|name| count(1, name)), [17, 15, 12]);
        let others = ["seed", "sm4", "des", "tdes"];
        assert_eq!(others.map(|name| count(0, name)), [6, 6, 4, 8]);
        // No CTR of these but the second, whose XTS is another one.
        assert_eq!(others.map(|name| count(1, name)), [3, 5, 3, 6]);
        for cipher in CIPHERS.iter().filter(|c| c.name.contains("hight") || c.name == "tdes-eee") {
            assert!(PEERS.iter().all(|peer| compared(peer, cipher).is_empty()), "{}", cipher.name);
        }
    }

    #[test]
    fn what_a_peer_lacks_is_named() {
        let lacks = |peer: usize, cipher, work| {
            let cipher = lanecrypt::find_cipher(cipher).expect("it is known");
            let key = key(work, cipher.key_bytes[0]);
            (PEERS[peer].create)(cipher, work, &key).err().expect("it has no such mode")
        };
        assert_eq!(lacks(0, "hight", Work::Ctr), "it has no HIGHT");
        assert_eq!(lacks(1, "hight", Work::Ctr), "it has no HIGHT");
        assert_eq!(lacks(1, "seed", Work::Ctr), "it has no SEED-CTR");
    }
}
