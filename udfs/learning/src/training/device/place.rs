//! Where runs go: the values of the setting `bonnet.device`.

use std::sync::Once;

use candle_core::Device;

#[cfg(feature = "cuda")]
use super::gpu::{Gpu, Stream};
use crate::ground::TrainError;

/// A graph of fewer nodes and edges than these together trains on the CPU where the place is chosen: launching the kernels of
/// an epoch takes as long as computing it there.
#[cfg(any(feature = "cuda", test))]
const SMALL: usize = 50_000;

/// A place for runs.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// The caller's threads.
    Cpu,
    /// A GPU, which all runs share.
    #[cfg(feature = "cuda")]
    Cuda(&'static Gpu),
    /// A GPU for large graphs, the caller's threads for small ones.
    #[cfg(feature = "cuda")]
    Auto(&'static Gpu),
}

impl Place {
    /// The place of a setting: `cpu`; `cuda`, the first GPU; or `auto`, the first GPU if there is one, for graphs of 50,000
    /// nodes and edges or more, else the CPU. A build for GPUs that finds none says so on standard error, in one line and
    /// once.
    ///
    /// # Errors
    /// For `cuda` without a GPU, or in a build without kernels for one; for another word.
    pub fn of(setting: &str) -> Result<Self, String> {
        match setting {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Self::gpu(false)
                .map_err(|why| format!("bonnet.device is cuda, but {why}: SET bonnet.device = 'cpu' (or auto)")),
            "auto" => Ok(Self::gpu(true).unwrap_or_else(|why| {
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
    fn gpu(auto: bool) -> Result<Self, &'static str> {
        Gpu::first().map(if auto { Self::Auto } else { Self::Cuda })
    }

    #[cfg(not(feature = "cuda"))]
    fn gpu(_auto: bool) -> Result<Self, &'static str> {
        Err("this build has no kernels for GPUs (it lacks the feature cuda)")
    }

    /// The device of a run on a graph with so many nodes and edges; none for the caller's threads.
    ///
    /// # Errors
    /// If the device grants no stream.
    #[cfg_attr(not(feature = "cuda"), expect(unused_variables, reason = "the size decides between two devices"))]
    pub(crate) fn device(self, size: usize) -> Result<Option<Lease>, TrainError> {
        match self {
            Self::Cpu => Ok(None),
            #[cfg(feature = "cuda")]
            Self::Auto(_) if size < SMALL => Ok(None),
            #[cfg(feature = "cuda")]
            Self::Cuda(gpu) | Self::Auto(gpu) => {
                let stream = gpu.stream()?;
                Ok(Some(Lease { device: stream.device(), word: "cuda", _stream: Some(stream) }))
            }
        }
    }
}

/// A device for the time of a run.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The device, which runs one thing after the other.
    pub device: Device,
    /// The word of the column `device`.
    pub word: &'static str,
    #[cfg(feature = "cuda")]
    _stream: Option<Stream>,
}

#[cfg(test)]
impl Lease {
    /// Candle's tensors on the CPU.
    pub(crate) fn host() -> Self {
        Self {
            device: Device::Cpu,
            word: "tensors",
            #[cfg(feature = "cuda")]
            _stream: None,
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
        match Place::gpu(true) {
            Ok(_) => assert!(!matches!(Place::of("auto"), Ok(Place::Cpu)) && Place::of("cuda").is_ok()),
            Err(why) => {
                assert!(matches!(Place::of("auto"), Ok(Place::Cpu)));
                let refused = Place::of("cuda").unwrap_err();
                assert!(refused.contains(why) && refused.contains("SET bonnet.device"), "{refused}");
            }
        }
    }

    #[test]
    fn small_graphs_stay_on_the_processor_where_the_place_is_chosen() {
        let auto = Place::of("auto").unwrap();
        assert!(auto.device(SMALL - 1).unwrap().is_none());
        assert_eq!(auto.device(SMALL).unwrap().is_some(), Place::gpu(true).is_ok());
        assert!(Place::Cpu.device(usize::MAX).unwrap().is_none());
    }
}
