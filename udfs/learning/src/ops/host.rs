//! The kernels on the host: `host.cpp`, compiled once a test run where there is a C++ compiler.

use std::ffi::{CString, c_char, c_int, c_void};
use std::process::Command;
use std::sync::OnceLock;

use super::kernel::{Arg, DeviceInput, KERNELS, Kernel, Launch};
use super::update::Update;

type Start = unsafe extern "C" fn(*const c_char, u32, *const u64, *const u8, usize) -> c_int;
type Alloc = unsafe extern "C" fn(usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, usize);

struct Library {
    launch: Start,
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
    // Other compilers warn of other things, which are for the gate to find, not for a user's tests.
    let warnings: &[&str] = match std::env::var_os("BONNET_REQUIRE_ALL") {
        Some(_) => &["-Wall", "-Wextra", "-Werror"],
        None => &["-w"],
    };
    let output = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-U_FORTIFY_SOURCE", "-shared", "-fPIC"])
        .args(warnings)
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
            launch: std::mem::transmute::<*mut c_void, Start>(symbol("bonnet_launch")),
            alloc: std::mem::transmute::<*mut c_void, Alloc>(symbol("bonnet_alloc")),
            free: std::mem::transmute::<*mut c_void, Free>(symbol("bonnet_free")),
        })
    }
}

/// Room in which kernels run: it ends where a page that cannot be touched begins.
struct Room {
    library: &'static Library,
    address: u64,
    bytes: usize,
}

impl Room {
    fn new(library: &'static Library, bytes: usize) -> Self {
        // SAFETY: the library's own function.
        let address = unsafe { (library.alloc)(bytes) } as u64;
        assert!(address != 0, "no room for {bytes} bytes");
        Self { library, address, bytes }
    }

    fn holding(library: &'static Library, values: &[f32]) -> Self {
        let room = Self::new(library, size_of_val(values));
        // SAFETY: the room has so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), room.address as *mut f32, values.len()) };
        room
    }

    fn read(&self) -> Vec<f32> {
        // SAFETY: the room has so many bytes, and every pattern of bits is a number.
        unsafe { std::slice::from_raw_parts(self.address as *const f32, self.bytes / size_of::<f32>()) }.to_vec()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: `alloc` gave it.
        unsafe { (self.library.free)(self.address as *mut c_void, self.bytes) };
    }
}

/// Runs launches one after the other.
fn start(library: &Library, launches: &[Launch]) {
    for launch in launches {
        assert!(KERNELS.contains(&launch.kernel), "{}", launch.kernel);
        assert!(launch.blocks > 0, "{} has no blocks", launch.kernel);
        let (words, kinds): (Vec<u64>, Vec<u8>) = launch.args.iter().map(|arg| word(*arg)).unzip();
        let name = CString::new(launch.kernel).unwrap();
        // SAFETY: as safe as the kernel: that is what is tested.
        let code =
            unsafe { (library.launch)(name.as_ptr(), launch.blocks, words.as_ptr(), kinds.as_ptr(), words.len()) };
        let why = ["", "is not in host.cpp", "takes other arguments", "has threads that part at a barrier"];
        assert_eq!(code, 0, "{} {}: {:?}", launch.kernel, why[code as usize], launch.args);
    }
}

/// The bits of an argument, and the number of its type.
fn word(arg: Arg) -> (u64, u8) {
    match arg {
        Arg::Address(bits) => (bits, 0),
        Arg::Word(word) => (u64::from(word), 1),
        Arg::Real(x) => (u64::from(x.to_bits()), 2),
        Arg::Long(bits) => (bits, 3),
    }
}

/// Where the kernels are compiled; none without a C++ compiler, with a line that says so; a failure where every test is
/// required.
fn compiled() -> Option<&'static Library> {
    match library() {
        Ok(library) => Some(library),
        Err(why) => {
            assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{why}");
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// The result of an operation's kernels on inputs, with its shape.
pub(super) fn run(kernel: &dyn Kernel, inputs: &[(&[f32], &[usize])]) -> Option<(Vec<f32>, Vec<usize>)> {
    let library = compiled()?;
    let rooms: Vec<Room> = inputs.iter().map(|(values, _)| Room::holding(library, values)).collect();
    let given = rooms.iter().zip(inputs).map(|(room, (_, dims))| DeviceInput { address: room.address, dims });
    let given: Vec<DeviceInput<'_>> = given.collect();
    let shape = kernel.shape(&given);
    let out = Room::new(library, 4 * shape.elem_count());
    start(library, &kernel.launches(&given, out.address).unwrap());
    Some((out.read(), shape.into_dims()))
}

/// The state of an optimiser after a step by the kernels.
pub(super) fn update(update: &Update, gradient: &[f32], state: &[f32]) -> Option<Vec<f32>> {
    let library = compiled()?;
    let (g, state) = (Room::holding(library, gradient), Room::holding(library, state));
    start(library, update.launch(gradient.len(), g.address, state.address).as_slice());
    Some(state.read())
}
