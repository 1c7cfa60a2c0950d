//! What people read: names, reasons and Debug texts.

use cipher::KeyInit;
use lanecrypt_core::{CpuEngine, Ctr, Direction, Mode, Unavailable};

#[test]
fn directions_and_modes_have_names() {
    assert_eq!(Direction::BOTH.map(|direction| direction.to_string()), ["encrypt", "decrypt"]);
    let modes = [
        (Mode::Ecb, "ECB"),
        (Mode::Cbc, "CBC"),
        (Mode::Ctr, "CTR"),
        (Mode::Cfb, "CFB"),
        (Mode::Ofb, "OFB"),
        (Mode::Gcm, "GCM"),
        (Mode::GcmSiv, "GCM-SIV"),
        (Mode::Ccm, "CCM"),
        (Mode::Xts, "XTS"),
    ];
    for (mode, name) in modes {
        assert_eq!(mode.to_string(), name);
    }
}

#[test]
fn reasons_say_whether_the_cpu_is_it() {
    let missing = Unavailable::because("there is no driver");
    assert_eq!(missing.to_string(), "there is no driver");
    assert!(!missing.is_of_the_cpu());
    let missing = Unavailable::of_the_cpu("this CPU has no AVX-512");
    assert_eq!(missing.to_string(), "this CPU has no AVX-512");
    assert!(missing.is_of_the_cpu());
    #[cfg(feature = "alloc")]
    {
        let missing = Unavailable::because_of(format!("{} bytes are needed", 7));
        assert_eq!(missing.to_string(), "7 bytes are needed");
        assert!(!missing.is_of_the_cpu());
    }
}

#[test]
fn debug_names_the_cipher() {
    let engine = CpuEngine::new(aes::Aes128::new(&[1; 16].into()));
    assert_eq!(format!("{engine:?}"), "CpuEngine(Aes128 { .. })");
    let stream = Ctr::new(engine, &[0; 16]).expect("an IV of one block");
    assert_eq!(format!("{stream:?}"), "Ctr { .. }");
}
