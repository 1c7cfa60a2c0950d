//! How many threads there are: `--threads`.

use crate::failure::Failure;

/// Makes rayon's threads as many as `--threads` says.
///
/// # Errors
/// [`Failure::Usage`] for none at all.
pub(crate) fn set_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 {
        return Err(Failure::Usage("--threads 0: one at least does the work".to_owned()));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Failure::Io(error.to_string()))
}
