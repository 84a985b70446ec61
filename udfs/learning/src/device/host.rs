//! The kernels on the host: `host.cpp`, compiled once a test run where there is a C++ compiler.

use std::ffi::{CString, c_char, c_int, c_void};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Arg, Device, DeviceError, KERNELS, Tape};

type Launch = unsafe extern "C" fn(*const c_char, u32, *const u64, *const u8, usize) -> c_int;
type Alloc = unsafe extern "C" fn(usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, usize);

struct Library {
    launch: Launch,
    alloc: Alloc,
    free: Free,
}

#[cfg(unix)]
mod dynamic {
    use super::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
        pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    pub const NOW: c_int = 2;
}

/// The library, or why there is none: no compiler. A text that does not compile is a failure, not a reason to skip.
fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(String::as_str)
}

#[cfg(not(unix))]
fn load() -> Result<Library, String> {
    Err("kernels run on the host under Unix only".into())
}

#[cfg(unix)]
fn load() -> Result<Library, String> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, target) = (folder.path().join("host.cpp"), folder.path().join("kernels.so"));
    // The texts travel with the tests, which may run elsewhere.
    for (name, text) in [("host.cpp", include_str!("host.cpp")), ("kernels.cu", include_str!("kernels.cu"))] {
        std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
    }
    let output = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-U_FORTIFY_SOURCE", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"])
        // Checks of jumps know nothing of several stacks.
        .args(["-Wno-unused-function", "-Wno-unknown-pragmas", "-o"])
        .args([&target, &source])
        .output()
        .map_err(|error| format!("no C++ compiler: {compiler}: {error}"))?;
    assert!(output.status.success(), "host.cpp: {}", String::from_utf8_lossy(&output.stderr));
    let c_string = |text: &str| CString::new(text).unwrap();
    let name = c_string(target.to_str().unwrap());
    // SAFETY: the library was just made, and its functions have these types.
    unsafe {
        let library = dynamic::dlopen(name.as_ptr(), dynamic::NOW);
        assert!(!library.is_null(), "{} does not load", target.display());
        let symbol = |name: &str| {
            let symbol = dynamic::dlsym(library, c_string(name).as_ptr());
            assert!(!symbol.is_null(), "{name}");
            symbol
        };
        Ok(Library {
            launch: std::mem::transmute::<*mut c_void, Launch>(symbol("bonnet_launch")),
            alloc: std::mem::transmute::<*mut c_void, Alloc>(symbol("bonnet_alloc")),
            free: std::mem::transmute::<*mut c_void, Free>(symbol("bonnet_free")),
        })
    }
}

/// A device that is the host, of so many bytes.
pub(crate) struct HostDevice {
    library: &'static Library,
    limit: usize,
    used: AtomicUsize,
    launches: AtomicUsize,
}

impl std::fmt::Debug for HostDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostDevice").field("used", &self.used).finish_non_exhaustive()
    }
}

impl HostDevice {
    /// None without a C++ compiler, with a line that says so; a failure where every test is required.
    pub fn new(limit: usize) -> Option<Self> {
        match library() {
            Ok(library) => Some(Self { library, limit, used: AtomicUsize::new(0), launches: AtomicUsize::new(0) }),
            Err(why) => {
                assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{why}");
                eprintln!("skipped: {why}");
                None
            }
        }
    }

    /// The bytes that are held now.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::SeqCst)
    }

    /// The kernels that were launched so far.
    pub fn launches(&self) -> usize {
        self.launches.load(Ordering::SeqCst)
    }
}

impl Device for HostDevice {
    fn name(&self) -> &'static str {
        "host"
    }

    fn allocate(&self, bytes: usize) -> Result<u64, DeviceError> {
        let used = self.used.fetch_add(bytes, Ordering::SeqCst);
        // SAFETY: the library's own function.
        let address = if used + bytes > self.limit { 0 } else { unsafe { (self.library.alloc)(bytes) as u64 } };
        if address == 0 {
            self.used.fetch_sub(bytes, Ordering::SeqCst);
            return Err(DeviceError::OutOfMemory(format!("{bytes} bytes beside {used} of {}", self.limit)));
        }
        Ok(address)
    }

    fn free(&self, address: u64, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::SeqCst);
        // SAFETY: `allocate` gave it.
        unsafe { (self.library.free)(address as *mut c_void, bytes) };
    }

    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: the caller's buffer has room for the bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        Ok(())
    }

    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the caller's buffer has so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn run(&self, tape: &mut Tape) -> Result<(), DeviceError> {
        for launch in &tape.launches {
            assert!(KERNELS.contains(&launch.kernel), "{}", launch.kernel);
            assert!(launch.blocks > 0, "{} has no blocks", launch.kernel);
            let words: Vec<u64> = launch.args.iter().map(|arg| arg.bits()).collect();
            let kind = |arg: &Arg| match arg {
                Arg::Address(_) => 0u8,
                Arg::Word(_) => 1,
                Arg::Real(_) => 2,
                Arg::Long(_) => 3,
                Arg::Double(_) => 4,
            };
            let kinds: Vec<u8> = launch.args.iter().map(kind).collect();
            let name = CString::new(launch.kernel).unwrap();
            // SAFETY: as safe as the kernel: that is what is tested.
            let code = unsafe {
                (self.library.launch)(name.as_ptr(), launch.blocks, words.as_ptr(), kinds.as_ptr(), words.len())
            };
            let why = ["", "is not in host.cpp", "takes other arguments", "has threads that part at a barrier"];
            assert_eq!(code, 0, "{} {}: {:?}", launch.kernel, why[code as usize], launch.args);
            self.launches.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}
