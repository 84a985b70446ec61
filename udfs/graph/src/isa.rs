//! The instruction sets that inner loops are compiled for, chosen when they run.

use std::sync::LazyLock;

/// An instruction set that this processor has. All give the same bits; they differ in speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(InstructionSet);

/// What an [`Isa`] can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// The instructions that every processor of the target has.
    Portable,
    /// x86-64 with AVX2 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512 and its population counts.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The fastest that this processor has.
    pub fn detect() -> Self {
        static FASTEST: LazyLock<Isa> =
            LazyLock::new(|| Isa::available().pop().unwrap_or(Isa(InstructionSet::Portable)));
        *FASTEST
    }

    /// All that this processor has, slowest first.
    pub fn available() -> Vec<Self> {
        let mut sets = vec![Self(InstructionSet::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt");
            if avx2 {
                sets.push(Self(InstructionSet::Avx2));
            }
            if avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vpopcntdq")
                && is_x86_feature_detected!("avx512bitalg")
            {
                sets.push(Self(InstructionSet::Avx512));
            }
        }
        sets
    }

    /// Which it is.
    pub fn instruction_set(self) -> InstructionSet {
        self.0
    }
}

/// Defines a function that runs `$body` (an `#[inline(always)]` function) compiled for the given [`Isa`], its first argument.
/// Generic parameters stand in square brackets.
#[macro_export]
macro_rules! compiled_for_each_isa {
    ($(#[$meta:meta])* fn $name:ident$([$($generics:tt)*])?($($arg:ident: $type:ty),* $(,)?) = $body:path) => {
        $(#[$meta])*
        fn $name$(<$($generics)*>)?(isa: $crate::isa::Isa, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
            fn avx2$(<$($generics)*>)?($($arg: $type),*) {
                $body($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg")]
            fn avx512$(<$($generics)*>)?($($arg: $type),*) {
                $body($($arg),*)
            }
            match isa.instruction_set() {
                $crate::isa::InstructionSet::Portable => $body($($arg),*),
                // SAFETY: an `Isa` comes from `Isa::available`, which found every one of the features on this processor.
                #[cfg(target_arch = "x86_64")]
                $crate::isa::InstructionSet::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::isa::InstructionSet::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}
