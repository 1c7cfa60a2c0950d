//! Objects of Python that bytes are written to.

use std::{
    io::{self, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use lanecrypt_tink::Error;
use pyo3::{
    exceptions::{PyBlockingIOError, PyTypeError},
    prelude::*,
    types::PyBytes,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SendFlags, send},
};

use crate::ffi::detached_socket;

/// How often a caller's flag is looked at while a peer takes nothing: each 100 ms.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A send that does not wait. Where the peer is gone it is an error, and no signal.
#[cfg(target_os = "linux")]
const SENDING: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
/// A send that does not wait. Python ignores the signal of a peer that is gone.
#[cfg(not(target_os = "linux"))]
const SENDING: SendFlags = SendFlags::DONTWAIT;

/// Where a stream of bytes goes.
pub(crate) enum Stream {
    /// A socket that waits as long as it takes: the system gets the bytes where they lie.
    Socket(TcpStream),
    /// A method that gets a copy; `is_raw` where it says nothing if it took nothing, as those of `io.RawIOBase` do.
    Method { method: Py<PyAny>, is_raw: bool },
}

impl Stream {
    /// What an object has for it.
    ///
    /// # Errors
    /// `TypeError` for what has neither `sendall` nor `write`.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let socket = object.py().import("socket")?.getattr("socket")?;
        // A subclass, such as that of TLS, does more than the system.
        if object.get_type().is(&socket) && object.call_method0("gettimeout")?.is_none() {
            return detached_socket(&object.call_method0("dup")?).map(Self::Socket);
        }
        if let Some(method) = object.getattr_opt("sendall")? {
            return Ok(Self::Method { method: method.unbind(), is_raw: false });
        }
        let Some(method) = object.getattr_opt("write")? else {
            return Err(PyTypeError::new_err("stream has neither sendall nor write"));
        };
        let raw = object.py().import("io")?.getattr("RawIOBase")?;
        Ok(Self::Method { method: method.unbind(), is_raw: object.is_instance(&raw)? })
    }

    /// It, until the caller cancels.
    pub(crate) fn until(self, cancel: &AtomicBool) -> Until<'_> {
        Until { stream: self, cancel }
    }
}

/// A stream whose socket is not waited for once the caller has cancelled.
pub(crate) struct Until<'a> {
    stream: Stream,
    cancel: &'a AtomicBool,
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.stream {
            Stream::Socket(socket) => send_until(socket, bytes, self.cancel),
            Stream::Method { method, is_raw } => {
                Python::attach(|py| call(method.bind(py), bytes, *is_raw)).map_err(io::Error::other)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends some of the bytes. A peer that takes nothing is waited for until the caller cancels.
fn send_until(socket: &TcpStream, bytes: &[u8], cancel: &AtomicBool) -> io::Result<usize> {
    loop {
        match send(socket, bytes, SENDING) {
            Err(Errno::AGAIN) => {}
            sent => return Ok(sent?),
        }
        if cancel.load(Relaxed) {
            return Err(Error::Cancelled.into());
        }
        match poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&TICK)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Gives a method the bytes; returns how many it took.
fn call(method: &Bound<'_, PyAny>, bytes: &[u8], is_raw: bool) -> PyResult<usize> {
    let result = method.call1((PyBytes::new(method.py(), bytes),))?;
    match result.extract::<Option<usize>>()? {
        Some(taken) => Ok(taken.min(bytes.len())),
        None if is_raw => Err(PyBlockingIOError::new_err((
            Errno::AGAIN.raw_os_error(),
            "the stream took nothing: it does not block, and a stream that blocks is expected",
        ))),
        // Any other that says nothing has taken all of it.
        None => Ok(bytes.len()),
    }
}
