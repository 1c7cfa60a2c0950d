//! GCM over records of TLS 1.2 (RFC 5288): an IV whose last 8 bytes go with the record, before the
//! ciphertext, and the tag after it.

use lanecrypt::Direction;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::{
    Reason, Transfer,
    gcm::{Gcm, State, TAG},
    gcm_message::Message,
};

/// Bytes of associated data of a record: sequence number, type, version, length.
const AAD: usize = 13;
/// Bytes of an IV that both sides know.
const FIXED_IV: usize = 4;
/// Bytes of an IV that go with the record.
const EXPLICIT_IV: usize = 8;

/// What a context knows of records.
#[derive(Clone, Default)]
pub(crate) struct Records {
    /// Of the next record, with the length of its plaintext.
    aad: Option<[u8; AAD]>,
    /// Bytes that a record is longer than its plaintext and IV, once associated data was set.
    added: usize,
    /// Whether IVs are counted up here.
    counts_iv: bool,
    /// Records that were encrypted under the key.
    encrypted: u64,
}

impl Records {
    pub(crate) fn restart(&mut self) {
        self.encrypted = 0;
    }

    /// Whether the next call is one record.
    pub(crate) fn is_next(&self) -> bool {
        self.aad.is_some()
    }

    pub(crate) fn added(&self) -> usize {
        self.added
    }

    /// Takes the associated data of the next record, whose length counts what is in the record.
    pub(crate) fn begin(&mut self, direction: Direction, aad: &[u8]) -> Result<(), Reason> {
        let mut aad: [u8; AAD] = aad.try_into().map_err(|_| Reason::Data)?;
        let [.., high, low] = aad;
        let more = match direction {
            Direction::Encrypt => EXPLICIT_IV,
            Direction::Decrypt => EXPLICIT_IV + TAG,
        };
        let plaintext = usize::from(u16::from_be_bytes([high, low])).checked_sub(more);
        let plaintext = plaintext.ok_or(Reason::Data)? as u16;
        aad[AAD - 2..].copy_from_slice(&plaintext.to_be_bytes());
        self.aad = Some(aad);
        self.added = TAG;
        Ok(())
    }
}

impl Gcm {
    /// Takes an IV as it is, as SSH does.
    pub(crate) fn restore_iv(&mut self, iv: &[u8]) -> Result<(), Reason> {
        if iv.len() != self.iv().len() {
            return Err(Reason::IvLength);
        }
        self.iv_mut().copy_from_slice(iv);
        self.begin_counting();
        Ok(())
    }

    /// Takes the part of the IV that stays; an encryption draws the rest, to count on from there.
    pub(crate) fn set_fixed_iv(&mut self, fixed: &[u8]) -> Result<(), Reason> {
        let rest = self.iv().len().checked_sub(fixed.len()).filter(|&rest| rest >= EXPLICIT_IV);
        if fixed.len() < FIXED_IV || rest.is_none() {
            return Err(Reason::GetParameter); // as OpenSSL has it
        }
        let direction = self.direction;
        let (start, end) = self.iv_mut().split_at_mut(fixed.len());
        start.copy_from_slice(fixed);
        if direction == Direction::Encrypt {
            getrandom::fill(end).map_err(|_| Reason::Operation)?;
        }
        self.begin_counting();
        Ok(())
    }

    /// Begins the next message, and gives the last `size` bytes of its IV, or all; the message after it
    /// has the next number.
    pub(crate) fn next_iv(&mut self, size: usize) -> Result<&[u8], Reason> {
        let key = self.key()?;
        if !self.records.counts_iv || self.iv().len() < EXPLICIT_IV {
            return Err(Reason::Operation);
        }
        self.state = State::Running(Box::new(Message::new(&key, self.iv())?));
        let length = self.iv().len();
        self.given_iv[..length].copy_from_slice(&self.iv[..length]);
        if let Some(number) = self.iv_mut().last_chunk_mut::<EXPLICIT_IV>() {
            *number = u64::from_be_bytes(*number).wrapping_add(1).to_be_bytes();
        }
        let size = if size == 0 { length } else { size.min(length) };
        Ok(&self.given_iv[length - size..length])
    }

    /// Begins a message to decrypt, whose IV ends with this.
    pub(crate) fn set_explicit_iv(&mut self, end: &[u8]) -> Result<(), Reason> {
        let key = self.key()?;
        if !self.records.counts_iv || self.direction == Direction::Encrypt {
            return Err(Reason::Operation);
        }
        let start = self.iv().len().checked_sub(end.len()).ok_or(Reason::IvLength)?;
        self.iv_mut()[start..].copy_from_slice(end);
        self.state = State::Running(Box::new(Message::new(&key, self.iv())?));
        Ok(())
    }

    /// One record, in place: the explicit IV, the text, the tag. Where it is refused, too, nothing else has its IV.
    pub(crate) fn record(&mut self, data: &mut Transfer<'_>) -> Result<usize, Reason> {
        let aad = self.records.aad.take().ok_or(Reason::Internal)?;
        let record = data.record(0).map_err(|_| Reason::Operation);
        let result = record.and_then(|record| self.run_record(&aad, record));
        self.state = State::Over;
        result
    }

    /// Refuses what is no record where one is next, and gives that up, as OpenSSL does: the IV is not to be used.
    pub(crate) fn expect_no_record(&mut self) -> Result<(), Reason> {
        if self.records.aad.take().is_none() {
            return Ok(());
        }
        self.state = State::Over;
        Err(Reason::Operation)
    }

