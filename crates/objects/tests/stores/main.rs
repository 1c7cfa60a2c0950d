//! Jobs over an S3 store: what boto3 and the Tink wheel find there, and what they never find.

mod killed;
mod store;

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use lanecrypt_judges::trials;
use lanecrypt_objects::{
    Driver, Error, Location, Order, Plan, Receipt, Stores, open_location, open_object,
};
use lanecrypt_tink::{Error as TinkError, Options, Source};
use libtest_mimic::{Arguments, Failed};
use serde_json::json;
use store::{BOTO, MOTO, Place, TINK, text};

const AD: &str = "a name, a version";
/// Bytes of a part in these tests, and of the plaintext of the first.
const PART: u64 = 5 << 20;
const FIRST: usize = 5 * ((1 << 20) - 16) - 40;

fn main() {
    if killed::is_driver() {
        return killed::drive();
    }
    let all = trials(vec![
        ("any_order_twice_is_one_object", &[MOTO, BOTO, TINK], any_order_twice_is_one_object),
        ("files_and_objects", &[MOTO, BOTO, TINK], files_and_objects),
        ("a_changed_object_is_refused", &[MOTO, BOTO, TINK], a_changed_object_is_refused),
        ("a_change_meanwhile_sends_nothing", &[MOTO, BOTO, TINK], a_change_meanwhile_sends_nothing),
        ("discarded_leaves_nothing", &[MOTO, BOTO, TINK], discarded_leaves_nothing),
        ("a_killed_driver_goes_on", &[MOTO, BOTO, TINK], killed::a_killed_driver_goes_on),
        ("committed_once_more", &[MOTO, BOTO, TINK], committed_once_more),
        ("a_log_of_another_job", &[MOTO, BOTO, TINK], a_log_of_another_job),
        ("failing_requests_are_repeated", &[MOTO, BOTO, TINK], failing_requests_are_repeated),
        ("long_objects_are_read_ahead", &[MOTO, BOTO, TINK], long_objects_are_read_ahead),
        ("errors_name_the_place", &[MOTO, BOTO, TINK], errors_name_the_place),
    ]);
    libtest_mimic::run(&Arguments::from_args(), all).exit();
}

fn order<'a>(source: &'a Location, target: &'a Location) -> Order<'a> {
    Order { source, target, associated_data: AD.as_bytes(), part_bytes: Some(PART) }
}

fn options() -> Options<'static> {
    Options { associated_data: AD.as_bytes(), ..Options::default() }
}

fn open(place: &Place, source: &Location, target: &Location) -> Result<Driver, Error> {
    Driver::open(&place.path("log"), &place.keyset, &order(source, target), &place.stores)
}

/// As another machine does it, which has nothing but the plan's text.
fn seal(place: &Place, driver: &Driver, part: u64) -> Result<Receipt, Error> {
    let plan = Plan::from_json(&driver.plan().to_json()?)?;
    plan.seal_part(&place.keyset, part, &place.stores, Options::default())
}

