//! Where libtorch computes.

use super::TorchError;
use gruppetto_sim::train::DeviceChoice;
use tch::{Cuda, Device};

/// The devices that workers are spread over.
pub(super) fn devices(choice: DeviceChoice) -> Result<Vec<Device>, TorchError> {
    select(choice, count())
}

/// GPUs that can be used.
pub(super) fn count() -> usize {
    if Cuda::is_available() { Cuda::device_count().max(0) as usize } else { 0 }
}

/// The same on a machine with so many GPUs.
fn select(choice: DeviceChoice, count: usize) -> Result<Vec<Device>, TorchError> {
    match choice {
        DeviceChoice::Cpu => Ok(vec![Device::Cpu]),
        DeviceChoice::Auto if count == 0 => Ok(vec![Device::Cpu]),
        DeviceChoice::Cuda(_) if count == 0 => Err(TorchError::NoGpu),
        DeviceChoice::Auto | DeviceChoice::Cuda(None) => Ok((0..count).map(Device::Cuda).collect()),
        DeviceChoice::Cuda(Some(wanted)) if wanted < count => Ok(vec![Device::Cuda(wanted)]),
        DeviceChoice::Cuda(Some(wanted)) => Err(TorchError::NoSuchGpu { wanted, count }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_found_or_refused() {
        let cpu = vec![Device::Cpu];
        assert_eq!(select(DeviceChoice::Auto, 0).unwrap(), cpu);
        assert_eq!(select(DeviceChoice::Cpu, 4).unwrap(), cpu);
        assert_eq!(select(DeviceChoice::Auto, 2).unwrap(), [Device::Cuda(0), Device::Cuda(1)]);
        assert_eq!(select(DeviceChoice::Cuda(Some(1)), 2).unwrap(), [Device::Cuda(1)]);
        for (choice, count) in [(DeviceChoice::Cuda(None), 0), (DeviceChoice::Cuda(Some(2)), 2)] {
            let error = select(choice, count).unwrap_err().to_string();
            assert!(error.contains("--device cpu"), "{error}");
        }
    }
}
