//! Objects of Python that bytes are written to.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use pyo3::{exceptions::PyTypeError, prelude::*, types::PyBytes};

use crate::ffi::detached_socket;

/// Where a stream of bytes goes.
pub(crate) enum Stream {
    /// A socket that waits as long as it takes: the system gets the bytes where they lie.
    Socket(TcpStream),
    /// A method that gets a copy.
    Method(Py<PyAny>),
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
        for name in ["sendall", "write"] {
            if let Some(method) = object.getattr_opt(name)? {
                return Ok(Self::Method(method.unbind()));
            }
        }
        Err(PyTypeError::new_err("stream has neither sendall nor write"))
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let method = match self {
            Self::Socket(socket) => return socket.write(bytes),
            Self::Method(method) => method,
        };
        let written = Python::attach(|py| {
            let result = method.call1(py, (PyBytes::new(py, bytes),))?;
            // Who says nothing has taken all of it.
            result.extract::<Option<usize>>(py)
        });
        match written {
            Ok(written) => Ok(written.unwrap_or(bytes.len()).min(bytes.len())),
            Err(raised) => Err(io::Error::other(raised)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
