//! One generic body, compiled for several instruction sets and chosen at run time.
//!
//! A body is written as loops over short arrays that the compiler turns into vector instructions. Its lanes never mix in
//! an order that depends on the vector width, so AVX2 and AVX-512 give the same bits; a machine without fused
//! multiply-add gives others.

/// An instruction set.
pub trait Vectors: Copy {
    /// `a * b + c`, fused where the machine can.
    fn fma(a: f32, b: f32, c: f32) -> f32;
}

/// Fused multiply-add is an instruction.
#[derive(Debug, Clone, Copy)]
pub struct Fused;

/// Fused multiply-add would be a function call: multiply, then add.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Vectors for Fused {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Vectors for Plain {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// A kernel with its arguments. `run` must be `#[inline(always)]`, and so must everything it calls: that is what compiles
/// it for the chosen instruction set.
pub trait Body {
    /// What the kernel returns.
    type Output;
    /// The kernel.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// Runs a body with the best instruction set up to AVX2: for kernels that are bound by memory, where wider registers
/// were measured to be no faster.
#[inline]
pub fn run<B: Body>(body: B) -> B::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the features were detected.
            return unsafe { avx2(body) };
        }
        body.run::<Plain>()
    }
    #[cfg(target_arch = "aarch64")]
    {
        body.run::<Fused>()
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        body.run::<Plain>()
    }
}

/// Runs a body with the best instruction set up to AVX-512: for kernels that are bound by arithmetic.
#[inline]
pub fn run_wide<B: Body>(body: B) -> B::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("fma") {
        // SAFETY: the features were detected.
        return unsafe { avx512(body) };
    }
    run(body)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<B: Body>(body: B) -> B::Output {
    body.run::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn avx512<B: Body>(body: B) -> B::Output {
    body.run::<Fused>()
}

/// Eight lanes.
pub type Lanes = [f32; 8];

/// `acc + a * x` lane by lane.
#[inline(always)]
pub fn axpy<V: Vectors>(a: f32, x: &[f32], acc: &mut Lanes) {
    let x: &Lanes = x.first_chunk().unwrap_or(&[0.0; 8]);
    for c in 0..8 {
        acc[c] = V::fma(a, x[c], acc[c]);
    }
}
