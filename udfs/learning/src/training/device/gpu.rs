//! The first NVIDIA GPU of the machine, through candle.

use std::panic;
use std::sync::{Mutex, OnceLock, PoisonError};

use candle_core::cuda_backend::cudarc::driver::{result, sys};
use candle_core::cuda_backend::{CudaError, WrapErr};
use candle_core::{CudaDevice, Device, Error, Result};

/// The streams that are kept for runs to come: each has loaded the kernels.
const IDLE: usize = 4;

/// A GPU that runs share.
#[derive(Debug)]
pub struct Gpu {
    idle: Mutex<Vec<CudaDevice>>,
}

impl Gpu {
    /// The first GPU.
    ///
    /// # Errors
    /// Why there is none, in one line; later calls say the same.
    pub fn first() -> std::result::Result<&'static Self, &'static str> {
        static FIRST: OnceLock<std::result::Result<Gpu, String>> = OnceLock::new();
        FIRST.get_or_init(open).as_ref().map_err(String::as_str)
    }

    /// A stream for a run, with cuBLAS and kernels of its own; it comes back when the run ends.
    ///
    /// # Errors
    /// If the GPU fails.
    pub(crate) fn stream(&'static self) -> Result<Stream> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let device = idle.map_or_else(fresh, Ok)?;
        Ok(Stream { gpu: self, device })
    }
}

/// Opens the GPU. The bindings of a library that is not on the machine panic: that is said in one line.
fn open() -> std::result::Result<Gpu, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let opened = panic::catch_unwind(|| {
        let device = fresh()?;
        keep_memory()?;
        Ok::<CudaDevice, Error>(device)
    });
    panic::set_hook(hook);
    match opened {
        Ok(Ok(device)) => Ok(Gpu { idle: Mutex::new(vec![device]) }),
        Ok(Err(error)) => Err(format!("there is no NVIDIA GPU: {}", one_line(&error.to_string()))),
        Err(_) => Err("the libraries of CUDA (libcuda, libcublas, libcurand) are not on this machine".to_owned()),
    }
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A stream of its own. Its tensors are used on it alone, so that nobody has to wait for an event.
fn fresh() -> Result<CudaDevice> {
    let device = CudaDevice::new_with_stream(0)?;
    // SAFETY: a run's tensors stay on the stream of the run, which frees them in its order.
    unsafe { device.disable_event_tracking() };
    Ok(device)
}

/// Has the driver keep memory that is given back for the next epoch: by default it returns all at every wait.
fn keep_memory() -> Result<()> {
    let device = result::device::get(0).w()?;
    let mut pool = std::ptr::null_mut();
    let mut threshold = u64::MAX;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the device exists, and the attribute is a 64-bit number.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&mut pool, device).result().w()?;
        sys::cuMemPoolSetAttribute(pool, attribute, std::ptr::from_mut(&mut threshold).cast()).result().w()
    }
}

/// A GPU's stream for the time of a run.
#[derive(Debug)]
pub(crate) struct Stream {
    gpu: &'static Gpu,
    device: CudaDevice,
}

impl Stream {
    /// The device as candle sees it.
    pub fn device(&self) -> Device {
        Device::Cuda(self.device.clone())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut idle = self.gpu.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(self.device.clone());
        }
    }
}

/// Whether the GPU had no memory.
pub(super) fn is_out_of_memory(error: &Error) -> bool {
    match error {
        Error::Cuda(inner) => match inner.downcast_ref::<CudaError>() {
            Some(CudaError::Cuda(driver)) => driver.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            _ => false,
        },
        Error::Context { inner, .. } | Error::WithPath { inner, .. } | Error::WithBacktrace { inner, .. } => {
            is_out_of_memory(inner)
        }
        _ => false,
    }
}

/// The most bytes that tensors of all runs held on the GPU since the last call.
pub(super) fn peak() -> usize {
    let read = || -> Result<u64> {
        let device = result::device::get(0).w()?;
        let (mut pool, mut bytes, mut zero) = (std::ptr::null_mut(), 0u64, 0u64);
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
        // SAFETY: the device exists, and the attribute is a 64-bit number, which may be set to 0 alone.
        unsafe {
            sys::cuDeviceGetDefaultMemPool(&mut pool, device).result().w()?;
            sys::cuMemPoolGetAttribute(pool, attribute, std::ptr::from_mut(&mut bytes).cast()).result().w()?;
            sys::cuMemPoolSetAttribute(pool, attribute, std::ptr::from_mut(&mut zero).cast()).result().w()?;
        }
        Ok(bytes)
    };
    read().map_or(0, |bytes| bytes as usize)
}
