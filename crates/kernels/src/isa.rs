//! The instruction sets the kernel is written for.
//!
//! The choice is made at run time, so one binary runs on every x86-64 and is
//! as fast as each allows. Other architectures use the portable code, which
//! the compiler turns into whatever vectors they have.

use std::fmt;

use super::backend::Backend;
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::{avx2::Avx2, avx512::Avx512};

/// An instruction set. All of them give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Plain Rust. Slow on an x86-64 without hardware multiply-add.
    Portable,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

impl Isa {
    const BEST_FIRST: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The best instruction set of this processor.
    pub fn detect() -> Self {
        *Self::BEST_FIRST
            .iter()
            .find(|isa| isa.backend().is_some())
            .expect("the portable code runs everywhere")
    }

    /// All instruction sets of this processor, best first.
    pub fn available() -> Vec<Self> {
        let mut found = Self::BEST_FIRST.to_vec();
        found.retain(|isa| isa.backend().is_some());
        found
    }

    /// The implementation, if this processor can run it.
    pub(super) fn backend(self) -> Option<&'static dyn Backend> {
        match self {
            Self::Portable => Some(&Portable),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::detect().map(|found| found as &dyn Backend),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Avx512::detect().map(|found| found as &dyn Backend),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => None,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}
