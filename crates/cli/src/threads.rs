//! How many threads there are: `--threads`.

use std::thread;

use crate::failure::Failure;

/// The most threads that are made, where the CPU does not run more at once: others would only wait.
const MOST: usize = 1024;

/// Makes rayon's threads as many as `--threads` says.
///
/// # Errors
/// [`Failure::Usage`] for none at all, and for more than can be of use.
pub(crate) fn set_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 {
        return Err(Failure::Usage("--threads 0: must be at least 1".to_owned()));
    }
    let most = thread::available_parallelism().map_or(1, usize::from).max(MOST);
    if threads > most {
        return Err(Failure::Usage(format!("--threads {threads}: must be at most {most}")));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Failure::Io(error.to_string()))
}