    fn run_record(&mut self, aad: &[u8; AAD], record: &mut [u8]) -> Result<usize, Reason> {
        let key = self.key()?;
        let text = record.len().checked_sub(EXPLICIT_IV + TAG).ok_or(Reason::Operation)?;
        let (explicit_iv, rest) = record.split_at_mut(EXPLICIT_IV);
        let (text, tag) = rest.split_at_mut(text);
        if self.direction == Direction::Encrypt {
            self.records.encrypted =
                self.records.encrypted.checked_add(1).ok_or(Reason::TooManyRecords)?;
            explicit_iv.copy_from_slice(self.next_iv(EXPLICIT_IV)?);
        } else {
            self.set_explicit_iv(explicit_iv)?;
        }
        let direction = self.direction;
        let State::Running(message) = &mut self.state else { return Err(Reason::Internal) };
        message.associate(&key, aad)?;
        message.run(&key, direction, (&mut *text).into())?;
        let made = self.take_tag(&key)?;
        if direction == Direction::Encrypt {
            tag.copy_from_slice(&*made);
            return Ok(EXPLICIT_IV + text.len() + TAG);
        }
        if bool::from(made.ct_eq(tag)) {
            return Ok(text.len());
        }
        text.zeroize();
        Err(Reason::NotAuthentic)
    }

    fn begin_counting(&mut self) {
        self.records.counts_iv = true;
        self.state = State::Ready;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ALGORITHMS, EvpCalls, EvpMode, Value};

    fn context() -> Gcm {
        let algorithm = ALGORITHMS.iter().find(|algorithm| algorithm.mode == EvpMode::Gcm);
        Gcm::new(algorithm.expect("there is one"))
    }

    /// Takes a key, and counts records anew.
    fn start(gcm: &mut Gcm) -> Result<(), Reason> {
        gcm.init(Direction::Encrypt, Some(&[1; 16]), None)
    }

    /// Says that a record of 5 bytes is next.
    fn announce(gcm: &mut Gcm) -> Result<(), Reason> {
        let mut aad = [0; AAD];
        aad[AAD - 1] = EXPLICIT_IV as u8 + 5;
        gcm.set(b"tlsaad", Value::Bytes(&aad))
    }

    /// Encrypts a record of 5 bytes.
    fn seal(gcm: &mut Gcm) -> Result<usize, Reason> {
        announce(gcm)?;
        gcm.update(&mut Transfer::in_place(&mut [0; EXPLICIT_IV + 5 + TAG]))
    }

    #[test]
    fn a_key_is_refused_when_its_records_have_had_every_iv() {
        let mut gcm = context();
        start(&mut gcm).expect("a good key");
        gcm.set(b"tlsivfixed", Value::Bytes(&[2; FIXED_IV])).expect("a good length");
        gcm.records.encrypted = u64::MAX - 1;
        assert_eq!(seal(&mut gcm), Ok(EXPLICIT_IV + 5 + TAG));
        assert_eq!(seal(&mut gcm), Err(Reason::TooManyRecords));
        start(&mut gcm).expect("a good key");
        assert_eq!(seal(&mut gcm), Ok(EXPLICIT_IV + 5 + TAG), "a key starts anew");
    }

    /// Whatever comes in its place, nothing but a record is encrypted under the IV of one that was announced.
    #[test]
    fn a_record_that_does_not_come_takes_its_iv() {
        type Call = fn(&mut Gcm) -> Result<usize, Reason>;
        let calls: [Call; 4] = [
            |gcm| gcm.update(&mut Transfer::out_of_place(&[0; 40], &mut [0; 40])),
            |gcm| gcm.update(&mut Transfer::in_place(&mut [0; EXPLICIT_IV + TAG - 1])),
            |gcm| gcm.associate(&[0; AAD]).map(|()| AAD),
            |gcm| gcm.finish(&mut Transfer::in_place(&mut [])),
        ];
        for (number, call) in calls.into_iter().enumerate() {
            let mut gcm = context();
            start(&mut gcm).expect("a good key");
            gcm.set(b"tlsivfixed", Value::Bytes(&[2; FIXED_IV])).expect("a good length");
            announce(&mut gcm).expect("a good length");
            assert_eq!(gcm.update(&mut Transfer::in_place(&mut [])), Ok(0), "nothing is no data");
            assert!(call(&mut gcm).is_err(), "{number}");
            let message = gcm.update(&mut Transfer::in_place(&mut [0; 5]));
            assert_eq!(message, Err(Reason::Operation), "{number}");
            assert_eq!(seal(&mut gcm), Ok(EXPLICIT_IV + 5 + TAG), "{number}: the next has its own");
        }
    }

    /// It could not be counted up: two messages would have it.
    #[test]
    fn an_iv_that_is_too_short_to_count_is_not_given_out() {
        let mut gcm = context();
        start(&mut gcm).expect("a good key");
        for (bytes, given) in [(7, Err(Reason::Operation)), (8, Ok(true))] {
            gcm.set(b"ivlen", Value::Number(bytes)).expect("a length of IVs");
            gcm.set(b"tlsivfixed", Value::Unsized(&[2; 8][..bytes as usize])).expect("its length");
            assert_eq!(gcm.get(b"tlsivgen", 0).map(|iv| iv.is_some()), given, "{bytes} bytes");
            let longer = gcm.set(b"tlsivfixed", Value::Bytes(&[2; 9]));
            assert_eq!(longer, Err(Reason::GetParameter), "OpenSSL writes past its memory here");
        }
    }
}
