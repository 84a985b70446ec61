//! One generic body, compiled for several instruction sets and chosen at run time.
//!
//! A body is written as loops over short arrays that the compiler turns into vector instructions. Its lanes never mix in
//! an order that depends on the vector width, so AVX2 and AVX-512 give the same bits; a machine without fused
//! multiply-add gives others.

/// An instruction set.
pub trait Vectors: Copy {
    /// Whether there are 32 registers of eight numbers, not 16: room for tiles of twice the size.
    const MANY: bool = false;

    /// Eight numbers in a register, for kernels that are bound by arithmetic: the instructions that the compiler chooses for
    /// arrays there differ between its versions.
    type Eight: Copy;

    /// The same number eight times.
    fn splat(x: f32) -> Self::Eight;

    /// Reads eight numbers.
    fn load(x: &Lanes) -> Self::Eight;

    /// Writes eight numbers.
    fn store(x: Self::Eight, to: &mut Lanes);

    /// `a * b + c` lane by lane, rounded as [`Vectors::fma`].
    fn fma_eight(a: Self::Eight, b: Self::Eight, c: Self::Eight) -> Self::Eight;

    /// `a * b + c`, fused where the machine can.
    fn fma(a: f32, b: f32, c: f32) -> f32;

    /// Asks for the cache line of a value that is read soon.
    #[inline(always)]
    fn ask<T>(_: &T) {}
}

/// Fused multiply-add is an instruction. Its methods are called only after the processor's features were checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fused;

/// Fused multiply-add is an instruction, and there are twice as many registers. As [`Fused`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct FusedMany;

/// Fused multiply-add would be a function call: multiply, then add.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

/// Registers as arrays.
macro_rules! arrays {
    () => {
        type Eight = Lanes;

        #[inline(always)]
        fn splat(x: f32) -> Lanes {
            [x; 8]
        }

        #[inline(always)]
        fn load(x: &Lanes) -> Lanes {
            *x
        }

        #[inline(always)]
        fn store(x: Lanes, to: &mut Lanes) {
            *to = x;
        }

        #[inline(always)]
        fn fma_eight(a: Lanes, b: Lanes, mut c: Lanes) -> Lanes {
            for lane in 0..8 {
                c[lane] = Self::fma(a[lane], b[lane], c[lane]);
            }
            c
        }
    };
}

/// Registers of AVX.
#[cfg(target_arch = "x86_64")]
macro_rules! registers {
    () => {
        type Eight = std::arch::x86_64::__m256;

        #[inline(always)]
        fn ask<T>(x: &T) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: it reads nothing, and every machine has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(x).cast()) }
        }

        #[inline(always)]
        fn splat(x: f32) -> Self::Eight {
            // SAFETY: the processor's features were checked.
            unsafe { std::arch::x86_64::_mm256_set1_ps(x) }
        }

        #[inline(always)]
        fn load(x: &Lanes) -> Self::Eight {
            // SAFETY: the processor's features were checked, and there are eight numbers.
            unsafe { std::arch::x86_64::_mm256_loadu_ps(x.as_ptr()) }
        }

        #[inline(always)]
        fn store(x: Self::Eight, to: &mut Lanes) {
            // SAFETY: the processor's features were checked, and there is room for eight numbers.
            unsafe { std::arch::x86_64::_mm256_storeu_ps(to.as_mut_ptr(), x) }
        }

        #[inline(always)]
        fn fma_eight(a: Self::Eight, b: Self::Eight, c: Self::Eight) -> Self::Eight {
            // SAFETY: the processor's features were checked.
            unsafe { std::arch::x86_64::_mm256_fmadd_ps(a, b, c) }
        }
    };
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! registers {
    () => {
        arrays!();
    };
}

impl Vectors for Fused {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    registers!();
}

impl Vectors for FusedMany {
    const MANY: bool = true;

    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    registers!();
}

impl Vectors for Plain {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }

    arrays!();
}

/// A kernel with its arguments. `run` must be `#[inline(always)]`, and so must everything it calls: that is what compiles
/// it for the chosen instruction set.
pub trait Body {
    /// The result of the kernel.
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
    body.run::<FusedMany>()
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
