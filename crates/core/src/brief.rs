//! Text that anyone may have written, as errors repeat it.

use core::fmt::{self, Write};

/// The most characters that are repeated.
const MOST: usize = 64;

/// Text of a file or a header: at most its first 64 characters, and `…` where there are more.
///
/// `{:?}` is for names, quoted and escaped as a `str` is; `{}` is for sentences, in which characters that cannot be
/// printed are escaped and quotes are not.
///
/// ```
/// use lanecrypt_core::Brief;
///
/// assert_eq!(format!("{:?}", Brief("a\tname")), r#""a\tname""#);
/// assert_eq!(format!("{}", Brief("it is \"a\u{1b}\"")), r#"it is "a\u{1b}""#);
/// assert_eq!(format!("{:?}", Brief(&"é".repeat(65))), format!("{:?}…", "é".repeat(64)));
/// ```
#[derive(Clone, Copy)]
pub struct Brief<'a>(
    /// All of the text.
    pub &'a str,
);

impl<'a> Brief<'a> {
    /// What is repeated, and whether there is more.
    fn cut(self) -> (&'a str, bool) {
        match self.0.char_indices().nth(MOST) {
            Some((end, _)) => (&self.0[..end], true),
            None => (self.0, false),
        }
    }
}

impl fmt::Debug for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, is_cut) = self.cut();
        write!(f, "{text:?}{}", if is_cut { "…" } else { "" })
    }
}

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, is_cut) = self.cut();
        for character in text.chars() {
            match character {
                '"' | '\'' | '\\' => f.write_char(character)?,
                _ => write!(f, "{}", character.escape_debug())?,
            }
        }
        f.write_str(if is_cut { "…" } else { "" })
    }
}
