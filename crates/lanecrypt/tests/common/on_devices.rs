//! Properties as trials of each device: of the GPU, and of the host build of the kernels.

use std::process::ExitCode;

use lanecrypt::{
    aes::AES,
    cuda::{self, Device},
    registry::{Backend, Platform, Selection},
};
use libtest_mimic::{Arguments, Failed, Trial};

pub(crate) type Tried = Result<(), Failed>;
/// What holds for a device, by its name.
pub(crate) type Property = (&'static str, fn(&Device) -> Tried);
type Open = fn() -> Result<Device, cuda::Error>;

const DEVICES: [(&str, Open, Platform); 2] = [
    ("cuda", Device::default, Platform::Cuda),
    ("host", Device::another_on_host, Platform::CudaOnHost),
];

/// Tries these on each device. Those of a device that cannot run are ignored with its reason on standard error, or fail
/// where `LANECRYPT_EXPECT` names one of its backends.
pub(crate) fn run(properties: &[Property]) -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = DEVICES.into_iter().flat_map(|(name, open, platform)| {
        let unavailable = open().err().filter(|_| !is_expected(platform));
        if let Some(error) = &unavailable {
            eprintln!("{name}: {error}");
        }
        properties.iter().map(move |&(property, run)| {
            let trial = Trial::test(format!("{name}::{property}"), move || run(&open()?));
            trial.with_ignored_flag(unavailable.is_some())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Whether a backend of AES of this kind must run here.
fn is_expected(platform: Platform) -> bool {
    let expected = Selection::expected().unwrap_or_else(|error| panic!("{error}"));
    let is_named =
        |backend: &&Backend| backend.platform == platform && expected.contains(&AES, backend);
    AES.backends.iter().any(|backend| is_named(&backend))
}
