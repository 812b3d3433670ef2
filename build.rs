//! Puts the script of the report page together. With the feature `torch`, programs also learn where
//! the libraries of libtorch are.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    page_script();
    scenarios();
    libtorch();
}

/// The names of the scenarios that are shipped, and what each says of itself.
fn scenarios() {
    println!("cargo:rerun-if-changed=scenarios");
    let mut list: Vec<(String, String)> = Vec::new();
    for folder in ["", "paper/", "beyond/"] {
        let entries = fs::read_dir(Path::new("scenarios").join(folder));
        let entries = entries.expect("the folders of scenarios");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        list.extend(files.iter().map(|file| {
            let text = fs::read_to_string(file).expect("a scenario");
            let line = text.lines().find_map(|line| line.strip_prefix("description = "));
            let name = file.file_stem().expect("a name").to_string_lossy();
            (format!("{folder}{name}"), line.unwrap_or_default().trim_matches('"').to_string())
        }));
    }
    let out = env::var_os("OUT_DIR").expect("cargo says where things go");
    fs::write(Path::new(&out).join("scenarios.rs"), format!("&{list:?}")).expect("a place for it");
}

/// All files of the page's script in one, by their names.
fn page_script() {
    let folder = Path::new("src/report/page/js");
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("the folder of the page's script");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "js"));
    files.sort();
    let parts: Vec<String> = files
        .iter()
        .map(|file| {
            println!("cargo:rerun-if-changed={}", file.display());
            fs::read_to_string(file).expect("a part of the page's script")
        })
        .collect();
    let out = env::var_os("OUT_DIR").expect("cargo says where things go");
    fs::write(Path::new(&out).join("page.js"), parts.concat()).expect("a place for the script");
}

fn libtorch() {
    // What gruppetto-torch says about where libtorch is. Nothing without the feature, and nothing on
    // Windows, where programs cannot know such a thing.
    let Some(libraries) = env::var_os("DEP_GRUPPETTO_TORCH_LIBRARIES").map(PathBuf::from) else {
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
