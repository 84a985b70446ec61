//! The equations of the models for graphs with heterophily, written out with dense matrices.

use super::*;

/// A model's equations on dense matrices.
pub(super) struct Reference<'a> {
    pub data: &'a GraphData,
    pub options: &'a TrainOptions,
    /// By name, without padding.
    pub parameters: BTreeMap<String, Var>,
    /// The nodes of the loss, and those whose classes are an input.
    pub train: &'a [u32],
    pub given: &'a [u32],
}

fn dense(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Result<Tensor> {
    let values: Vec<f64> = (0..rows * columns).map(|at| f(at / columns.max(1), at % columns.max(1))).collect();
    Tensor::from_vec(values, (rows, columns), &Device::Cpu)
}

impl Reference<'_> {
    fn p(&self, name: impl AsRef<str>) -> &Tensor {
        let name = name.as_ref();
        self.parameters.get(name).unwrap_or_else(|| panic!("no parameter {name} among {:?}", self.parameters.keys()))
    }

    fn has(&self, name: &str) -> bool {
        self.parameters.contains_key(name)
    }

    fn n(&self) -> usize {
        self.data.graph.n_nodes()
    }

    fn linear(&self, x: &Tensor, name: &str) -> Result<Tensor> {
        x.matmul(self.p(format!("{name}.weight")))?.broadcast_add(self.p(format!("{name}.bias")))
    }

    fn x(&self) -> Result<Tensor> {
        let Features::Sparse(features) = self.data.features() else { panic!("the reference takes sparse features") };
        dense(self.n(), features.n_columns(), |v, c| {
            let (columns, values) = features.row(v);
            columns.iter().position(|&column| column as usize == c).map_or(0.0, |at| f64::from(values[at]))
        })
    }

    fn edge(&self, i: usize, j: usize) -> bool {
        self.data.graph().has_edge(i as u32, j as u32)
    }

    fn degree(&self, v: usize) -> f64 {
        self.data.graph().degree(v as u32) as f64
    }

    /// `f(i, j)` on the edges, and on the diagonal if asked.
    fn operator(&self, loops: bool, f: impl Fn(usize, usize) -> f64) -> Result<Tensor> {
        dense(self.n(), self.n(), |i, j| if self.edge(i, j) || (loops && i == j) { f(i, j) } else { 0.0 })
    }

    /// The weight of a message along an edge; 1 for a loop.
    fn weight(&self, i: usize, j: usize) -> f64 {
        match &self.data.weights {
            Some(weights) if self.options.reads_weights() && i != j => weights.of(i as u32, j as u32).unwrap(),
            _ => 1.0,
        }
    }

    fn adjacency(&self) -> Result<Tensor> {
        self.operator(false, |i, j| self.weight(i, j))
    }

    fn symmetric(&self, loops: bool) -> Result<Tensor> {
        let strength = |v| -> f64 { (0..self.n()).filter(|&u| self.edge(u, v)).map(|u| self.weight(u, v)).sum() };
        let d: Vec<f64> = (0..self.n()).map(|v| strength(v) + f64::from(u8::from(loops))).collect();
        self.operator(loops, |i, j| self.weight(i, j) / (d[i] * d[j]).sqrt())
    }

    fn mean(&self) -> Result<Tensor> {
        self.operator(false, |i, _| 1.0 / self.degree(i))
    }

    pub fn logits(&self) -> Result<Tensor> {
        match self.options.model.as_str() {
            "fagcn" => self.fagcn(),
            "acm_gcn" => self.acm_gcn(),
            "fsgnn" => self.fsgnn(),
            "unimp" => self.unimp(),
            "glognn" => self.glognn(),
            "gbk_gnn" => Ok(self.gbk_gnn()?.0),
            "lsgnn" => self.lsgnn(),
            other => panic!("no reference for {other}"),
        }
    }

    /// The mean loss of the training nodes, and what the model adds.
    pub fn loss(&self) -> Result<Tensor> {
        let logits = self.logits()?;
        let log_probability = candle_nn::ops::log_softmax(&logits, 1)?;
        let picked = dense(self.n(), self.data.n_classes, |v, c| {
            f64::from(u8::from(self.train.contains(&(v as u32)) && self.data.labels[v] == Some(c as u32)))
        })?;
        let loss = ((log_probability * picked)?.sum_all()? * (-1.0 / self.train.len() as f64))?;
        if self.options.model == "gbk_gnn" { loss + self.gbk_gnn()?.1 } else { Ok(loss) }
    }

    /// Bo et al. 2021: h <- epsilon h0 + sum_j tanh(g' [h_i, h_j]) / sqrt(d_i d_j) h_j.
    fn fagcn(&self) -> Result<Tensor> {
        let epsilon = self.options.of_model().real("epsilon").unwrap();
        let first = self.linear(&self.x()?, "input")?.relu()?;
        let norm = self.symmetric(false)?;
        let mut h = first.clone();
        for l in 0..self.options.layers {
            let (target, source) = (h.matmul(self.p(format!("{l}.target")))?, h.matmul(self.p(format!("{l}.source")))?);
            let weights = (target.broadcast_add(&source.t()?)?.tanh()? * &norm)?;
            h = ((&first * epsilon)? + weights.matmul(&h)?)?;
        }
        self.linear(&h, "output")
    }

    /// Luan et al. 2022: low-pass, high-pass and identity channel, mixed node by node.
    fn acm_gcn(&self) -> Result<Tensor> {
        let Some(Value::Text(variant)) = self.options.hyperparameters.get("variant") else { panic!() };
        let second = variant.starts_with("acmii");
        let low = self.operator(true, |i, _| 1.0 / (self.degree(i) + 1.0))?;
        let high = (dense(self.n(), self.n(), |i, j| f64::from(u8::from(i == j)))? - &low)?;
        let x = self.x()?;
        let mut h = x.clone();
        for l in 0..self.options.layers {
            let filtered = |name: &str, filter: &Tensor| {
                let product = h.matmul(self.p(format!("{l}.{name}.weight")))?;
                if second { filter.matmul(&product.relu()?) } else { filter.matmul(&product)?.relu() }
            };
            let mut channels = vec![
                ("low", filtered("low", &low)?),
                ("high", filtered("high", &high)?),
                ("identity", h.matmul(self.p(format!("{l}.identity.weight")))?.relu()?),
            ];
            if self.has(&format!("{l}.structure.weight")) {
                let structure = self.adjacency()?.matmul(self.p(format!("{l}.structure.weight")))?.relu()?;
                channels.push(("structure", structure));
            }
            let mut scores = Vec::new();
            for (name, channel) in &channels {
                let mut seen = channel.clone();
                if variant.ends_with('+') {
                    let width = channel.dims2()?.1 as f64;
                    let centred = channel.broadcast_sub(&(channel.sum_keepdim(1)? / width)?)?;
                    let deviation = ((centred.sqr()?.sum_keepdim(1)? / width)? + 1e-5)?.sqrt()?;
                    let (gain, shift) = (self.p(format!("{l}.{name}.gain")), self.p(format!("{l}.{name}.bias")));
                    seen = centred.broadcast_div(&deviation)?.broadcast_mul(gain)?.broadcast_add(shift)?;
                }
                scores.push(candle_nn::ops::sigmoid(&seen.matmul(self.p(format!("{l}.{name}.attention")))?)?);
            }
            let mixed = (Tensor::cat(&scores, 1)? / channels.len() as f64)?.matmul(self.p(format!("{l}.mix")))?;
            let alpha = candle_nn::ops::softmax(&mixed, 1)?;
            let mut sum = channels[0].1.broadcast_mul(&alpha.narrow(1, 0, 1)?)?;
            for (k, (_, channel)) in channels.iter().enumerate().skip(1) {
                sum = (sum + channel.broadcast_mul(&alpha.narrow(1, k, 1)?)?)?;
            }
            h = sum;
            if l + 1 < self.options.layers {
                h = h.relu()?;
                if variant.ends_with("++") {
                    h = (h + self.linear(&x, "residual")?.relu()?)?;
                }
            }
        }
        Ok(h)
    }

    /// Maurya et al. 2022: powers with and without loops, each normalised and weighted by a softmax.
    fn fsgnn(&self) -> Result<Tensor> {
        let hops = self.options.of_model().integer("hops").unwrap();
        let Some(Value::Text(set)) = self.options.hyperparameters.get("feature_set") else { panic!() };
        let mut inputs = vec![self.x()?];
        let (mut plain, mut looped) = (self.x()?, self.x()?);
        for _ in 0..hops {
            plain = self.symmetric(false)?.matmul(&plain)?;
            looped = self.symmetric(true)?.matmul(&looped)?;
            if set != "homophily" {
                inputs.push(plain.clone());
            }
            if set != "heterophily" {
                inputs.push(looped.clone());
            }
        }
        let gate = candle_nn::ops::softmax(self.p("gate"), 1)?;
        let mut parts = Vec::new();
        for (k, input) in inputs.iter().enumerate() {
            let h = self.linear(input, &k.to_string())?;
            parts.push(unit_rows(&h)?.broadcast_mul(&gate.narrow(1, k, 1)?)?);
        }
        self.linear(&Tensor::cat(&parts, 1)?.relu()?, "output")
    }

    /// Shi et al. 2021: scalar-product attention over the neighbours with a gated residual.
    fn unimp(&self) -> Result<Tensor> {
        let heads = self.options.of_model().integer("heads").unwrap() as usize;
        let adjacency = self.adjacency()?;
        let mut h = self.x()?;
        if self.has("labels.weight") {
            let labels = dense(self.n(), self.data.n_classes, |v, c| {
                f64::from(u8::from(self.given.contains(&(v as u32)) && self.data.labels[v] == Some(c as u32)))
            })?;
            h = (h + labels.matmul(self.p("labels.weight"))?)?;
        }
        for l in 0..self.options.layers {
            let last = l + 1 == self.options.layers;
            let map = |name: &str| self.linear(&h, &format!("{l}.{name}"));
            let (query, key, value, skip) = (map("query")?, map("key")?, map("value")?, map("skip")?);
            let width = query.dims2()?.1 / heads;
            let mut outputs = Vec::new();
            for head in 0..heads {
                let part = |t: &Tensor| t.narrow(1, head * width, width);
                let scores = (part(&query)?.matmul(&part(&key)?.t()?)? / (width as f64).sqrt())?;
                let weights = (scores.exp()? * &adjacency)?;
                // A node without neighbours receives nothing.
                let alpha = weights.broadcast_div(&(weights.sum_keepdim(1)? + 1e-30)?)?;
                outputs.push(alpha.matmul(&part(&value)?)?);
            }
            let message = if last {
                let mut sum = outputs[0].clone();
                for output in &outputs[1..] {
                    sum = (sum + output)?;
                }
                (sum / heads as f64)?
            } else {
                Tensor::cat(&outputs, 1)?
            };
            let difference = (&message - &skip)?;
            let gate = (message.matmul(self.p(format!("{l}.gate.message")))?
                + skip.matmul(self.p(format!("{l}.gate.skip")))?)?;
            let gate = (gate + difference.matmul(self.p(format!("{l}.gate.difference")))?)?;
            let gate = candle_nn::ops::sigmoid(&gate)?;
            // (1 - gate) message + gate skip.
            h = (&message - difference.broadcast_mul(&gate)?)?;
            if !last {
                let width = h.dims2()?.1 as f64;
                let centred = h.broadcast_sub(&(h.sum_keepdim(1)? / width)?)?;
                let deviation = ((centred.sqr()?.sum_keepdim(1)? / width)? + 1e-5)?.sqrt()?;
                let (gain, shift) = (self.p(format!("{l}.norm.gain")), self.p(format!("{l}.norm.bias")));
                h = centred.broadcast_div(&deviation)?.broadcast_mul(gain)?.broadcast_add(shift)?.relu()?;
            }
        }
        Ok(h)
    }

    /// Li et al. 2022: H <- (1 - gamma) Z H + gamma H0, with the n x n matrix Z in closed form.
    fn glognn(&self) -> Result<Tensor> {
        let real = |name| self.options.of_model().real(name).unwrap();
        let (alpha, gamma, beta1, beta2) = (real("alpha"), real("gamma"), real("beta1"), real("beta2"));
        let (n, s) = (self.n(), 1.0 - gamma);
        let features = (self.linear(&self.x()?, "features")? * (1.0 - alpha))?;
        let structure = (self.linear(&self.adjacency()?, "adjacency")? * alpha)?;
        let first = self.linear(&(features + structure)?.relu()?, "output")?;
        let identity = dense(n, n, |i, j| f64::from(u8::from(i == j)))?;
        let propagate = self.symmetric(true)?;
        let mut hops = dense(n, n, |_, _| 0.0)?;
        let mut power = identity.clone();
        for k in 0..self.options.of_model().integer("orders").unwrap() as usize {
            power = power.matmul(&propagate)?;
            hops = (hops + power.broadcast_mul(&self.p("orders").narrow(1, k, 1)?)?)?;
        }
        let mut h = first.clone();
        for _ in 0..self.options.layers {
            let pairs = h.matmul(&h.t()?)?;
            let left = (((&pairs * s)? + (&hops * beta2)?)? - (first.matmul(&h.t()?)? * (gamma * s))?)?;
            let matrix = ((&pairs * (s * s))? + (&identity * (beta1 + beta2))?)?;
            let z = left.matmul(&inverse(&matrix, &identity)?)?;
            h = ((z.matmul(&h)? * s)? + (&first * gamma)?)?;
        }
        Ok(h)
    }

    /// Du et al. 2022: two kernels for neighbours, an edge's gate chooses; beside the outputs, the loss of the gates.
    fn gbk_gnn(&self) -> Result<(Tensor, Tensor)> {
        let mean = self.mean()?;
        let labels = &self.data.labels;
        let known = |v: usize| self.train.contains(&(v as u32));
        let both = |i, j| self.edge(i, j) && known(i) && known(j);
        let n = self.n();
        let same = dense(n, n, |i, j| f64::from(u8::from(both(i, j) && labels[i] == labels[j])))?;
        let other = dense(n, n, |i, j| f64::from(u8::from(both(i, j) && labels[i] != labels[j])))?;
        let count = (0..n * n).filter(|at| both(at / n, at % n)).count() as f64;
        let mut penalty = dense(1, 1, |_, _| 0.0)?.sum_all()?;
        let mut h = self.x()?;
        for l in 0..self.options.layers {
            let p = |name: &str| self.p(format!("{l}.{name}"));
            let scores = h.matmul(p("gate.target"))?.broadcast_add(&h.matmul(p("gate.source"))?.t()?)?;
            let gate = candle_nn::ops::sigmoid(&scores.broadcast_add(p("gate.bias"))?)?;
            let log = ((&same * gate.log()?)? + (&other * gate.neg()?.affine(1.0, 1.0)?.log()?)?)?;
            penalty = (penalty - (log.sum_all()? / count)?)?;
            let similar = (&mean * &gate)?.matmul(&h.matmul(p("similar.weight"))?)?;
            let dissimilar = (&mean * gate.neg()?.affine(1.0, 1.0)?)?.matmul(&h.matmul(p("dissimilar.weight"))?)?;
            h = ((h.matmul(p("self.weight"))? + similar)? + dissimilar)?.broadcast_add(p("bias"))?;
            if l + 1 < self.options.layers {
                h = h.relu()?;
            }
        }
        Ok((h, (penalty * self.options.of_model().real("gate_loss").unwrap())?))
    }

    /// Chen et al. 2023: channels of hops fused by weights that depend on how alike a node's neighbours are.
    fn lsgnn(&self) -> Result<Tensor> {
        let (hops, n) = (self.options.of_model().integer("hops").unwrap() as usize, self.n());
        let (beta, gamma) =
            (self.options.of_model().real("beta").unwrap(), self.options.of_model().real("gamma").unwrap());
        let Some(Value::Text(similarity)) = self.options.hyperparameters.get("similarity") else { panic!() };
        let x = self.x()?;
        let rows = x.to_vec2::<f64>()?;
        let delta = |i: usize, j: usize| {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let length = |v: usize| dot(&rows[v], &rows[v]).sqrt().max(1e-300);
            if similarity == "cosine" {
                return dot(&rows[i], &rows[j]) / (length(i) * length(j));
            }
            let term = |(a, b): (&f64, &f64)| (a / length(i) - b / length(j)).powi(2);
            rows[i].iter().zip(&rows[j]).map(term).sum::<f64>().sqrt()
        };
        let arcs: Vec<(usize, usize)> =
            (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| self.edge(i, j)).collect();
        let silu = |x: &Tensor| x * candle_nn::ops::sigmoid(x)?;
        let pair = |d: &Tensor| Tensor::cat(&[d.clone(), d.sqr()?], 1);
        let deltas = dense(arcs.len(), 1, |e, _| delta(arcs[e].0, arcs[e].1))?;
        let alike = self.linear(&silu(&self.linear(&pair(&deltas)?, "similarity.0")?)?, "similarity.1")?;
        let local =
            dense(n, arcs.len(), |i, e| if arcs[e].0 == i { 1.0 / self.degree(i) } else { 0.0 })?.matmul(&alike)?;
        let units = silu(&self.linear(&pair(&local)?, "fusion")?)?;

        let x = unit_rows(&x)?;
        let identity = dense(n, n, |i, j| f64::from(u8::from(i == j)))?;
        let filters =
            [((&identity * beta)? + self.symmetric(false)?)?, ((&identity * (1.0 - beta))? - self.symmetric(false)?)?];
        let reduced = |input: &Tensor, name: &str| unit_rows(&input.matmul(self.p(format!("{name}.weight")))?)?.relu();
        let raw = reduced(&x, "0")?;
        let mut channels: Vec<Vec<Tensor>> = Vec::new();
        for (name, filter) in ["low", "high"].into_iter().zip(&filters) {
            let mut steps: Vec<Tensor> = vec![filter.matmul(&x)?];
            for _ in 1..hops {
                let mut rest = (&x * (1.0 - gamma))?;
                for step in &steps {
                    rest = (rest - (step * gamma)?)?;
                }
                steps.push(filter.matmul(&rest)?);
            }
            let reduce = |(k, step): (usize, &Tensor)| reduced(step, &format!("{}.{name}", k + 1));
            channels.push(steps.iter().enumerate().map(reduce).collect::<Result<_>>()?);
        }
        let mut parts = vec![unit_rows(&raw)?];
        for (k, (low, high)) in channels[0].iter().zip(&channels[1]).enumerate() {
            let alpha = self.linear(&units, &format!("fusion.{}", k + 1))?;
            let weight = |c: usize| alpha.narrow(1, c, 1);
            let sum = (raw.broadcast_mul(&weight(0)?)? + low.broadcast_mul(&weight(1)?)?)?;
            parts.push(unit_rows(&(sum + high.broadcast_mul(&weight(2)?)?)?)?);
        }
        self.linear(&Tensor::cat(&parts, 1)?, "output")
    }
}

/// Rows of length 1; a row of zeros stays.
fn unit_rows(x: &Tensor) -> Result<Tensor> {
    x.broadcast_div(&(x.sqr()?.sum_keepdim(1)? + 1e-24)?.sqrt()?)
}

/// The inverse by Newton's iteration (Schulz 1933), which converges for any start this small, and so does its gradient.
fn inverse(matrix: &Tensor, identity: &Tensor) -> Result<Tensor> {
    let values = matrix.to_vec2::<f64>()?;
    let norm = values.iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut inverse = (identity * (1.0 / norm))?;
    for _ in 0..60 {
        inverse = inverse.matmul(&((identity * 2.0)? - matrix.matmul(&inverse)?)?)?;
    }
    Ok(inverse)
}
