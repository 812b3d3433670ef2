//! Tells the tests of this crate, and the crates that use it, where the libraries of libtorch are.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // What torch-sys says about where it found libtorch; nothing on Windows, where programs cannot
    // know such a thing.
    if let Ok(libraries) = env::var("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo:libraries={libraries}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{libraries}");
    }
}
