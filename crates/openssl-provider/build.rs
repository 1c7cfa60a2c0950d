//! Tells the linker that the module stays in memory once it is loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // OpenSSL unloads its modules at exit, and rayon's threads would wake in code that is gone.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
