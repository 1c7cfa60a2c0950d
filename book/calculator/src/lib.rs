//! What the book's page "A calculator" has of Lanecrypt, as a module of WebAssembly: `lanecrypt_roof`, behind two functions
//! that JavaScript calls.
#![cfg(target_arch = "wasm32")]
#![deny(unsafe_code)]

mod ffi;
