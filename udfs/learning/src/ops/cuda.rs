//! The kernels on an NVIDIA GPU, through candle's device.

use candle_core::backend::BackendStorage;
use candle_core::cuda_backend::cudarc::driver::{DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg};
use candle_core::cuda_backend::{CudaDType, WrapErr};
use candle_core::{CudaDevice, CudaStorage, DType, Layout, Result, Shape, Storage, Tensor, bail};

use super::kernel::{Arg, DeviceInput, Kernel, Launch, THREADS};

const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// Where the numbers of a list on the GPU stand. A list lives as long as what reads it, and all that runs on a device runs
/// in the order of one stream.
pub(super) fn address(tensor: &Tensor) -> Result<u64> {
    fn of<T: CudaDType>(storage: &CudaStorage, from: usize) -> Result<u64> {
        let slice = storage.as_cuda_slice::<T>()?;
        let stream = storage.device().cuda_stream();
        let (address, _guard) = slice.device_ptr(&stream);
        Ok(address + (from * size_of::<T>()) as u64)
    }
    let (storage, layout) = tensor.storage_and_layout();
    let (Storage::Cuda(storage), Some((from, _))) = (&*storage, layout.contiguous_offsets()) else {
        bail!("the operation and its tensors are on two devices")
    };
    match tensor.dtype() {
        DType::U32 => of::<u32>(storage, from),
        DType::F64 => of::<f64>(storage, from),
        DType::F32 => of::<f32>(storage, from),
        other => bail!("kernels read no lists of {other:?}"),
    }
}

/// Where the numbers of an argument stand.
pub(super) fn place(storage: &CudaStorage, layout: &Layout) -> Result<u64> {
    let Some((from, _)) = layout.contiguous_offsets() else { bail!("the operation takes contiguous tensors") };
    let stream = storage.device().cuda_stream();
    let (address, _guard) = storage.as_cuda_slice::<f32>()?.device_ptr(&stream);
    Ok(address + (from * size_of::<f32>()) as u64)
}

/// Runs an operation; its result is on the same device.
pub(super) fn run(kernel: &dyn Kernel, inputs: &[(&CudaStorage, &Layout)]) -> Result<(CudaStorage, Shape)> {
    let device = inputs[0].0.device().clone();
    let given = inputs
        .iter()
        .map(|(storage, layout)| Ok(DeviceInput { address: place(storage, layout)?, dims: layout.dims() }));
    let given: Vec<DeviceInput<'_>> = given.collect::<Result<_>>()?;
    let shape = kernel.shape(&given);
    // SAFETY: the kernels write every number of the result. There is no room of no bytes.
    let mut out = unsafe { device.alloc::<f32>(shape.elem_count().max(1))? };
    let stream = device.cuda_stream();
    let address = out.device_ptr_mut(&stream).0;
    for launch in kernel.launches(&given, address)? {
        start(&device, &launch)?;
    }
    Ok((CudaStorage::wrap_cuda_slice(out, device), shape))
}

/// Starts a kernel, after all that was started on the device before.
pub(super) fn start(device: &CudaDevice, launch: &Launch) -> Result<()> {
    let function = device.get_or_load_custom_func(launch.kernel, "bonnet", PTX)?;
    let mut builder = function.builder();
    for arg in &launch.args {
        match arg {
            Arg::Address(x) | Arg::Long(x) => builder.arg(x),
            Arg::Word(x) => builder.arg(x),
            Arg::Real(x) => builder.arg(x),
        };
    }
    let config =
        LaunchConfig { grid_dim: (launch.blocks, 1, 1), block_dim: (THREADS as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are of the number and types that the kernel declares, as the tests of the same launches on the
    // host check.
    unsafe { builder.launch(config) }.w()?;
    Ok(())
}
