//! The states of aggregates as bytes: numbers in their own bits, so that nothing is rounded on the way.

use bonnet_sql::execution_error;
use datafusion::common::Result;

use crate::{Landscape, Point};

/// Writes a state.
#[derive(Default)]
pub(super) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }

    pub fn integers(&mut self, values: &[i64]) {
        self.count(values.len());
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    pub fn numbers(&mut self, values: impl ExactSizeIterator<Item = f64>) {
        self.count(values.len());
        self.0.extend(values.flat_map(f64::to_le_bytes));
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    pub fn points(&mut self, points: &[Point]) {
        self.count(points.len());
        for point in points {
            self.count(point.dim as usize);
            self.0.extend(point.birth.to_le_bytes());
            self.0.extend(point.death.to_le_bytes());
        }
    }

    pub fn landscape(&mut self, landscape: &Landscape) {
        self.count(landscape.ends().len());
        self.0.reserve(8 * landscape.ends().len() + 16 * landscape.corners().len());
        for corners in landscape.functions() {
            self.count(corners.len());
            for &(x, y) in corners {
                self.0.extend_from_slice(&x.to_le_bytes());
                self.0.extend_from_slice(&y.to_le_bytes());
            }
        }
    }
}

/// Reads what a [`Writer`] wrote, in the same order.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    fn eight(&mut self) -> Result<[u8; 8]> {
        let Some((head, rest)) = self.0.split_first_chunk() else { return Err(damaged()) };
        self.0 = rest;
        Ok(*head)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&mut self) -> Result<usize> {
        Ok(u64::from_le_bytes(self.eight()?) as usize)
    }

    pub fn number(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.eight()?))
    }

    pub fn integers(&mut self) -> Result<Vec<i64>> {
        let count = self.count()?;
        (0..count).map(|_| Ok(i64::from_le_bytes(self.eight()?))).collect()
    }

    pub fn numbers(&mut self) -> Result<Vec<f64>> {
        let count = self.count()?;
        (0..count).map(|_| self.number()).collect()
    }

    pub fn text(&mut self) -> Result<String> {
        let count = self.count()?;
        let Some((text, rest)) = self.0.split_at_checked(count) else { return Err(damaged()) };
        self.0 = rest;
        String::from_utf8(text.to_vec()).map_err(|_| damaged())
    }

    pub fn points(&mut self) -> Result<Vec<Point>> {
        let count = self.count()?;
        (0..count)
            .map(|_| Ok(Point { dim: self.count()? as u32, birth: self.number()?, death: self.number()? }))
            .collect()
    }

    pub fn landscape(&mut self) -> Result<Landscape> {
        let count = self.count()?;
        let mut landscape = Landscape::default();
        for _ in 0..count {
            landscape.begin();
            for _ in 0..self.count()? {
                landscape.push((self.number()?, self.number()?));
            }
        }
        Ok(landscape)
    }
}

fn damaged() -> datafusion::common::DataFusionError {
    execution_error("a partition's state is damaged")
}
