//! Where deep models are computed, as it is asked for.

use std::str::FromStr;

/// `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// On GPUs if there are any, else on the processor.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On this GPU, or on all of them.
    Cuda(Option<usize>),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(None)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(|number| DeviceChoice::Cuda(Some(number)))
                .ok_or_else(|| "expected cpu, cuda, cuda:N or auto".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_their_usual_names() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::Cuda(None)),
            ("cuda:3", DeviceChoice::Cuda(Some(3))),
        ] {
            assert_eq!(text.parse(), Ok(choice));
        }
        for text in ["gpu", "cuda:", "cuda:-1", "CUDA", ""] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }
}
