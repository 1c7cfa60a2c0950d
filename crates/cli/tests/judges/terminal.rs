//! A person at a terminal: passphrases are typed, Ctrl-C ends the typing, and no ciphertext is shown.

use std::process::Output;

use libtest_mimic::Failed;

use crate::{
    PTY,
    command::{Outcome, ensure, fed, lanecrypt, names, noise, printed, text},
    sealed::Desk,
};

/// Runs a command on a terminal of its own, and types a line at each question, or sends a signal. Prints what the
/// terminal shows, and whether it was left without echo, and ends with the command's exit code.
const PERSON: &str = "
import os, pty, signal, sys, termios, time
answers, command = sys.argv[1].split(','), sys.argv[2:]
keys = {'CTRL-C': b'\\x03', 'CTRL-D': b'\\x04'}
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown = asked = b''
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    shown, asked = shown + more, asked + more
    if answers and asked.endswith(b': '):
        time.sleep(0.2)
        answer = answers.pop(0)
        if answer.startswith('SIG'):
            os.kill(pid, signal.Signals[answer])
        else:
            os.write(terminal, keys.get(answer, answer.encode() + b'\\n'))
        asked = b''
status = os.waitpid(pid, 0)[1]
if not termios.tcgetattr(terminal)[3] & termios.ECHO:
    shown += b'(no echo is left)'
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status))
";

/// The exit code, and what the terminal showed.
fn typed(answers: &str, arguments: &[&str]) -> Result<(Option<i32>, String), Failed> {
    let command = lanecrypt(arguments);
    let mut python = PTY.command()?;
    python
        .env("TERM", "xterm")
        .args(["-c", PERSON, answers])
        .arg(command.get_program())
        .args(command.get_args());
    let Output { status, stdout, stderr } = fed(&mut python, b"")?;
    let shown = [stdout, stderr].concat();
    Ok((status.code(), String::from_utf8_lossy(&shown).into_owned()))
}

pub(crate) fn passphrases_are_typed() -> Outcome {
    let desk = Desk::new(&[])?;
    let [mine, passphrase] = ["mine.keys", "passphrase"].map(|name| desk.path(name));
    let new = ["keyset", "new", "--passphrase", text(&mine)];
    let (code, shown) = typed("correct horse,correct horse", &new)?;
    ensure(code == Some(0) && !shown.contains("horse"), format!("{code:?}: {shown}"))?;
    std::fs::write(&passphrase, "correct horse\n")?;
    let show = ["keyset", "show", "--keyset", text(&mine)];
    let by_file = [&show[..], &["--passphrase-file", text(&passphrase)]].concat();
    printed(&mut lanecrypt(&by_file), b"")?;
    let (code, shown) = typed("correct horse", &show)?;
    ensure(code == Some(0) && shown.contains("seals and opens"), format!("{code:?}: {shown}"))?;
    let (code, _) = typed("correct mouse", &show)?;
    ensure(code == Some(3), format!("another passphrase: {code:?}"))?;
    let other = desk.path("other");
    let (code, shown) = typed("one,two", &["keyset", "new", "--passphrase", text(&other)])?;
    ensure(code == Some(2) && !other.exists(), format!("two passphrases: {code:?}: {shown}"))?;

    let [plain, secret] = ["plain", "secret"].map(|name| desk.path(name));
    std::fs::write(&plain, noise(100))?;
    let ctr = ["raw", "ctr", "--cipher", "aria-256", "--passphrase"];
    let (code, shown) = typed("a,a", &[&ctr[..], &[text(&plain), text(&secret)]].concat())?;
    ensure(code == Some(0), format!("raw: {code:?}: {shown}"))?;
    let back = [&ctr[..], &["-d", text(&secret), text(&plain)]].concat();
    let (code, shown) = typed("a", &back)?;
    ensure(code == Some(0), format!("raw -d: {code:?}: {shown}"))?;
    ensure(std::fs::read(&plain)? == noise(100), "raw under a typed passphrase")
}

/// Ctrl-D ends it, too, and is no interruption. Whatever ends it, the terminal shows again what is typed.
pub(crate) fn ctrl_c_ends_the_typing() -> Outcome {
    let desk = Desk::new(&[])?;
    let mine = desk.path("mine.keys");
    for (answers, expected) in [
        ("CTRL-C", 130),
        ("correct horse,CTRL-C", 130),
        ("CTRL-D", 1),
        ("SIGINT", 130),
        ("SIGTERM", 130),
        ("correct horse,SIGTERM", 130),
    ] {
        let new = ["keyset", "new", "--passphrase", text(&mine)];
        let (code, shown) = typed(answers, &new)?;
        let is_right = code == Some(expected) && !shown.contains("(no echo is left)");
        ensure(is_right, format!("{answers}: {code:?}: {shown}"))?;
        ensure(names(desk.folder())? == ["keys"], format!("{answers}: something is left"))?;
    }
    Ok(())
}

/// A terminal is no place for bytes, unless it is named.
pub(crate) fn no_bytes_to_a_terminal() -> Outcome {
    let desk = Desk::new(&[])?;
    let key = desk.file("key", b"00112233445566778899aabbccddeeff")?;
    let plain = desk.file("plain", b"a text")?;
    let sealed = desk.path("sealed");
    desk.run("seal", &[&plain, text(&sealed)], b"")?;
    let commands: [&[&str]; 4] = [
        &["seal", "--keyset", &desk.keys, &plain],
        &["open", "--keyset", &desk.keys, text(&sealed)],
        &["open", "--keyset", &desk.keys, "--range", "0..3", text(&sealed)],
        &["raw", "ecb", "--cipher", "aes-128", "--key-file", &key, &plain],
    ];
    for command in commands {
        let (code, shown) = typed("", command)?;
        let is_refused = code == Some(2) && shown.contains("terminal") && !shown.contains("a text");
        ensure(is_refused, format!("{command:?}: {code:?}: {shown}"))?;
    }
    let (code, shown) = typed("", &[commands[1], &["-"]].concat())?;
    ensure(code == Some(0) && shown.contains("a text"), format!("named: {code:?}: {shown}"))
}

/// The bar is there for a while, unless it is not wanted.
pub(crate) fn progress_goes_away() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(3_000_000))?;
    let sealed = desk.path("sealed");
    let seal = ["seal", "--keyset", &desk.keys, &plain, text(&sealed)];
    let (code, shown) = typed("", &seal)?;
    let is_cleared = shown.contains("MiB") && shown.ends_with("\r\x1b[2K");
    ensure(code == Some(0) && is_cleared, format!("{code:?}: {shown:?}"))?;
    let (code, shown) = typed("", &[&seal[..], &["--quiet"]].concat())?;
    ensure(code == Some(0) && shown.is_empty(), format!("--quiet: {code:?}: {shown:?}"))
}
