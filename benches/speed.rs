//! The figures of `gruppetto bench`, for those who type `cargo bench`.

use gruppetto::bench::{Extent, bench};

// As in the binary: what is measured is what users run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // `cargo test --benches` passes --test: then it is enough that everything runs.
    let quick = std::env::args().any(|argument| argument == "--test" || argument == "--quick");
    let extent = if quick { Extent::Quick } else { Extent::Full };
    if let Err(error) = bench(extent, &[], &mut |text| print!("{text}")) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}
