//! Compiles the kernels for NVIDIA GPUs to PTX, under the feature `cuda` alone.

use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// The oldest GPUs that the kernels run on; the driver compiles them for the one that it finds.
const ARCHITECTURE: &str = "compute_75";

fn main() {
    println!("cargo::rerun-if-changed=src/ops/kernels.cu");
    for variable in ["NVCC", "CUDA_HOME"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if std::env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return;
    }
    let Some(folder) = std::env::var_os("OUT_DIR") else { refuse("OUT_DIR is not set: build with cargo") };
    let nvcc = match (std::env::var_os("NVCC"), std::env::var_os("CUDA_HOME")) {
        (Some(nvcc), _) => PathBuf::from(nvcc),
        (None, Some(home)) => Path::new(&home).join("bin/nvcc"),
        (None, None) => PathBuf::from("nvcc"),
    };
    let output = Command::new(&nvcc)
        .args(["-std=c++17", "-O3", "-ptx", &format!("-arch={ARCHITECTURE}"), "-o"])
        .arg(Path::new(&folder).join("kernels.ptx"))
        .arg("src/ops/kernels.cu")
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            refuse(&format!("{} could not compile src/ops/kernels.cu: {text}", nvcc.display()))
        }
        Err(error) => refuse(&format!(
            "the feature cuda needs nvcc of the CUDA toolkit, but {} does not run ({error}): set NVCC or CUDA_HOME, or \
             build without the feature",
            nvcc.display()
        )),
    }
}

fn refuse(why: &str) -> ! {
    println!("cargo::error={}", why.replace('\n', " | "));
    exit(1)
}
