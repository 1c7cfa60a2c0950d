//! Programs under a watchdog: nbdkit with the plugin, and those that make and judge containers.

use std::{
    env,
    ffi::OsStr,
    io::Read,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use libtest_mimic::Failed;

use crate::NBDKIT;

/// Longer than anything takes here, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(180);
const STEP: Duration = Duration::from_millis(10);

/// nbdkit with the plugin, until it is dropped.
pub(crate) struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    /// Serves with these parameters on a socket in `folder`, and waits until it answers.
    pub(crate) fn start<S: AsRef<OsStr>>(folder: &Path, parameters: &[S]) -> Result<Self, Failed> {
        let socket = folder.join("disk.sock");
        // One that was killed leaves its socket.
        let _nothing_there = std::fs::remove_file(&socket);
        let child = nbdkit(&socket, parameters)?.spawn()?;
        let mut server = Self { child, socket };
        let start = Instant::now();
        while server.connect().is_err() {
            if server.child.try_wait()?.is_some() || start.elapsed() > PATIENCE {
                return Err(format!("nbdkit does not serve: {}", server.complaint()).into());
            }
            sleep(STEP);
        }
        Ok(server)
    }

    /// A connection, on which nothing is waited for for ever.
    pub(crate) fn connect(&self) -> std::io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Where other clients find it.
    pub(crate) fn address(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(&mut self) -> Result<(), Failed> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn complaint(&mut self) -> String {
        let _is_dead = self.child.kill();
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _any = stderr.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _is_dead = self.child.kill();
        let _is_dead = self.child.wait();
    }
}

fn nbdkit<S: AsRef<OsStr>>(socket: &Path, parameters: &[S]) -> Result<Command, Failed> {
    let mut command = NBDKIT.command()?;
    command.args(["--exit-with-parent", "-f", "-U"]).arg(socket).arg(plugin()?).args(parameters);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    Ok(command)
}

/// What nbdkit says where it does not serve.
pub(crate) fn refusal<S: AsRef<OsStr>>(folder: &Path, parameters: &[S]) -> Result<String, Failed> {
    match Server::start(folder, parameters) {
        Ok(_) => Err("nbdkit serves what it should refuse".into()),
        Err(error) => Ok(error.message().unwrap_or_default().to_owned()),
    }
}

/// The plugin that this test was built with: cargo puts it beside the test, and elsewhere only when asked to.
fn plugin() -> Result<PathBuf, Failed> {
    let file = env::current_exe()?.with_file_name("liblanecrypt_nbdkit_plugin.so");
    if file.is_file() { Ok(file) } else { Err("the plugin is not built".into()) }
}

/// Runs a program to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) -> Result<(), Failed> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            child.kill()?;
        }
        sleep(STEP);
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}: {complaint}", output.status).into())
}