/// All parts in an order that looks random.
fn shuffled(parts: u64) -> Vec<u64> {
    let mut all = (0..parts).collect::<Vec<_>>();
    all.sort_by_key(|part| (part + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    all
}

fn any_order_twice_is_one_object() -> Result<(), Failed> {
    let place = Place::new("sizes")?;
    let more = 5 * ((1 << 20) - 16);
    for bytes in [0, 1, FIRST - 1, FIRST, FIRST + 1, FIRST + more, FIRST + 3 * more + 12_345] {
        let (source, target) = (place.object("plain"), place.object(&format!("sealed-{bytes}")));
        place.put("plain", &text(bytes))?;
        let key = format!("sealed-{bytes}");
        let mut driver = open(&place, &source, &target)?;
        let parts = driver.plan().job().parts();
        assert_eq!(parts, 1 + (bytes.saturating_sub(FIRST)).div_ceil(more) as u64, "{bytes}");
        for part in shuffled(parts) {
            assert_eq!(place.state(&key)?, (false, 1));
            let early = driver.commit();
            assert!(matches!(early, Err(Error::Tink(TinkError::PartsMissing { .. }))));
            let receipt = seal(&place, &driver, part)?;
            assert_eq!(seal(&place, &driver, part)?, receipt);
            driver.acknowledge(receipt)?;
        }
        // Twice at least: a request whose connection broke is sent again.
        let counts = place.ask(json!({"do": "puts", "key": key}))?;
        let is_twice = |part: u64| counts[part.to_string()].as_u64() >= Some(2);
        assert!((0..parts).all(is_twice), "{counts}");
        driver.commit()?;
        assert_eq!(place.state(&key)?, (true, 0));
        place.wheel_opens(&key, "plain", AD)?;
        let opened = place.path("opened");
        let written = open_location(&place.keyset, &target, &opened, &place.stores, options())?;
        assert_eq!(written, bytes as u64);
        assert!(fs::read(&opened)? == text(bytes));
        fs::remove_file(place.path("log"))?;
    }
    Ok(())
}

fn files_and_objects() -> Result<(), Failed> {
    let place = Place::new("places")?;
    let plain = text(2 * FIRST);
    place.put("plain", &plain)?;
    let pairs = [
        (place.file("plain"), place.object("sealed")),
        (place.object("plain"), place.file("sealed")),
        (place.file("plain"), place.file("sealed too")),
    ];
    for (source, target) in pairs {
        let mut driver = open(&place, &source, &target)?;
        for part in shuffled(driver.plan().job().parts()) {
            let receipt = seal(&place, &driver, part)?;
            assert_eq!(receipt.tag.is_empty(), matches!(target, Location::File(_)));
            driver.acknowledge(receipt)?;
        }
        driver.commit()?;
        let opened = place.path("opened");
        open_location(&place.keyset, &target, &opened, &place.stores, options())?;
        assert!(fs::read(opened)? == plain);
        fs::remove_file(place.path("log"))?;
    }
    place.wheel_opens("sealed", "plain", AD)?;
    // Keyset, plain, two sealed ones, opened: nothing else is left.
    assert_eq!(fs::read_dir(place.folder.path())?.count(), 5);
    Ok(())
}

fn a_changed_object_is_refused() -> Result<(), Failed> {
    let place = Place::new("changed")?;
    let mut plain = text(2 * FIRST);
    place.put("plain", &plain)?;
    let (source, target) = (place.object("plain"), place.object("sealed"));
    let mut driver = open(&place, &source, &target)?;
    let receipt = seal(&place, &driver, 0)?;
    driver.acknowledge(receipt)?;
    plain[2 * FIRST - 1] ^= 1;
    place.put("plain", &plain)?;
    for part in 0..2 {
        let error = seal(&place, &driver, part).expect_err("another source");
        assert!(matches!(error, Error::Tink(TinkError::SourceChanged { .. })), "{error}");
    }
    let counts = place.ask(json!({"do": "puts", "key": "sealed"}))?;
    assert!(counts["0"].is_u64() && counts["1"].is_null(), "{counts}");
    driver.discard()?;
    assert_eq!(place.state("sealed")?, (false, 0));
    Ok(())
}

/// The object changes while a part of it is read, or just after.
fn a_change_meanwhile_sends_nothing() -> Result<(), Failed> {
    let place = Place::new("meanwhile")?;
    place.put("plain", &text(FIRST))?;
    let (source, target) = (place.object("plain"), place.object("sealed"));
    let driver = open(&place, &source, &target)?;
    let is_changed = AtomicBool::new(false);
    let change = |_| {
        if !is_changed.swap(true, Ordering::Relaxed) {
            place.put("plain", &vec![7; FIRST]).expect("moto takes it");
        }
    };
    let options = Options { progress: &change, ..Options::default() };
    let sealed = driver.plan().seal_part(&place.keyset, 0, &place.stores, options);
    assert!(matches!(sealed, Err(Error::Tink(TinkError::SourceChanged { .. }))), "{sealed:?}");
    assert_eq!(place.ask(json!({"do": "puts", "key": "sealed"}))?, json!({}));
    // An object that was opened reads nothing of another version.
    let Location::Object(address) = &source else { return Err("no object".into()) };
    let object = place.stores.object(address)?;
    object.read_exact_at(&mut [0; 100], 5)?;
    place.put("plain", &text(FIRST))?;
    let error = object.read_exact_at(&mut [0; 100], 5).expect_err("another version");
    assert!(error.to_string().contains("the source changed: its version was"), "{error}");
    Ok(())
}

fn discarded_leaves_nothing() -> Result<(), Failed> {
    let place = Place::new("discarded")?;
    place.put("sealed", b"what was there before")?;
    place.put("plain", &text(2 * FIRST))?;
    let (source, target) = (place.object("plain"), place.object("sealed"));
    let mut driver = open(&place, &source, &target)?;
    let receipt = seal(&place, &driver, 1)?;
    driver.acknowledge(receipt)?;
    let plan = driver.plan().clone();
    assert_eq!(place.state("sealed")?, (true, 1));
    driver.discard()?;
    assert_eq!(place.state("sealed")?, (true, 0));
    assert_eq!(place.get("sealed")?, b"what was there before");
    assert!(!place.path("log").exists());
    // One who did not hear of it.
    let late = plan.seal_part(&place.keyset, 0, &place.stores, Options::default());
    assert!(late.as_ref().is_err_and(Error::is_not_found), "{late:?}");
    Ok(())
}

/// A driver that was killed after the object was there, and before that was noted.
fn committed_once_more() -> Result<(), Failed> {
    let place = Place::new("committed")?;
    place.put("plain", &text(FIRST + 1))?;
    for target in [place.object("sealed"), place.file("sealed")] {
        let source = place.object("plain");
        let mut driver = open(&place, &source, &target)?;
        for part in 0..2 {
            let receipt = seal(&place, &driver, part)?;
            driver.acknowledge(receipt)?;
        }
        let log = fs::read(place.path("log"))?;
        driver.commit()?;
        driver.commit()?;
        drop(driver);
        let driver = open(&place, &source, &target)?;
        assert_eq!(driver.missing().count(), 0);
        assert!(matches!(driver.discard(), Err(Error::Committed)));
        fs::write(place.path("log"), &log)?;
        assert!(matches!(open(&place, &source, &target)?.discard(), Err(Error::Committed)));
        open(&place, &source, &target)?.commit()?;
        if let Location::Object(_) = target {
            place.wheel_opens("sealed", "plain", AD)?;
            // Something else of the same length is not what was committed.
            place.put("sealed", &text(place.get("sealed")?.len()))?;
            fs::write(place.path("log"), &log)?;
            let error = open(&place, &source, &target)?.commit().expect_err("another object");
            assert!(error.is_not_found(), "{error}");
        }
        fs::remove_file(place.path("log"))?;
    }
    Ok(())
}

fn a_log_of_another_job() -> Result<(), Failed> {
    let place = Place::new("logs")?;
    place.put("plain", &text(FIRST + 1))?;
    let (source, target) = (place.object("plain"), place.object("sealed"));
    let mut driver = open(&place, &source, &target)?;
    assert!(matches!(open(&place, &source, &target), Err(Error::InUse { .. })));
    let other = |receipt| matches!(receipt, Err(Error::Malformed { what: "receipt" }));
    assert!(other(driver.acknowledge(Receipt { part: 2, tag: "\"x\"".to_owned() })));
    assert!(other(driver.acknowledge(Receipt { part: 0, tag: String::new() })));
    let receipt = seal(&place, &driver, 1)?;
    driver.acknowledge(receipt)?;
    drop(driver);
    let is_other = |driver: Result<Driver, Error>, named| match driver {
        Err(Error::OtherJob { what, .. }) => what == named,
        _ => false,
    };
    assert!(is_other(open(&place, &place.file("plain"), &target), "source"));
    assert!(is_other(open(&place, &source, &place.object("other")), "target"));
    let stranger = Place::new("stranger")?;
    let opened = |keyset, order| Driver::open(&place.path("log"), keyset, &order, &place.stores);
    assert!(is_other(opened(&stranger.keyset, order(&source, &target)), "key"));
    let ad = Order { associated_data: b"", ..order(&source, &target) };
    assert!(is_other(opened(&place.keyset, ad), "associated data"));
    // The last line is cut off: that part is done again.
    let log = fs::read(place.path("log"))?;
    fs::write(place.path("log"), &log[..log.len() - 1])?;
    assert_eq!(open(&place, &source, &target)?.missing().collect::<Vec<_>>(), [0, 1]);
    fs::write(place.path("log"), "a file of somebody\n")?;
    let none = open(&place, &source, &target);
    assert!(matches!(none, Err(Error::Malformed { what: "log" })));
    assert_eq!(fs::read(place.path("log"))?, b"a file of somebody\n");
    Ok(())
}

fn failing_requests_are_repeated() -> Result<(), Failed> {
    let place = Place::new("failing")?;
    place.put("plain", &text(FIRST + 1))?;
    let (source, target) = (place.object("plain"), place.object("sealed"));
    let fail = |every: u32| place.ask(json!({"do": "fail", "key": "", "every": every}));
    fail(3)?;
    let sealed = (|| {
        let mut driver = open(&place, &source, &target)?;
        for part in 0..2 {
            let receipt = seal(&place, &driver, part)?;
            driver.acknowledge(receipt)?;
        }
        driver.commit()
    })();
    let failed = fail(0)?;
    sealed?;
    assert!(failed.as_u64() > Some(0), "no request failed");
    place.wheel_opens("sealed", "plain", AD)
}

/// Longer than all that is read ahead at once; by more threads than there are cores.
fn long_objects_are_read_ahead() -> Result<(), Failed> {
    let place = Place::new("ahead")?;
    let plain = text((150 << 20) + 77);
    place.put("plain", &plain)?;
    let target = place.object("sealed");
    let source = place.object("plain");
    let cpu = lanecrypt_tink::Cpu::new(5);
    let options = Options { runner: &cpu, ..options() };
    let asked = Order { part_bytes: Some(100 << 20), ..order(&source, &target) };
    let mut driver = Driver::open(&place.path("log"), &place.keyset, &asked, &place.stores)?;
    for part in 0..2 {
        let receipt = driver.plan().seal_part(&place.keyset, part, &place.stores, options)?;
        driver.acknowledge(receipt)?;
    }
    driver.commit()?;
    place.wheel_opens("sealed", "plain", AD)?;
    let opened = place.path("opened");
    open_location(&place.keyset, &target, &opened, &place.stores, options)?;
    assert!(fs::read(&opened)? == plain);
    let Location::Object(address) = &target else { return Err("no object".into()) };
    let sealed = open_object(&place.keyset, address, &place.stores, AD.as_bytes())?;
    for (offset, bytes) in [(0, 1), (5, 3 << 20), (plain.len() - 3, 3), (plain.len(), 0)] {
        let mut range = vec![0; bytes];
        sealed.read_exact_at(&mut range, offset as u64)?;
        assert!(range == plain[offset..offset + bytes]);
    }
    Ok(())
}

fn errors_name_the_place() -> Result<(), Failed> {
    let place = Place::new("errors")?;
    let (source, target) = (place.object("nothing"), place.object("sealed"));
    let error = open(&place, &source, &target).expect_err("there is no source");
    assert!(error.is_not_found(), "{error}");
    assert!(error.to_string().contains("s3://bucket/errors/nothing"), "{error}");
    place.put("plain", b"")?;
    let elsewhere = "s3://no-such-bucket/key".parse()?;
    let error = open(&place, &place.object("plain"), &elsewhere).expect_err("no bucket");
    assert!(error.to_string().contains("s3://no-such-bucket/key"), "{error}");
    let Location::Object(address) = place.object("plain") else { return Err("no object".into()) };
    let object = format!("{:?}", place.stores.object(&address)?);
    assert!(object.starts_with("Object { address: Address {"), "{object}");
    for text in [format!("{error}"), format!("{error:?}"), object] {
        assert!(!text.contains("a-secret"), "{text}");
    }
    assert_eq!(format!("{:?}", place.stores), "Stores { .. }");
    let unknown = Stores::with_settings([("AWS_NO_SUCH", "a-secret")]).expect_err("no setting");
    assert!(!format!("{unknown} {unknown:?}").contains("a-secret"));
    Ok(())
}
