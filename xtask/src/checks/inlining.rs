//! Whether vector code stays in its `#[target_feature]` region when a user builds it: reads the
//! machine code of tests/user-crate, which has cargo's own release profile.
//!
//! A function outside of such a region cannot inline what needs the region's instructions. Two kinds
//! of symbols are then left, each of which is called once a vector: the functions of `core::arch`,
//! and closures that were written inside the region but handed to a function outside.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use crate::{
    command::{command, output},
    user_crate,
};

/// Crates that do leave the region, with the reason: none.
const KNOWN: &[&str] = &[];

/// Functions of `core::arch` that run once, when features are looked for.
const DETECTION: [&str; 3] = ["::_xgetbv", "::__cpuid", "::__cpuid_count"];

/// Builds the user's crate and fails where one of its functions leaves the region.
pub(crate) fn check() -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        println!("NOT checked: the instructions that are looked for are those of x86-64");
        return Ok(());
    }
    let program = user_crate::built("user-crate", &[], None)?;
    let disassemble = ["--disassemble", "--demangle", "--no-show-raw-insn"];
    let listing = output(command("objdump").args(disassemble).arg(program))?;
    let departures = departures(&listing)?;
    let (known, new): (BTreeSet<_>, _) =
        departures.into_iter().partition(|departure| KNOWN.contains(&departure.owner()));
    for departure in &known {
        println!("known: {}", departure.0);
    }
    for owner in KNOWN {
        let is_found = known.iter().any(|departure| departure.owner() == *owner);
        ensure!(
            is_found,
            "{owner} leaves no region any more: take it off the list of known crates"
        );
    }
    if new.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = new.into_iter().map(|departure| departure.0).collect();
    bail!("vector code leaves its target-feature region in a default build:\n{}", names.join("\n"))
}

/// What leaves the region, as text: a closure's name, or `caller -> callee`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Departure(String);

impl Departure {
    /// The crate it is in: what stands before the first `::`, without marks of an `impl`.
    fn owner(&self) -> &str {
        self.0.trim_start_matches(['<', '&']).split("::").next().unwrap_or_default()
    }
}

/// Every departure in a listing of objdump.
fn departures(listing: &str) -> Result<BTreeSet<Departure>> {
    let mut found = BTreeSet::new();
    let mut function = "";
    let mut has_vectors = false;
    for line in listing.lines() {
        if let Some(name) = started(line) {
            function = name;
            continue;
        }
        let Some((_, instruction)) = line.split_once(":\t") else {
            continue;
        };
        has_vectors |= instruction.contains("%zmm");
        if let Some(callee) = named(instruction).filter(|callee| is_vector_operation(callee)) {
            found.insert(Departure(format!("{function} -> {callee}")));
        }
        if is_closure(function) && needs_features(instruction) {
            found.insert(Departure(function.to_owned()));
        }
    }
    // Without them nothing was compiled that could leave a region.
    ensure!(has_vectors, "the user's crate has no 512-bit instruction, so nothing is checked");
    Ok(found)
}

/// The function that begins at a line such as `0000000000001000 <name>:`.
fn started(line: &str) -> Option<&str> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    address.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(name)
}

/// The function whose address an instruction such as `call   1000 <name>` names, be it to call it, to
/// jump there or to pass it on. An address within a function, `<name+0x10>`, is none.
fn named(instruction: &str) -> Option<&str> {
    let (_, name) = instruction.strip_suffix('>')?.split_once(" <")?;
    (!name.contains("+0x")).then_some(name)
}

/// Whether a function is a closure: `{{closure}}` or `{closure#0}`, by the compiler's age.
fn is_closure(function: &str) -> bool {
    let name = function.rsplit("::").next().unwrap_or_default();
    name.starts_with('{') && name.contains("closure") && name.ends_with('}')
}

fn is_vector_operation(callee: &str) -> bool {
    callee.contains("core_arch") && !DETECTION.iter().any(|name| callee.ends_with(name))
}

/// Whether an instruction is beyond what every x86-64 has: AVX's mnemonics begin with a `v`.
fn needs_features(instruction: &str) -> bool {
    let mnemonic = instruction.split_whitespace().next().unwrap_or_default();
    mnemonic.starts_with('v') || ["aes", "gf2p8", "pclmul"].iter().any(|i| mnemonic.starts_with(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Vec<String> {
        let other = "0000000000000100 <other>:\n 100:\tvpxord %zmm0,%zmm0,%zmm0\n\n";
        let listing = format!("{other}{body}");
        departures(&listing).unwrap().into_iter().map(|departure| departure.0).collect()
    }

    #[test]
    fn a_call_of_core_arch_is_found_with_its_caller() {
        let call = |name: &str, mnemonic: &str| {
            format!("0000000000001000 <aria::batch>:\n 1000:\t{mnemonic} 2000 <{name}>\n")
        };
        let xor = "core::core_arch::x86::avx512f::_mm512_xor_si512";
        assert_eq!(found(&call(xor, "call  ")), [format!("aria::batch -> {xor}")]);
        assert_eq!(found(&call(xor, "addr32 call")), [format!("aria::batch -> {xor}")]);
        assert_eq!(
            found(&call(xor, "lea    0x8(%rip),%rdi  #")),
            [format!("aria::batch -> {xor}")]
        );
        let none: [&str; 0] = [];
        assert_eq!(found(&call("core::core_arch::x86::xsave::_xgetbv", "call  ")), none);
        assert_eq!(found(&call(&format!("{xor}+0x10"), "jmp   ")), none);
        assert_eq!(found(&call("core::panicking::panic", "call  ")), none);
    }

    #[test]
    fn a_closure_with_vectors_is_found_by_its_crate() {
        let closure = |instruction: &str| {
            let name = "aes::encdec::load::{{closure}}";
            found(&format!("0000000000001000 <{name}>:\n 1000:\t{instruction}\n"))
        };
        assert_eq!(closure("vmovups (%rax),%zmm0"), ["aes::encdec::load::{{closure}}"]);
        assert_eq!(closure("aesenc %xmm1,%xmm0").len(), 1);
        assert_eq!(closure("movups (%rax),%xmm0").len(), 0);
        assert!(is_closure("aes::encdec::load::{closure#0}"));
        assert!(!is_closure("slicing::run::<aes::encdec::load::{closure#0}>"));
        assert_eq!(Departure("aes::encdec::load".into()).owner(), "aes");
        assert_eq!(Departure("<aria::Aria as Engine>::ecb".into()).owner(), "aria");
    }

    #[test]
    fn a_listing_without_vectors_is_no_evidence() {
        assert!(departures("0000000000001000 <main>:\n 1000:\tret\n").is_err());
    }
}
