//! Connections to stores: settings, and one client a bucket.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use object_store::{
    ClientConfigKey,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey},
};

use crate::{
    Error, Object,
    location::Address,
    runtime::{NEVER, runtime},
};

/// How long a request may take where the settings say nothing: parts are long, and lines may be slow.
const TIMEOUT: &str = "300 seconds";

/// The stores that a process talks to. Requests are repeated where the network or the store fails, for
/// three minutes at most.
#[derive(Clone)]
pub struct Stores {
    settings: AmazonS3Builder,
    clients: Arc<Mutex<HashMap<String, Arc<AmazonS3>>>>,
}

impl Stores {
    /// Settings and credentials of the environment, as `object_store` names them: `AWS_ENDPOINT_URL`,
    /// `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`,
    /// `AWS_ALLOW_HTTP`, `AWS_TIMEOUT` and others. What is not UTF-8 is no setting.
    #[must_use]
    pub fn from_env() -> Self {
        let all = std::env::vars_os();
        let texts =
            all.filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()));
        let ours = texts.filter(|(name, _)| name.starts_with("AWS_"));
        let settings = ours.filter_map(|(name, value)| Some((setting(&name)?, value)));
        Self::of(settings)
    }

    /// Settings by the same names, in place of the environment's.
    ///
    /// # Errors
    /// [`Error::Setting`] for a name that there is not.
    pub fn with_settings<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Error> {
        let settings = settings.into_iter().map(|(name, value)| {
            let key = setting(name).ok_or_else(|| Error::Setting { name: name.to_owned() })?;
            Ok((key, value.to_owned()))
        });
        Ok(Self::of(settings.collect::<Result<Vec<_>, Error>>()?))
    }

    fn of(settings: impl IntoIterator<Item = (AmazonS3ConfigKey, String)>) -> Self {
        let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        let ours = [(timeout, TIMEOUT.to_owned())].into_iter();
        let set = |builder: AmazonS3Builder, (key, value)| builder.with_config(key, value);
        let settings = ours.chain(settings).fold(AmazonS3Builder::new(), set);
        Self { settings, clients: Arc::default() }
    }

    /// The object at an address, which must be there.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::Setting`].
    pub fn object(&self, address: &Address) -> Result<Object, Error> {
        self.object_unless(address, &NEVER)
    }

    /// As [`object`](Self::object), unless `cancel` is set before the store answers.
    pub(crate) fn object_unless(
        &self,
        address: &Address,
        cancel: &AtomicBool,
    ) -> Result<Object, Error> {
        Object::open(self.client(address.bucket())?, address, cancel)
    }

    /// The client of a bucket.
    pub(crate) fn client(&self, bucket: &str) -> Result<Arc<AmazonS3>, Error> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(bucket) {
            return Ok(client.clone());
        }
        // Its connections belong to the threads.
        let _threads = runtime()?.enter();
        let client = self.settings.clone().with_bucket_name(bucket).build();
        let place = format!("s3://{bucket}");
        let client = client.map_err(|error| Error::of_store("connect to", &place, &error))?;
        let client = Arc::new(client);
        clients.insert(bucket.to_owned(), client.clone());
        Ok(client)
    }
}

fn setting(name: &str) -> Option<AmazonS3ConfigKey> {
    name.to_ascii_lowercase().parse().ok()
}

impl Default for Stores {
    fn default() -> Self {
        Self::from_env()
    }
}

/// Nothing of the settings, which have credentials.
impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}
