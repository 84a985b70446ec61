//! Where runs go: the values of the setting `bonnet.device`.

use std::sync::Once;

#[cfg(feature = "cuda")]
use super::cuda::Gpu;
use super::{Device, DeviceError};

/// A place for runs.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// The caller's threads.
    Cpu,
    /// A GPU, which all runs share.
    #[cfg(feature = "cuda")]
    Cuda(&'static Gpu),
}

impl Place {
    /// The place of a setting: `cpu`; `cuda`, the first GPU; or `auto`, the first GPU if there is one, else the CPU. A build
    /// for GPUs that finds none says so on standard error, in one line and once.
    ///
    /// # Errors
    /// For `cuda` without a GPU, or in a build without kernels for one; for another word.
    pub fn of(setting: &str) -> Result<Self, String> {
        match setting {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Self::gpu()
                .map_err(|why| format!("bonnet.device is cuda, but {why}: SET bonnet.device = 'cpu' (or auto)")),
            "auto" => Ok(Self::gpu().unwrap_or_else(|why| {
                static SAID: Once = Once::new();
                if cfg!(feature = "cuda") {
                    SAID.call_once(|| eprintln!("no GPU, models train on the CPU: {why}"));
                }
                Self::Cpu
            })),
            other => Err(format!("bonnet.device = '{other}': expected auto, cpu or cuda")),
        }
    }

    #[cfg(feature = "cuda")]
    fn gpu() -> Result<Self, &'static str> {
        Gpu::first().map(Self::Cuda)
    }

    #[cfg(not(feature = "cuda"))]
    fn gpu() -> Result<Self, &'static str> {
        Err("this build has no kernels for GPUs (it lacks the feature cuda)")
    }

    /// A queue of the device, none on the CPU.
    ///
    /// # Errors
    /// If the device grants none.
    pub(crate) fn device(self) -> Result<Option<Box<dyn Device>>, DeviceError> {
        match self {
            Self::Cpu => Ok(None),
            #[cfg(feature = "cuda")]
            Self::Cuda(gpu) => Ok(Some(Box::new(gpu.queue()?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_places_and_a_missing_gpu_is_said() {
        assert!(matches!(Place::of("cpu"), Ok(Place::Cpu)));
        let unknown = Place::of("gpu").unwrap_err();
        assert!(unknown.contains("auto, cpu or cuda"), "{unknown}");
        match Place::gpu() {
            Ok(_) => assert!(!matches!(Place::of("auto"), Ok(Place::Cpu)) && Place::of("cuda").is_ok()),
            Err(why) => {
                assert!(matches!(Place::of("auto"), Ok(Place::Cpu)));
                let refused = Place::of("cuda").unwrap_err();
                assert!(refused.contains(why) && refused.contains("SET bonnet.device"), "{refused}");
            }
        }
    }
}
