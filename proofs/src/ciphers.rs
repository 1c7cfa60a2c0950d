//! The ciphers, and their standards as models.

mod aes;
mod aria;
mod camellia;
mod des;
mod hight;
mod seed;

use crate::subject::Subject;

/// All ciphers.
pub(crate) fn all() -> Vec<Subject> {
    vec![
        aes::subject(),
        aria::subject(),
        camellia::subject(),
        des::subject(),
        hight::subject(),
        seed::subject(),
    ]
}

/// A direction, for names of claims.
pub(crate) const DIRECTIONS: [(&str, bool); 2] = [("encryption", false), ("decryption", true)];
