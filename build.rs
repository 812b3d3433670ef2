//! With the feature `torch`: programs know where the libraries of libtorch are.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // What torch-sys says about where it found libtorch. Nothing without the feature, and nothing on
    // Windows, where programs cannot know such a thing.
    let Some(libraries) = env::var_os("DEP_TCH_LIBTORCH_LIB").map(PathBuf::from) else {
        return;
    };
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libraries.display());
    // No symbol of libtorch's CUDA part is ever named: it announces itself when it is loaded. Linkers
    // leave libraries out that nobody names, and then there seems to be no GPU.
    if libraries.join("libtorch_cuda.so").exists() {
        println!("cargo:rustc-link-arg=-Wl,--no-as-needed");
        println!("cargo:rustc-link-arg=-ltorch");
        println!("cargo:rustc-link-arg=-Wl,--as-needed");
    }
}
