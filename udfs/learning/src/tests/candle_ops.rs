//! The kernels as candle operations with gradients, so that the tests can hold them to the same formulas composed under
//! candle's autograd.

use std::sync::Arc;

use bonnet_graph::{Reservation, Unmonitored};
use candle_core::{CpuStorage, CustomOp1, CustomOp3, DType, Error, Layout, Result, Shape, Tensor, bail};

use crate::features::SparseRows;
use crate::kernels::RowSet;
use crate::kernels::attention::{self, Attend, BackwardSources};
use crate::kernels::elementwise::Finish;
use crate::kernels::sparse::{Mask, Own, Product};
use crate::network::Operator;
use crate::random::Dropout;

/// `x -> M x` for a constant sparse matrix: messages along edges, or sparse features times weights. `x` is `columns x width`,
/// `f32` or `f64`, contiguous. `f32` with a width that is a multiple of 8 runs on the fused kernel.
#[derive(Debug, Clone)]
pub struct SparseProduct {
    matrix: Arc<SparseRows>,
    transposed: Arc<SparseRows>,
}

impl SparseProduct {
    /// The operation of a matrix. O(entries), for the transposed matrix of the gradient.
    pub fn new(matrix: Arc<SparseRows>) -> Self {
        let transposed = Arc::new(matrix.transposed(&RowSet::all(matrix.n_rows())));
        Self { matrix, transposed }
    }

    /// Applies the operation.
    ///
    /// # Errors
    /// If the shape, the type or the device does not fit.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op1(self.clone())
    }
}

impl CustomOp1 for SparseProduct {
    fn name(&self) -> &'static str {
        "sparse-product"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (rows, width) = layout.shape().dims2()?;
        if rows != self.matrix.n_columns() {
            let (n, m) = (self.matrix.n_rows(), self.matrix.n_columns());
            bail!("a sparse matrix of {n} x {m} cannot multiply one of {rows} x {width}");
        }
        let n = self.matrix.n_rows();
        let (from, to) = contiguous(layout)?;
        let storage = match storage {
            CpuStorage::F32(x) if width > 0 && width.is_multiple_of(8) => {
                let mut out = vec![0f32; n * width];
                let (matrix, finish) = (self.matrix.csr(), Finish::NOTHING);
                Product { matrix, mask: Mask::None, x: &x[from..to], stride: width, width, own: Own::Nothing, finish }
                    .run(&RowSet::all(n), &mut out, &Unmonitored)
                    .map_err(Error::wrap)?;
                CpuStorage::F32(out)
            }
            CpuStorage::F32(x) => {
                let x: Vec<f64> = x[from..to].iter().map(|&x| f64::from(x)).collect();
                CpuStorage::F32(product_f64(&self.matrix, &x, width).into_iter().map(|x| x as f32).collect())
            }
            CpuStorage::F64(x) => CpuStorage::F64(product_f64(&self.matrix, &x[from..to], width)),
            _ => bail!("a sparse product takes f32 or f64"),
        };
        Ok((storage, Shape::from((n, width))))
    }

    fn bwd(&self, _arg: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let transposed = Self { matrix: Arc::clone(&self.transposed), transposed: Arc::clone(&self.matrix) };
        Ok(Some(transposed.apply(gradient)?))
    }
}

fn product_f64(matrix: &SparseRows, x: &[f64], width: usize) -> Vec<f64> {
    let mut out = vec![0f64; matrix.n_rows() * width];
    for row in 0..matrix.n_rows() {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            for c in 0..width {
                out[row * width + c] += f64::from(value) * x[column as usize * width + c];
            }
        }
    }
    out
}

fn contiguous(layout: &Layout) -> Result<(usize, usize)> {
    layout.contiguous_offsets().ok_or_else(|| Error::Msg("the tensor must be contiguous".into()))
}

/// `(x, source, target) -> attention(x)` over the edges of a graph (see [`attention`]), `f32`: `x` is `nodes x (heads * dim)`,
/// the two attention vectors have `heads * dim` values, `dim` is a multiple of 8.
#[derive(Debug, Clone)]
pub struct EdgeAttention {
    operator: Arc<Operator>,
    transposed: Arc<Operator>,
    shape: attention::Shape,
    dropout: Option<Dropout>,
}

impl EdgeAttention {
    /// The operation along the edges of [`Operator::attention`]. O(edges), for the edges by source of the gradient.
    ///
    /// # Errors
    /// If the shape has no head, too many, or a `dim` that is no multiple of 8.
    pub fn new(operator: Arc<Operator>, shape: attention::Shape, dropout: Option<Dropout>) -> Result<Self> {
        if shape.heads == 0 || shape.heads > attention::MAX_HEADS || shape.dim == 0 || !shape.dim.is_multiple_of(8) {
            bail!("attention takes 1 to {} heads of a multiple of 8 columns, not {shape:?}", attention::MAX_HEADS);
        }
        let mut reservation = Reservation::new(&Unmonitored, 0).map_err(Error::wrap)?;
        let all = RowSet::all(operator.n_rows());
        let transposed = Arc::new(operator.transposed_rows(&all, &mut reservation).map_err(Error::wrap)?);
        Ok(Self { operator, transposed, shape, dropout })
    }

