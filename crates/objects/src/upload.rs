//! An object that is made of parts: it is invisible until all of them are put together.

use std::{
    panic::resume_unwind,
    sync::{Arc, atomic::AtomicBool},
};

use lanecrypt_tink::SegmentLayout;
use object_store::{
    PutPayload,
    multipart::{MultipartStore, PartId},
};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Stores,
    location::Address,
    runtime::{runtime, wait},
};

/// Least bytes of a part that is not the last.
pub(crate) const LEAST_PART: u64 = 5 << 20;
/// Most bytes of a part.
pub(crate) const MOST_PART: u64 = 5 << 30;
/// Most parts of an upload.
pub(crate) const MOST_PARTS: u64 = 10_000;

/// An upload that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Upload(String);

impl Upload {
    /// Begins one.
    pub(crate) fn begin(
        stores: &Stores,
        address: &Address,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let (client, key) = (stores.client(address.bucket())?, address.key().clone());
        let of_task = (Arc::clone(&client), key.clone());
        let mut task =
            runtime()?.spawn(async move { of_task.0.create_multipart(&of_task.1).await });
        let begun = wait(&mut task, cancel).inspect_err(|_| {
            // It may have begun without this having heard its name, without which it could not be given up.
            let give_up = async move {
                if let Ok(Ok(upload)) = task.await {
                    client.abort_multipart(&key, &upload).await.ok();
                }
            };
            runtime().map(|runtime| runtime.spawn(give_up)).ok();
        })?;
        let begun = begun.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        let begun = begun.map_err(|error| Error::of_store("begin to write", address, &error))?;
        Ok(Self(begun))
    }

    /// Sends a part, and returns the store's tag of it. One that was there is replaced.
    pub(crate) fn put(
        &self,
        stores: &Stores,
        address: &Address,
        part: u64,
        content: PutPayload,
        cancel: &AtomicBool,
    ) -> Result<String, Error> {
        let client = stores.client(address.bucket())?;
        let put = wait(client.put_part(address.key(), &self.0, part as usize, content), cancel)?;
        let put = put.map_err(|error| Error::of_store("write a part of", address, &error))?;
        Ok(put.content_id)
    }

    /// Makes the object of parts with these tags.
    pub(crate) fn complete(
        &self,
        stores: &Stores,
        address: &Address,
        tags: Vec<String>,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        let client = stores.client(address.bucket())?;
        let parts = tags.into_iter().map(|content_id| PartId { content_id }).collect();
        let completed = wait(client.complete_multipart(address.key(), &self.0, parts), cancel)?;
        completed.map_err(|error| Error::of_store("complete", address, &error))?;
        Ok(())
    }

    /// Gives it up, with all its parts. One that is not there any more is none.
    pub(crate) fn abort(
        &self,
        stores: &Stores,
        address: &Address,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        let client = stores.client(address.bucket())?;
        let aborted = wait(client.abort_multipart(address.key(), &self.0), cancel)?;
        let aborted = aborted.map_err(|error| Error::of_store("give up", address, &error));
        aborted.or_else(|error| if error.is_not_found() { Ok(()) } else { Err(error) })
    }
}

/// Bytes of a part of a source of `size` bytes: what is asked for if it may be, and otherwise 64 MiB, or
/// more where there would be too many parts.
///
/// # Errors
/// [`Error::PartBytes`] for what an object's parts may not be, and where the source is too long.
pub(crate) fn part_bytes(
    layout: SegmentLayout,
    size: u64,
    asked: Option<u64>,
    is_object: bool,
) -> Result<u64, Error> {
    const USUAL: u64 = 64 << 20;
    if !is_object {
        return Ok(asked.unwrap_or(USUAL));
    }
    let whole = |bytes: u64| bytes.next_multiple_of(layout.segment_bytes());
    let sealed = layout.ciphertext_bytes(size)?;
    let least = whole(LEAST_PART.max(sealed.div_ceil(MOST_PARTS)));
    let given = asked.unwrap_or(least.max(whole(USUAL)));
    if given < least || given > MOST_PART {
        return Err(Error::PartBytes { given, least, most: MOST_PART });
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use lanecrypt_tink::Template;

    use super::*;

    #[test]
    fn parts_that_a_store_takes() {
        let layout = Template::Aes256GcmHkdf1Mb.parameters().layout();
        let bytes = |size, asked| part_bytes(layout, size, asked, true);
        assert_eq!(bytes(0, None).unwrap(), 64 << 20);
        assert_eq!(bytes(0, Some(5 << 20)).unwrap(), 5 << 20);
        assert!(matches!(bytes(0, Some((5 << 20) - 1)), Err(Error::PartBytes { .. })));
        assert!(bytes(0, Some(5 << 30)).is_ok() && bytes(0, Some((5 << 30) + 1)).is_err());
        // Ten thousand parts, and a byte more than these hold.
        let most = layout.plaintext_bytes(50_000 << 20).unwrap();
        assert_eq!(bytes(most, Some(5 << 20)).unwrap(), 5 << 20);
        let error = bytes(most + 1, Some(5 << 20)).unwrap_err();
        assert!(matches!(error, Error::PartBytes { least, .. } if least == 6 << 20));
        assert_eq!(bytes(most * 128, None).unwrap(), 640 << 20);
        // More than any upload holds.
        assert!(bytes(60 << 40, None).is_err() && bytes(u64::MAX, None).is_err());
        assert_eq!(part_bytes(layout, 5, Some(1), false).unwrap(), 1);
    }

    #[test]
    fn parts_of_odd_segments_are_long_enough() {
        let segment = 1_000_003;
        let parameters = Template::Aes256GcmHkdf1Mb.parameters();
        let parameters =
            lanecrypt_tink::Parameters::new(parameters.scheme(), parameters.hkdf(), 32, segment);
        let layout = parameters.unwrap().layout();
        let error = part_bytes(layout, 9, Some(5 << 20), true).unwrap_err();
        assert!(matches!(error, Error::PartBytes { least, .. } if least == 6 * 1_000_003));
    }
}
