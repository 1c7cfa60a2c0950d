//! Writing through nbdkit: in parallel, far out, and with the server killed.

use std::{fs, os::unix::fs::MetadataExt, thread};

use libtest_mimic::Failed;

use crate::{
    QEMU_IO,
    client::Client,
    containers::{DISK, Folder, Random, options_of_qemu, same},
    server::run,
};

/// Writes and reads round 4 GiB and at the end of a sparse disk, judged by qemu-io.
pub(crate) fn writes_beyond_4_gib() -> Result<(), Failed> {
    const GIB: u64 = 1 << 30;
    let folder = Folder::new()?;
    let path = folder.luks1("container", ["aes-256", "xts", "plain64"], "6G")?;
    let server = folder.serve(&path)?;
    let mut client = Client::connect(&server)?;
    let places = [(4 * GIB - 1000, 3000_usize, 0xa1_u8), (5 * GIB + 13, 1 << 20, 0xb2)];
    let end = (6 * GIB - 77, 77, 0xc3);
    for (at, bytes, value) in places.into_iter().chain([end]) {
        client.write(at, &vec![value; bytes])?;
        same(&client.read(at, bytes)?, &vec![value; bytes], "what was written")?;
    }
    client.flush()?;
    drop(server);
    if fs::metadata(&path)?.blocks() * 512 > GIB {
        return Err("the container is no longer sparse".into());
    }
    let mut command = QEMU_IO.command()?;
    command.arg("--object");
    command.arg(format!("secret,id=secret,file={}", folder.file("passphrase").display()));
    command.args(["--image-opts", &options_of_qemu(&path)]);
    for (at, bytes, value) in places.into_iter().chain([end]) {
        command.args(["-c", &format!("read -P {value} {at} {bytes}")]);
    }
    run(&mut command)
}

/// Connections write parts of the same sectors, each its own bytes, while others read them.
pub(crate) fn writers_in_parallel_lose_nothing() -> Result<(), Failed> {
    /// Each connection has every eighth run of this many bytes: many of them in one sector.
    const RUN: usize = 37;
    const CONNECTIONS: usize = 8;
    const AREA: usize = 20_000;
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    let server = folder.serve(&path)?;
    let work = |own: usize| -> std::io::Result<Vec<(usize, Vec<u8>)>> {
        let (mut client, mut random) = (Client::connect(&server)?, Random(own as u64));
        let mut model = vec![vec![0; RUN]; AREA / RUN / CONNECTIONS];
        for _ in 0..1500 {
            let i = random.below(model.len() as u64) as usize;
            let at = ((i * CONNECTIONS + own) * RUN) as u64;
            let is_new = model[i].iter().all(|&byte| byte == 0);
            if !is_new && client.read(at, RUN)? != model[i] {
                return Err(std::io::Error::other(format!("byte {at} is not what was written")));
            }
            let first = if is_new { 0 } else { random.below(RUN as u64) as usize };
            let data = random.bytes(RUN - first);
            client.write(at + first as u64, &data)?;
            model[i][first..].copy_from_slice(&data);
        }
        let runs = model.into_iter().enumerate();
        Ok(runs.map(|(i, run)| ((i * CONNECTIONS + own) * RUN, run)).collect())
    };
    let models = thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|own| scope.spawn(move || work(own))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    drop(server);
    let decrypted = folder.decrypt(&path)?;
    for model in models {
        for (at, run) in model?.into_iter().filter(|(_, run)| run.iter().any(|&byte| byte != 0)) {
            same(&decrypted[at..at + RUN], &run, &format!("the run at byte {at}"))?;
        }
    }
    Ok(())
}

/// SIGKILL in the midst of writes: what was flushed or written through before is there.
pub(crate) fn nothing_synced_is_lost_when_killed() -> Result<(), Failed> {
    const REGION: u64 = 64 << 10;
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    let mut random = Random(3);
    let mut model = vec![0; DISK];
    for _ in 0..4 {
        let mut server = folder.serve(&path)?;
        let mut client = Client::connect(&server)?;
        for region in 0..8 {
            let at = region * REGION + random.below(5_000);
            let length = 1 + random.below(50_000) as usize;
            let data = random.bytes(length);
            if region % 2 == 0 {
                client.write(at, &data)?;
            } else {
                client.write_through(at, &data)?;
            }
            model[at as usize..][..data.len()].copy_from_slice(&data);
        }
        client.flush()?;
        // Another connection is writing elsewhere when the server is killed.
        let mut other = Client::connect(&server)?;
        let busy = thread::spawn(move || {
            let noise = vec![7; 100_000];
            while other.write(2 << 20, &noise).is_ok() {}
        });
        server.kill()?;
        busy.join().expect("no panic");
    }
    let server = folder.serve(&path)?;
    let mut client = Client::connect(&server)?;
    for region in 0..8 {
        let (at, bytes) = (region * REGION, REGION as usize);
        // The bytes between the written parts were never written, so only the parts are known.
        let ours = client.read(at, bytes)?;
        let expected = &model[at as usize..][..bytes];
        let known = ours.iter().zip(expected).enumerate().filter(|(_, (_, byte))| **byte != 0);
        for (i, (ours, expected)) in known {
            if ours != expected {
                return Err(format!("byte {} was lost", at + i as u64).into());
            }
        }
    }
    Ok(())
}
