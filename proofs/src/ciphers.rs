//! The ciphers, and their standards as models.

#![allow(
    clippy::large_types_passed_by_value,
    reason = "models read as the standards do, which pass states on"
)]

mod aes;
mod aria;
mod camellia;
mod des;
mod hight;
mod seed;
mod sm4;

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
        sm4::subject(),
    ]
}