    /// Applies the operation.
    ///
    /// # Errors
    /// If the shape, the type or the device does not fit.
    pub fn apply(&self, x: &Tensor, source: &Tensor, target: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op3(&source.contiguous()?, &target.contiguous()?, self.clone())
    }

    /// The scores, the coefficients and the output.
    fn forward(&self, x: &[f32], source: &[f32], target: &[f32]) -> Result<(Vec<f32>, Vec<f32>, Vec<f32>)> {
        let (shape, n) = (self.shape, self.operator.n_rows());
        if x.len() != n * shape.stride() || source.len() != shape.stride() || target.len() != shape.stride() {
            let (x, s, t) = (x.len(), source.len(), target.len());
            bail!("attention over {n} nodes with {shape:?} got {x}, {s} and {t} values");
        }
        let set = RowSet::all(n);
        let mut scores = vec![0f32; 2 * n * shape.heads];
        attention::scores(&set, shape, x, source, target, &mut scores, &Unmonitored).map_err(Error::wrap)?;
        let mut alpha = vec![0f32; self.operator.n_entries() * shape.heads];
        let mut out = vec![0f32; x.len()];
        let attend = Attend { shape, edges: self.operator.incoming(), x, scores: &scores, dropout: self.dropout };
        attend.run(&set, Finish::NOTHING, &mut alpha, &mut out, &Unmonitored).map_err(Error::wrap)?;
        Ok((scores, alpha, out))
    }
}

impl CustomOp3 for EdgeAttention {
    fn name(&self) -> &'static str {
        "edge-attention"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        source: &CpuStorage,
        source_layout: &Layout,
        target: &CpuStorage,
        target_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (CpuStorage::F32(x), CpuStorage::F32(source), CpuStorage::F32(target)) = (x, source, target) else {
            bail!("edge attention takes f32");
        };
        let part = |values, layout| -> Result<&[f32]> {
            let values: &Vec<f32> = values;
            contiguous(layout).map(|(from, to)| &values[from..to])
        };
        let (x, source) = (part(x, x_layout)?, part(source, source_layout)?);
        let (_, _, out) = self.forward(x, source, part(target, target_layout)?)?;
        Ok((CpuStorage::F32(out), Shape::from((self.operator.n_rows(), self.shape.stride()))))
    }

    fn bwd(
        &self,
        x: &Tensor,
        source: &Tensor,
        target: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let values = |tensor: &Tensor| tensor.flatten_all()?.to_dtype(DType::F32)?.to_vec1::<f32>();
        let (x_values, source_values, target_values) = (values(x)?, values(source)?, values(target)?);
        let gradient = values(gradient)?;
        let (scores, mut alpha, _) = self.forward(&x_values, &source_values, &target_values)?;
        let (shape, n) = (self.shape, self.operator.n_rows());
        let set = RowSet::all(n);
        let (mut d_scores, mut d_target) = (vec![0f32; alpha.len()], vec![0f32; n * shape.heads]);
        let (mut d_x, mut d_source) = (vec![0f32; x_values.len()], vec![0f32; n * shape.heads]);
        let edges = self.operator.incoming();
        let attend = Attend { shape, edges, x: &x_values, scores: &scores, dropout: self.dropout };
        attention::backward_targets(attend, &set, &gradient, &mut alpha, &mut d_scores, &mut d_target, &Unmonitored)
            .map_err(Error::wrap)?;
        BackwardSources {
            shape,
            edges: self.transposed.outgoing(),
            gradient: &gradient,
            alpha: &alpha,
            d_scores: &d_scores,
            d_target: &d_target,
            source: &source_values,
            target: &target_values,
            add: false,
        }
        .run(&set, &mut d_x, &mut d_source, &Unmonitored)
        .map_err(Error::wrap)?;
        let stride = shape.stride();
        let mut partials = vec![0f32; set.n_blocks() * 2 * stride];
        let mut vectors = vec![0f32; 2 * stride];
        attention::vector_gradients(
            &set,
            shape,
            &x_values,
            &d_source,
            &d_target,
            &mut partials,
            &mut vectors,
            &Unmonitored,
        )
        .map_err(Error::wrap)?;
        let target_gradient = vectors.split_off(stride);
        Ok((
            Some(Tensor::from_vec(d_x, x.shape(), x.device())?),
            Some(Tensor::from_vec(vectors, source.shape(), source.device())?),
            Some(Tensor::from_vec(target_gradient, target.shape(), target.device())?),
        ))
    }
}
