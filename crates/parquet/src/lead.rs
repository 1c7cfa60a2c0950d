//! The header of a page: opened, held against the page, and written anew for the plaintext file.
//!
//! A header says how long its page is, which encryption changes. It is also made longer, by a field that readers leave
//! out, until the page starts at a multiple of 16: header and page then reach a device side by side, in one copy.

use crate::{
    Error, Kind, Place,
    cipher::Cipher,
    fields::page,
    footer::Footer,
    module::{Framed, HEAD, NONCE, TAG},
    thrift::{PAD_FIELD, PAD_LEAST, Struct, Value, padded, read_struct, write_struct},
    walk::Found,
};

/// Pages start at multiples of this in the plaintext file.
const ALIGNMENT: u64 = 16;

/// A page with its header, plain.
pub(crate) struct Lead {
    found: Found,
    header: Vec<u8>,
    aad: Vec<u8>,
    /// Bytes of the page before compression.
    uncompressed: i64,
}

/// Opens the header of a page.
///
/// # Errors
/// [`Error::NotAuthentic`], [`Error::Module`].
pub(crate) fn lead_of(found: Found, cipher: &Cipher, footer: &Footer) -> Result<Lead, Error> {
    let place = found.place.header();
    let module = Framed::read(&found.header, place)?;
    let text = cipher.open_module(place, &footer.aad.of(place), module)?;
    let (mut fields, _) = read_struct(&text).map_err(Error::of_thrift(place))?;
    let sealed_bytes = HEAD + found.bytes + footer.algorithm.page_tag();
    let said = fields.integer(page::COMPRESSED_BYTES);
    if said.and_then(|bytes| usize::try_from(bytes).ok()) != Some(sealed_bytes) {
        let what = "it says another length than its page has";
        return Err(Error::Module { place, what });
    }
    let is_dictionary = fields.integer(page::KIND) == Some(page::DICTIONARY);
    if is_dictionary != (place.kind == Kind::DictionaryPageHeader) {
        return Err(Error::Module { place, what: "it is of another kind of page" });
    }
    let uncompressed = fields.integer(page::UNCOMPRESSED_BYTES).unwrap_or(0);
    let bytes = i32::try_from(found.bytes).map_err(|_| Error::TooLong { place })?;
    set_bytes(&mut fields, bytes);
    // With room for a field that makes it longer.
    let mut header = Vec::with_capacity(text.len() + 2 * ALIGNMENT as usize);
    write_struct(&fields, &mut header);
    let aad = footer.aad.of(found.place);
    Ok(Lead { found, header, aad, uncompressed })
}

/// Makes a header that of a page of other length. A sum of the page's bytes would be another one as well, since it is
/// made behind encryption; without one, readers trust what they read, which was authentic.
pub(crate) fn set_bytes(fields: &mut Struct, bytes: i32) {
    fields.set(page::COMPRESSED_BYTES, Value::I32(bytes));
    fields.remove(page::CRC);
    fields.remove(PAD_FIELD);
}

impl Lead {
    /// The page, with its header starting at this place of the plaintext file, and what both take before compression.
    pub(crate) fn at(self, at: u64, key: usize) -> (Page, i64) {
        let Self { found, header: mut lead, aad, uncompressed: of_page } = self;
        let end = at + lead.len() as u64;
        let short = (end.next_multiple_of(ALIGNMENT) - end) as usize;
        let more = if short < PAD_LEAST { short + ALIGNMENT as usize } else { short };
        if short > 0 {
            padded(&mut lead, more);
        }
        let uncompressed = of_page.saturating_add(lead.len().cast_signed() as i64);
        let Found { place, nonce, tag, text_at, bytes, .. } = found;
        let page = Page { place, key, aad, nonce, tag, text_at, bytes, lead, lead_at: at };
        (page, uncompressed)
    }
}

/// An encrypted page.
pub(crate) struct Page {
    pub(crate) place: Place,
    pub(crate) key: usize,
    pub(crate) aad: Vec<u8>,
    pub(crate) nonce: [u8; NONCE],
    pub(crate) tag: [u8; TAG],
    pub(crate) text_at: u64,
    pub(crate) bytes: usize,
    /// Its header, plain.
    pub(crate) lead: Vec<u8>,
    /// Where the header starts in the plaintext file.
    pub(crate) lead_at: u64,
}

impl Page {
    /// Where it ends in the plaintext file.
    pub(crate) fn end(&self) -> u64 {
        self.lead_at + (self.lead.len() + self.bytes) as u64
    }
}
