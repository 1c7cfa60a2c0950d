//! An object as a source: ranges of one version of it, and nothing of another one.

use std::{
    fmt, io,
    ops::Range,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use futures_util::TryStreamExt;
use lanecrypt_tink::{Error as TinkError, Identity, Source, Version};
use object_store::{
    Error as StoreError, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt,
    aws::AmazonS3,
};

use crate::{
    Error,
    location::Address,
    runtime::{NEVER, wait},
};

/// An object of a store as it was when it was opened: every read says which version it wants, and
/// fails with [`SourceChanged`](TinkError::SourceChanged) where there is another one.
#[derive(Clone)]
pub struct Object {
    client: Arc<AmazonS3>,
    address: Address,
    identity: Identity,
    tag: String,
}

impl Object {
    pub(crate) fn open(
        client: Arc<AmazonS3>,
        address: &Address,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let (identity, tag) = wait(ask(&client, address), cancel)??;
        Ok(Self { client, address: address.clone(), identity, tag })
    }

    /// Where it lies.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What it was when it was opened.
    #[must_use]
    pub fn opened(&self) -> &Identity {
        &self.identity
    }

    /// Bytes of the object.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.identity.size
    }

    /// It, for a caller who may cancel.
    pub(crate) fn until<'a>(&'a self, cancel: &'a AtomicBool) -> Until<'a> {
        Until { object: self, cancel }
    }

    /// A range of it, all of which is there.
    pub(crate) async fn fetch(self, range: Range<u64>) -> io::Result<Vec<Bytes>> {
        let options = GetOptions {
            if_match: Some(self.tag.clone()),
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        let fetch = async {
            let answer = self.client.get_opts(self.address.key(), options).await?;
            answer.into_stream().try_collect::<Vec<_>>().await
        };
        let pieces = fetch.await.map_err(|error| self.not_read(&error))?;
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        if bytes != range.end - range.start {
            let what = format!("{} gave {bytes} bytes of {range:?}", self.address);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        Ok(pieces)
    }

    fn not_read(&self, error: &StoreError) -> io::Error {
        if !matches!(error, StoreError::Precondition { .. }) {
            return Error::of_store("read", &self.address, error).into();
        }
        io::Error::other(TinkError::SourceChanged {
            what: "version",
            before: self.tag.clone(),
            after: "another one".to_owned(),
        })
    }
}

/// What is at an address now, and what reads of it ask for.
async fn ask(client: &AmazonS3, address: &Address) -> Result<(Identity, String), Error> {
    const DOING: &str = "ask what is at";
    let found = client.head(address.key()).await;
    let ObjectMeta { size, e_tag, version, last_modified, .. } =
        found.map_err(|error| Error::of_store(DOING, address, &error))?;
    let tag = e_tag.ok_or_else(|| Error::Store {
        doing: DOING,
        place: address.to_string(),
        kind: io::ErrorKind::Unsupported,
        reason: "the store gives no ETag, so that a change would not be noticed".to_owned(),
    })?;
    // The tag is often an MD5, of which someone who makes sources may know collisions: so the rest
    // of what a store says counts, too.
    let version = version.unwrap_or_default();
    let version = Version::Object(format!("{tag} {} {version}", last_modified.to_rfc3339()));
    Ok((Identity { size, version }, tag))
}

impl Source for Object {
    fn identity(&self) -> io::Result<Identity> {
        self.until(&NEVER).identity()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.until(&NEVER).read_exact_at(buffer, offset)
    }
}

/// An object that is not waited for once the caller has cancelled.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    pub(crate) object: &'a Object,
    pub(crate) cancel: &'a AtomicBool,
}

impl Source for Until<'_> {
    fn identity(&self) -> io::Result<Identity> {
        let Object { client, address, .. } = self.object;
        Ok(wait(ask(client, address), self.cancel)??.0)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        if end > self.object.size() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if buffer.is_empty() {
            return Ok(());
        }
        let pieces = wait(self.object.clone().fetch(offset..end), self.cancel)??;
        copy(&pieces, 0, buffer);
        Ok(())
    }
}

/// Copies what follows the first `skip` bytes, as much as there is room for.
pub(crate) fn copy(pieces: &[Bytes], mut skip: usize, mut buffer: &mut [u8]) {
    for piece in pieces {
        let from = &piece[skip.min(piece.len())..];
        skip -= piece.len() - from.len();
        let (now, later) = buffer.split_at_mut(from.len().min(buffer.len()));
        now.copy_from_slice(&from[..now.len()]);
        buffer = later;
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("address", &self.address)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}
