//! What kernels do.

use core::fmt;

/// What a kernel does to the blocks it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Task {
    /// ECB encryption.
    EcbEncrypt,
    /// ECB decryption; where both directions are one kernel, the same under other keys.
    EcbDecrypt,
    /// CTR.
    Ctr,
    /// CBC decryption of whole blocks.
    CbcDecrypt,
    /// CFB decryption of whole blocks, by segments of a block.
    CfbDecrypt,
    /// XTS encryption of whole blocks; for blocks of 16 bytes.
    XtsEncrypt,
    /// XTS decryption of whole blocks; for blocks of 16 bytes.
    XtsDecrypt,
    /// CTR's key stream without data, which is not stored but XORed block by block, a block of
    /// output for every thread: for measuring.
    Keystream,
    /// CTR's key stream, stored: CTR over zeros that nobody reads.
    Fill,
}

impl Task {
    /// Every task, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::EcbEncrypt,
        Self::EcbDecrypt,
        Self::Ctr,
        Self::CbcDecrypt,
        Self::CfbDecrypt,
        Self::XtsEncrypt,
        Self::XtsDecrypt,
        Self::Keystream,
        Self::Fill,
    ];

    /// How many there are.
    pub(crate) const COUNT: usize = Self::ALL.len();
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EcbEncrypt => "ECB encryption",
            Self::EcbDecrypt => "ECB decryption",
            Self::Ctr => "CTR",
            Self::CbcDecrypt => "CBC decryption",
            Self::CfbDecrypt => "CFB decryption",
            Self::XtsEncrypt => "XTS encryption",
            Self::XtsDecrypt => "XTS decryption",
            Self::Keystream => "the key stream of CTR",
            Self::Fill => "the key stream of CTR, stored",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_stands_at_its_number() {
        for (number, task) in Task::ALL.into_iter().enumerate() {
            assert_eq!(task as usize, number, "{task}");
        }
    }
}
