//! The first NVIDIA GPU of the machine, through the driver's own library, which is loaded on first use.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::OnceLock;

use cudarc::driver::{DriverError, result, sys};

use super::{Device, DeviceError, KERNELS, Launch, THREADS, Tape};

const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// A GPU with the kernels.
#[derive(Debug)]
pub struct Gpu {
    name: String,
    context: sys::CUcontext,
    kernels: HashMap<&'static str, sys::CUfunction>,
}

// SAFETY: handles of the driver, whose functions may be called from any thread.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// The first GPU. The first call compiles the kernels for it.
    ///
    /// # Errors
    /// Why there is none, in one line; later calls say the same.
    pub fn first() -> Result<&'static Self, &'static str> {
        static FIRST: OnceLock<Result<Gpu, String>> = OnceLock::new();
        let open = || {
            // SAFETY: it only looks for a library.
            if !unsafe { sys::is_culib_present() } {
                return Err("the library of the NVIDIA driver (libcuda) is not on this machine".to_owned());
            }
            // A driver that lacks a function ends in a panic of its bindings.
            std::panic::catch_unwind(Self::open).unwrap_or_else(|_| Err("the NVIDIA driver is too old".to_owned()))
        };
        FIRST.get_or_init(open).as_ref().map_err(String::as_str)
    }

    fn open() -> Result<Self, String> {
        result::init().map_err(|error| text("the NVIDIA driver does not start", error))?;
        let device = result::device::get(0).map_err(|error| text("there is no NVIDIA GPU", error))?;
        let name = result::device::get_name(device).map_err(|error| text("the GPU has no name", error))?;
        let image = CString::new(PTX).map_err(|_| "the kernels hold a zero byte".to_owned())?;
        // SAFETY: the device is one that the driver gave, and the image is a whole text. The context stays for the life of the
        // process, as the module and its functions do.
        unsafe {
            let context = result::primary_ctx::retain(device).map_err(|error| text("the GPU has no context", error))?;
            result::ctx::set_current(context).map_err(|error| text("the GPU has no context", error))?;
            let module = result::module::load_data(image.as_ptr().cast()).map_err(|error| {
                text(&format!("{name} does not take the kernels (a driver older than the toolkit?)"), error)
            })?;
            let mut kernels = HashMap::new();
            for &kernel in KERNELS {
                let symbol = CString::new(kernel).map_err(|_| "a kernel's name holds a zero byte".to_owned())?;
                let function = result::module::get_function(module, symbol)
                    .map_err(|error| text(&format!("the kernel {kernel} is missing"), error))?;
                kernels.insert(kernel, function);
            }
            Ok(Self { name, context, kernels })
        }
    }

    /// What the GPU is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A queue of its own for a run: those of several runs share the GPU.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn queue(&'static self) -> Result<Queue, DeviceError> {
        self.enter()?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(failed)?;
        Ok(Queue { gpu: self, stream })
    }

    /// Makes the GPU that of the calling thread.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is never released.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed)
    }
}

fn text(what: &str, error: DriverError) -> String {
    let why =
        error.error_string().map_or_else(|_| format!("{:?}", error.0), |text| text.to_string_lossy().into_owned());
    format!("{what}: {why}")
}

fn failed(error: DriverError) -> DeviceError {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::OutOfMemory("the GPU has no memory left".into()),
        _ => DeviceError::Failed(text("the GPU", error)),
    }
}

/// The work of a run, one thing after the other.
#[derive(Debug)]
pub struct Queue {
    gpu: &'static Gpu,
    stream: sys::CUstream,
}

// SAFETY: a handle of the driver, whose functions may be called from any thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            // SAFETY: the stream is the queue's own. A GPU that failed has said so before.
            let _ = unsafe { result::stream::synchronize(self.stream) };
            // SAFETY: as above.
            let _ = unsafe { result::stream::destroy(self.stream) };
        }
    }
}

/// What a tape keeps: the first run launches, which loads the kernels; the second records, if it can; the others replay.
#[derive(Debug)]
enum Kept {
    Launched,
    Recorded(Recording),
    Unrecorded,
}

/// A recorded tape: one call replays all its launches.
#[derive(Debug)]
struct Recording {
    gpu: &'static Gpu,
    graph: sys::CUgraph,
    replay: sys::CUgraphExec,
}

