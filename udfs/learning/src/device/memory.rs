//! The buffers of a run.

use super::{Device, DeviceError};

/// Numbers whose bytes mean the same on the host and on a device.
///
/// # Safety
/// A type without padding for which every pattern of bits is a value.
pub unsafe trait Plain: Copy + Default {}

// SAFETY: numbers.
unsafe impl Plain for u32 {}
// SAFETY: numbers.
unsafe impl Plain for f32 {}
// SAFETY: numbers.
unsafe impl Plain for f64 {}

fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: as many bytes as the values have, without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as many bytes as the values have; whatever is written is a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// A place on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    address: u64,
    bytes: usize,
}

impl Buffer {
    /// Where it starts.
    pub fn address(self) -> u64 {
        self.address
    }

    /// What follows its first `len` numbers.
    pub fn after<T: Plain>(self, len: usize) -> Self {
        let skipped = len * size_of::<T>();
        debug_assert!(skipped <= self.bytes);
        Self { address: self.address + skipped as u64, bytes: self.bytes - skipped }
    }
}

/// All buffers of a run; they are given back with it.
#[derive(Debug)]
pub struct Memory<'d> {
    device: &'d dyn Device,
    buffers: Vec<Buffer>,
    bytes: usize,
}

impl<'d> Memory<'d> {
    /// No buffers yet.
    pub fn new(device: &'d dyn Device) -> Self {
        Self { device, buffers: Vec::new(), bytes: 0 }
    }

    /// The device.
    pub fn device(&self) -> &'d dyn Device {
        self.device
    }

    /// The bytes of all buffers.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Room for `len` numbers, which may be anything.
    ///
    /// # Errors
    /// If the device has none.
    pub fn room<T: Plain>(&mut self, len: usize) -> Result<Buffer, DeviceError> {
        // Nothing has an address too.
        let bytes = (len.max(1) * size_of::<T>()).next_multiple_of(16);
        let address = self.device.allocate(bytes)?;
        let buffer = Buffer { address, bytes };
        self.buffers.push(buffer);
        self.bytes += bytes;
        Ok(buffer)
    }

    /// A copy of some numbers.
    ///
    /// # Errors
    /// If the device has no room for them, or fails.
    pub fn hold<T: Plain>(&mut self, values: &[T]) -> Result<Buffer, DeviceError> {
        let buffer = self.room::<T>(values.len())?;
        self.write(buffer, values)?;
        Ok(buffer)
    }

    /// Room for `len` zeros.
    ///
    /// # Errors
    /// If the device has none, or fails.
    pub fn zeros(&mut self, len: usize) -> Result<Buffer, DeviceError> {
        use super::{Arg, Launch, THREADS, Tape};
        let buffer = self.room::<f32>(len)?;
        let args = vec![buffer.into(), Arg::Long(len as u64), Arg::Real(0.0)];
        let launch = Launch { kernel: "fill", blocks: len.div_ceil(THREADS) as u32, args };
        if len > 0 {
            self.device.run(&mut Tape::new(vec![launch]))?;
        }
        Ok(buffer)
    }

    /// Overwrites the first numbers of a buffer.
    ///
    /// # Errors
    /// If the device fails.
    pub fn write<T: Plain>(&self, to: Buffer, values: &[T]) -> Result<(), DeviceError> {
        debug_assert!(size_of_val(values) <= to.bytes);
        if values.is_empty() { Ok(()) } else { self.device.upload(to.address, bytes_of(values)) }
    }

    /// Reads the first numbers of a buffer, after all operations queued before.
    ///
    /// # Errors
    /// If the device fails, now or before.
    pub fn read<T: Plain>(&self, from: Buffer, values: &mut [T]) -> Result<(), DeviceError> {
        debug_assert!(size_of_val(values) <= from.bytes);
        if values.is_empty() { Ok(()) } else { self.device.download(from.address, bytes_of_mut(values)) }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        for buffer in self.buffers.drain(..) {
            self.device.free(buffer.address, buffer.bytes);
        }
    }
}
