//! A client of the NBD protocol (newstyle, simple replies): as unaligned and as parallel as a test likes.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
};

use crate::server::Server;

const OPTION_MAGIC: &[u8; 8] = b"IHAVEOPT";
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

#[derive(Clone, Copy)]
enum Command {
    Read = 0,
    Write = 1,
    Flush = 3,
    Zero = 6,
}

/// One connection.
pub(crate) struct Client {
    stream: UnixStream,
    pub(crate) bytes: u64,
}

impl Client {
    pub(crate) fn connect(server: &Server) -> io::Result<Self> {
        let mut stream = server.connect()?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        if greeting[..8] != *b"NBDMAGIC" || greeting[8..16] != *OPTION_MAGIC {
            return Err(io::Error::other("this is no NBD server"));
        }
        // Fixed newstyle, no zeros after the answer; then the export with no name.
        stream.write_all(&3_u32.to_be_bytes())?;
        stream.write_all(OPTION_MAGIC)?;
        stream.write_all(&[0, 0, 0, 1, 0, 0, 0, 0])?;
        let (mut bytes, mut flags) = ([0; 8], [0; 2]);
        stream.read_exact(&mut bytes)?;
        stream.read_exact(&mut flags)?;
        Ok(Self { stream, bytes: u64::from_be_bytes(bytes) })
    }

    pub(crate) fn read(&mut self, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let mut data = vec![0; bytes];
        self.request(Command::Read, 0, offset, bytes, &[])?;
        self.stream.read_exact(&mut data)?;
        Ok(data)
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.request(Command::Write, 0, offset, data.len(), data)
    }

    /// A write that is on the disk when it is answered.
    pub(crate) fn write_through(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        const FUA: u16 = 1;
        self.request(Command::Write, FUA, offset, data.len(), data)
    }

    pub(crate) fn zero(&mut self, offset: u64, bytes: usize) -> io::Result<()> {
        self.request(Command::Zero, 0, offset, bytes, &[])
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.request(Command::Flush, 0, 0, 0, &[])
    }

    fn request(
        &mut self,
        command: Command,
        flags: u16,
        offset: u64,
        bytes: usize,
        data: &[u8],
    ) -> io::Result<()> {
        let mut request = REQUEST_MAGIC.to_be_bytes().to_vec();
        request.extend(flags.to_be_bytes());
        request.extend((command as u16).to_be_bytes());
        request.extend([0; 8]); // one request at a time needs no name
        request.extend(offset.to_be_bytes());
        request.extend((bytes as u32).to_be_bytes());
        request.extend(data);
        self.stream.write_all(&request)?;
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply)?;
        let [magic, error] = [0, 4]
            .map(|at| u32::from_be_bytes([reply[at], reply[at + 1], reply[at + 2], reply[at + 3]]));
        match (magic, error) {
            (REPLY_MAGIC, 0) => Ok(()),
            (REPLY_MAGIC, error) => Err(io::Error::from_raw_os_error(error.cast_signed())),
            _ => Err(io::Error::other("this is no reply")),
        }
    }
}