// SAFETY: handles of the driver, used by one thread at a time, that of the run.
unsafe impl Send for Recording {}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            // SAFETY: the recording's own handles; what fails here has failed before.
            let _ = unsafe { result::graph::exec_destroy(self.replay) };
            // SAFETY: as above.
            let _ = unsafe { result::graph::destroy(self.graph) };
        }
    }
}

impl Queue {
    fn launch(&self, launches: &[Launch]) -> Result<(), DeviceError> {
        for launch in launches {
            let function = *self
                .gpu
                .kernels
                .get(launch.kernel)
                .ok_or_else(|| DeviceError::Failed(format!("there is no kernel {}", launch.kernel)))?;
            // Little end first: a smaller argument is the first bytes of its word.
            let mut words: Vec<u64> = launch.args.iter().map(|arg| arg.bits()).collect();
            let mut pointers: Vec<*mut c_void> = words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
            let (grid, block) = ((launch.blocks, 1, 1), (THREADS as u32, 1, 1));
            // SAFETY: the arguments are of the number and types that the kernel declares, as the tests of the same launches on
            // the host check, and are copied before the call returns; buffers live until the run has waited for them.
            unsafe { result::launch_kernel(function, grid, block, 0, self.stream, &mut pointers) }.map_err(failed)?;
        }
        Ok(())
    }

    /// Records launches instead of running them.
    fn record(&self, launches: &[Launch]) -> Result<Recording, DeviceError> {
        // SAFETY: the stream is the queue's own, and what begins here ends here. Other threads' calls are their own.
        unsafe {
            let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            result::stream::begin_capture(self.stream, mode).map_err(failed)?;
            let launched = self.launch(launches);
            let graph = result::stream::end_capture(self.stream).map_err(failed)?;
            if graph.is_null() {
                return Err(DeviceError::Failed("the GPU recorded nothing".into()));
            }
            let replay = launched
                .and_then(|()| result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0)).map_err(failed));
            match replay {
                Ok(replay) => Ok(Recording { gpu: self.gpu, graph, replay }),
                Err(error) => {
                    let _ = result::graph::destroy(graph);
                    Err(error)
                }
            }
        }
    }
}

impl Device for Queue {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn allocate(&self, bytes: usize) -> Result<u64, DeviceError> {
        self.gpu.enter()?;
        // SAFETY: the room is not read before something is written to it.
        unsafe { result::malloc_sync(bytes) }.map_err(|error| match failed(error) {
            DeviceError::OutOfMemory(_) => {
                let (free, total) = result::mem_get_info().unwrap_or_default();
                DeviceError::OutOfMemory(format!(
                    "{bytes} bytes of GPU memory: {free} of {total} are free; use a smaller hidden, fewer layers or fewer \
                     jobs at a time, or SET bonnet.device = 'cpu'"
                ))
            }
            error => error,
        })
    }

    fn free(&self, address: u64, _bytes: usize) {
        if self.gpu.enter().is_ok() {
            // SAFETY: `allocate` gave it, and freeing waits for what still runs.
            let _ = unsafe { result::free_sync(address) };
        }
    }

    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.gpu.enter()?;
        // SAFETY: the caller's buffer has room; from memory that is not pinned the bytes are taken before the call returns.
        unsafe { result::memcpy_htod_async(to, bytes, self.stream) }.map_err(failed)
    }

    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.gpu.enter()?;
        // SAFETY: the caller's buffer has so many bytes, and they are waited for.
        unsafe {
            let copied = result::memcpy_dtoh_async(bytes, from, self.stream).map_err(failed);
            result::stream::synchronize(self.stream).map_err(failed)?;
            copied
        }
    }

    fn run(&self, tape: &mut Tape) -> Result<(), DeviceError> {
        self.gpu.enter()?;
        let kept = tape.kept.take().and_then(|kept: Box<dyn Any + Send>| kept.downcast::<Kept>().ok());
        let kept = match kept.map(|kept| *kept) {
            Some(Kept::Launched) if tape.launches.len() > 1 => {
                self.record(&tape.launches).map_or(Kept::Unrecorded, Kept::Recorded)
            }
            Some(Kept::Recorded(recording)) => Kept::Recorded(recording),
            Some(_) => Kept::Unrecorded,
            None => Kept::Launched,
        };
        let result = match &kept {
            // SAFETY: the recording is the tape's own, made on this GPU.
            Kept::Recorded(recording) => {
                unsafe { result::graph::launch(recording.replay, self.stream) }.map_err(failed)
            }
            _ => self.launch(&tape.launches),
        };
        tape.kept = Some(Box::new(kept));
        result
    }
}
