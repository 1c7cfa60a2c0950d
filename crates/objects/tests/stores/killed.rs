//! A driver that is killed in the middle of a part, and one that goes on in its place.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use lanecrypt_objects::{Driver, Location, Stores};
use lanecrypt_tink::{Keyset, Options};
use libtest_mimic::Failed;
use serde_json::json;

use crate::{
    AD, FIRST, open, order, seal,
    store::{Place, text},
};

/// Set in the process that is killed: log, keyset, source and target.
const DRIVER: &str = "LANECRYPT_OBJECTS_TEST_DRIVER";

/// Whether this process is the one that is killed.
pub(crate) fn is_driver() -> bool {
    env::var_os(DRIVER).is_some()
}

/// Seals a part for every line of input, and says so.
pub(crate) fn drive() {
    let given = env::var(DRIVER).expect("the variable");
    let [log, keyset, source, target] = given.lines().collect::<Vec<_>>()[..] else {
        panic!("four lines are expected")
    };
    let keyset = Keyset::from_json(&std::fs::read_to_string(keyset).unwrap()).unwrap();
    let [source, target] = [source, target].map(|text| text.parse::<Location>().unwrap());
    let stores = Stores::from_env();
    let mut driver =
        Driver::open(log.as_ref(), &keyset, &order(&source, &target), &stores).unwrap();
    for line in io::stdin().lines() {
        line.unwrap();
        let part = driver.missing().next().unwrap();
        let receipt = driver.plan().seal_part(&keyset, part, &stores, Options::default()).unwrap();
        driver.acknowledge(receipt).unwrap();
        println!("{part}");
    }
}

pub(crate) fn a_killed_driver_goes_on() -> Result<(), Failed> {
    let place = Place::new("killed")?;
    place.put("plain", &text(5 * FIRST))?;
    let (source, target) = (place.object("plain"), place.object("sealed"));
    let paths = ["log", "keyset"].map(|name| place.path(name).display().to_string());
    let given = [&paths[0], &paths[1], &source.to_string(), &target.to_string()];
    let mut command = Command::new(env::current_exe()?);
    let command = command.env(DRIVER, given.map(String::as_str).join("\n"));
    let command = command.envs(place.settings.iter().map(|(name, value)| (*name, value)));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
    for part in 0..2 {
        writeln!(input)?;
        assert_eq!(lines.next().ok_or("no line")??, part.to_string());
    }
    writeln!(input)?;
    thread::sleep(Duration::from_millis(20));
    child.kill()?;
    child.wait()?;

    let before = place.ask(json!({"do": "puts", "key": "sealed"}))?;
    let mut driver = open(&place, &source, &target)?;
    let missing = driver.missing().collect::<Vec<_>>();
    // The third was under way, and may just have been done.
    assert!(missing.ends_with(&[3, 4]) && !missing.contains(&0) && !missing.contains(&1));
    for part in missing {
        let receipt = seal(&place, &driver, part)?;
        driver.acknowledge(receipt)?;
    }
    driver.commit()?;
    let counts = place.ask(json!({"do": "puts", "key": "sealed"}))?;
    for part in ["0", "1"] {
        assert_eq!(counts[part], before[part], "a part with a receipt was sent again: {counts}");
    }
    assert!(["3", "4"].iter().all(|part| counts[part].is_u64()), "{counts}");
    place.wheel_opens("sealed", "plain", AD)
}
