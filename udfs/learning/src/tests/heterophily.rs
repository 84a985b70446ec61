//! The models for graphs with heterophily against their papers' equations, written out with dense matrices under candle's
//! autograd in `f64`: outputs, losses and the gradient of every parameter.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Result, Tensor, Var};

use super::*;

/// Every model with hyperparameters that take all its branches.
pub(super) fn jobs() -> Vec<Job> {
    let job = |name: &str, own: &[(&str, Value)]| {
        let mut job = Job::new(name).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
        job.options.extend(own.iter().map(|(name, value)| (name.to_string(), value.clone())));
        job
    };
    let text = |text: &str| Value::Text(text.into());
    vec![
        job("fagcn", &[("epsilon", Value::Real(0.4))]),
        job("acm_gcn", &[]),
        job("acm_gcn", &[("variant", text("acmii+")), ("structure_info", Value::Integer(1))]),
        job("acm_gcn", &[("variant", text("acm++"))]),
        job("fsgnn", &[]),
        job("fsgnn", &[("hops", Value::Integer(2)), ("feature_set", text("heterophily"))]),
        job("unimp", &[("heads", Value::Integer(2)), ("attention_dropout", Value::Real(0.2))]),
        job("unimp", &[("attention_dropout", Value::Real(0.2)), ("label_rate", Value::Real(0.6))]),
        job("glognn", &[("orders", Value::Integer(3)), ("beta1", Value::Real(0.6)), ("beta2", Value::Real(0.9))]),
        job("gbk_gnn", &[]),
        job("lsgnn", &[("hops", Value::Integer(3)), ("beta", Value::Real(0.6))]),
        job("lsgnn", &[("hops", Value::Integer(1)), ("similarity", text("cosine"))]),
        job("fagcn", &[("weights", text("true"))]),
        job("glognn", &[("orders", Value::Integer(2)), ("beta1", Value::Real(0.6)), ("weights", text("true"))]),
        job("lsgnn", &[("hops", Value::Integer(2)), ("weights", text("true"))]),
    ]
}

struct Reference<'a> {
    data: &'a GraphData,
    options: &'a TrainOptions,
    /// By name, without padding.
    parameters: BTreeMap<String, Var>,
    /// The nodes of the loss, and those whose classes are an input.
    train: &'a [u32],
    given: &'a [u32],
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

    fn logits(&self) -> Result<Tensor> {
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
    fn loss(&self) -> Result<Tensor> {
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

#[test]
fn losses_and_gradients_equal_the_equations_of_the_papers() -> Result<()> {
    let data = super::weights::weighted(planted(40, true), |u, v| f64::from((u * v + u + v) % 7 + 1) / 4.0);
    let train = split(&data).train;
    for mut job in jobs() {
        job = job.with("dropout", 0.0).with("epochs", 1);
        job.options.entry("attention_dropout".into()).and_modify(|p| *p = Value::Real(0.0));
        let options = job.resolve().unwrap();
        let mut bench = Bench::new(&data, &options, &train);
        let values = parameters(&bench);
        let (loss, gradient) = bench.gradient(&values);
        let mut named = BTreeMap::new();
        for block in bench.model.layout().blocks() {
            let real: Vec<f64> = block.positions().map(|at| f64::from(values[at])).collect();
            let shape = (block.rows.len(), block.columns.len());
            named.insert(block.name.clone(), Var::from_tensor(&Tensor::from_vec(real, shape, &Device::Cpu)?)?);
        }
        let given = bench.model.label_inputs(Pass::Train { epoch: 1 });
        let train = bench.asked.rows();
        let reference = Reference { data: &data, options: &options, parameters: named, train, given: &given };
        let what = format!("{} {:?}", job.model, job.options);
        let logits = reference.logits()?.to_dtype(DType::F64)?.to_vec2::<f64>()?;
        let (outputs, stride) = (bench.model.outputs(), padded(data.n_classes));
        for &v in train {
            for (c, expected) in logits[v as usize].iter().enumerate() {
                let got = f64::from(outputs[v as usize * stride + c]);
                assert!(
                    (got - expected).abs() < 1e-5 * expected.abs().max(1.0),
                    "{what}: ({v}, {c}) is {got} for {expected}"
                );
            }
        }
        let expected = reference.loss()?;
        let gradients = expected.backward()?;
        let expected = expected.to_scalar::<f64>()?;
        assert!((loss - expected).abs() < 5e-6 * expected.max(1.0), "{what}: loss {loss} for {expected}");
        for block in bench.model.layout().blocks() {
            let expected =
                gradients.get(&reference.parameters[&block.name]).unwrap().flatten_all()?.to_vec1::<f64>()?;
            let scale = expected.iter().fold(0f64, |max, g| max.max(g.abs())).max(1e-4);
            for (at, expected) in block.positions().zip(expected) {
                let error = (f64::from(gradient[at]) - expected).abs() / scale;
                assert!(error < 1e-4, "{what} {}: error {error:.1e} of {scale:.1e}", block.name);
            }
        }
    }
    Ok(())
}

/// The outputs of the nodes without dropout, real columns alone.
fn outputs(data: &GraphData, job: &Job, parameters: impl Fn(&str, usize) -> f32) -> Vec<Vec<f32>> {
    let nodes: Vec<u32> = (0..data.graph.n_nodes() as u32).collect();
    let mut bench = Bench::new(data, &job.resolve().unwrap(), &nodes);
    let mut values = vec![0f32; bench.model.layout().stored()];
    for block in bench.model.layout().blocks() {
        block.positions().enumerate().for_each(|(k, at)| values[at] = parameters(&block.name, k));
    }
    bench.model.forward(&bench.scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
    let stride = padded(data.n_classes);
    bench.model.outputs().chunks(stride).map(|row| row[..data.n_classes].to_vec()).collect()
}

fn close(got: &[Vec<f32>], expected: &[Vec<f32>], what: &str) {
    for (v, (got, expected)) in got.iter().zip(expected).enumerate() {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 2e-5 * expected.abs().max(1.0), "{what}, node {v}: {got} for {expected}");
        }
    }
    assert_eq!(got.len(), expected.len());
}

/// Any number for a parameter.
fn any(name: &str, k: usize) -> f32 {
    ((name.len() * 7 + k) as f32 * 1.3).sin() * 0.6
}

/// FAConv and TransformerConv of PyTorch Geometric 2.8.1 (`float64`) in the network of each paper: the graph, the features
/// and the parameters of `published`.
#[test]
fn outputs_equal_those_of_pytorch_geometric() {
    let features = (0..5).flat_map(|i| (0..3).map(move |j| f64::from(3 * i + j).cos() as f32)).collect();
    let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (0, 2)]);
    let data = GraphData::new(graph, Features::dense(3, features).unwrap(), vec![Some(0); 5], 2).unwrap();
    let fagcn = [
        0.88108384,
        -0.12590493,
        0.75508029,
        -0.19707186,
        0.99542173,
        -0.19440043,
        0.67616973,
        -0.31407582,
        0.47912559,
        -0.12004431,
    ];
    let unimp = [
        1.23505152,
        0.88801425,
        0.41502229,
        0.95414373,
        0.92807205,
        0.95748417,
        0.37751038,
        0.93366301,
        -0.59685822,
        0.39136975,
    ];
    for (name, expected) in [("fagcn", fagcn), ("unimp", unimp)] {
        let job = Job::new(name).with("hidden", 4).with("layers", 2);
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &[0, 1, 2, 3, 4]);
        let mut parameters = vec![0f32; bench.model.layout().stored()];
        for (k, at) in bench.model.layout().blocks().iter().flat_map(|block| block.positions()).enumerate() {
            parameters[at] = (k as f64).sin() as f32;
        }
        bench.model.forward(&bench.scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
        for (at, expected) in expected.iter().enumerate() {
            let got = f64::from(bench.model.outputs()[at / 2 * 8 + at % 2]);
            assert!((got - expected).abs() < 2e-6, "{name}, output {at}: {got} for {expected}");
        }
    }
}

#[test]
fn new_numbers_for_the_nodes_change_no_output() {
    let data = planted(60, true);
    let mut order: Vec<u32> = (0..60).collect();
    Stream::new(key(&[5])).shuffle(&mut order);
    // Node v is called order[v].
    let edges: Vec<(u32, u32)> = (0..60u32)
        .flat_map(|v| {
            data.graph.neighbors(v).iter().map(|&u| (order[v as usize], order[u as usize])).collect::<Vec<_>>()
        })
        .collect();
    let Features::Sparse(rows) = data.features() else { panic!() };
    let mut dense = vec![0.0; 60 * rows.n_columns()];
    for (v, &to) in order.iter().enumerate() {
        let (columns, values) = rows.row(v);
        let to = to as usize * rows.n_columns();
        columns.iter().zip(values).for_each(|(&column, &value)| dense[to + column as usize] = value);
    }
    let mut labels = vec![None; 60];
    (0..60).for_each(|v| labels[order[v] as usize] = data.labels[v]);
    let features = Features::dense(rows.n_columns(), dense).unwrap();
    let renamed = GraphData::new(Graph::from_edges(60, &edges), features, labels, 3).unwrap();
    let weight = |u: u32, v: u32| f64::from((u * v + u + v) % 7 + 1) / 4.0;
    let was = |v: u32| order.iter().position(|&to| to == v).unwrap() as u32;
    let renamed = super::weights::weighted(renamed, |u, v| weight(was(u), was(v)));
    let data = super::weights::weighted(data.clone(), weight);
    for job in jobs() {
        let before = outputs(&data, &job, any);
        // The weights of the nodes move with them.
        let after = outputs(&renamed, &job, |name, k| {
            if name == "adjacency.weight" || name.ends_with("structure.weight") {
                let width = if name == "1.structure.weight" { 3 } else { 5 };
                let v = order.iter().position(|&to| to as usize == k / width).unwrap();
                any(name, v * width + k % width)
            } else {
                any(name, k)
            }
        });
        let moved: Vec<Vec<f32>> = (0..60).map(|v| after[order[v] as usize].clone()).collect();
        close(&moved, &before, &job.model);
    }
}

#[test]
fn fagcn_without_edges_keeps_the_first_representation() {
    let data = planted(30, true);
    let alone = GraphData { graph: Arc::new(Graph::from_edges(30, &[])), ..data };
    let job = Job::new("fagcn").with("hidden", 5);
    let got = outputs(&alone, &job, any);
    // epsilon relu(X W + b) W' + b': the perceptron whose second weights are scaled.
    let perceptron = Job::new("mlp").with("hidden", 5);
    let expected = outputs(&alone, &perceptron, |name, k| match name {
        "0.weight" => any("input.weight", k),
        "0.bias" => any("input.bias", k),
        "1.weight" => 0.3 * any("output.weight", k),
        _ => any("output.bias", k),
    });
    close(&got, &expected, "fagcn");
}

#[test]
fn equal_kernels_of_gbk_gnn_are_graphsage() {
    let data = planted(60, true);
    let got = outputs(&data, &Job::new("gbk_gnn").with("hidden", 5), |name, k| {
        any(&name.replace("dissimilar", "similar"), k)
    });
    let graphsage = Job::new("graphsage").with("hidden", 5);
    let expected = outputs(&data, &graphsage, |name, k| {
        let (layer, part) = name.split_once('.').unwrap();
        let width = if layer == "0" { 5 } else { 3 };
        match part {
            "bias" => any(name, k),
            // The weights of the neighbours and of the node, side by side.
            _ if k % (2 * width) < width => {
                any(&format!("{layer}.similar.weight"), k / (2 * width) * width + k % width)
            }
            _ => any(&format!("{layer}.self.weight"), k / (2 * width) * width + k % width),
        }
    });
    close(&got, &expected, "gbk_gnn");
}

#[test]
fn glognn_without_the_adjacency_in_its_terms_does_not_see_the_graph() {
    let data = planted(60, true);
    let job = |alpha: f64, beta2: f64| {
        let mut job = Job::new("glognn").with("hidden", 5);
        let own = [("alpha", alpha), ("beta1", 1.0), ("beta2", beta2)];
        job.options.extend(own.map(|(name, value)| (name.to_string(), Value::Real(value))));
        job
    };
    let other = GraphData { graph: Arc::new(Graph::from_edges(60, &[(0, 1), (5, 9)])), ..planted(60, true) };
    let (here, there) = (outputs(&data, &job(0.0, 0.0), any), outputs(&other, &job(0.0, 0.0), any));
    assert!(here == there);
    assert!(outputs(&data, &job(0.1, 0.0), any) != outputs(&other, &job(0.1, 0.0), any));
    assert!(outputs(&data, &job(0.0, 0.5), any) != outputs(&other, &job(0.0, 0.5), any));
}

#[test]
fn a_node_without_neighbours_gets_its_gated_residual_from_unimp() {
    let data = small_with_an_isolated_node();
    let job = Job::new("unimp").with("hidden", 4).with("layers", 1);
    let got = outputs(&data, &job, any);
    let Features::Dense { columns, values } = data.features() else { panic!() };
    let x = &values[3 * columns..];
    let linear = |c: usize| -> f32 {
        (0..*columns).map(|i| x[i] * any("0.skip.weight", i * 2 + c)).sum::<f32>() + any("0.skip.bias", c)
    };
    let r = [linear(0), linear(1)];
    let score: f32 = (0..2).map(|c| r[c] * any("0.gate.skip", c) - r[c] * any("0.gate.difference", c)).sum();
    let beta = 1.0 / (1.0 + (-score).exp());
    close(&got[3..], &[vec![beta * r[0], beta * r[1]]], "unimp");
}

#[test]
fn a_node_is_told_the_classes_of_others_and_never_asked_for_its_own() {
    let data = planted(600, true);
    let parts = split(&data);
    let mut job = Job::new("unimp").with("dropout", 0.0).with("hidden", 5).with("seed", 3);
    job.set("label_rate", 0.6);
    let options = job.resolve().unwrap();
    let (pass, n_classes) = (Pass::Train { epoch: 1 }, data.n_classes);
    let bench = Bench::new(&data, &options, &parts.train);
    let given = bench.model.label_inputs(pass);
    assert!(bench.model.label_inputs(Pass::Evaluate).is_empty());
    assert_ne!(given, bench.model.label_inputs(Pass::Train { epoch: 2 }), "drawn anew");
    let mut both = [&given, bench.asked.rows()].concat();
    both.sort_unstable();
    assert_eq!(both, parts.train, "every training node is given or asked for");
    // A binomial share: four deviations.
    let (n, got) = (parts.train.len() as f64, given.len() as f64);
    assert!((got - 0.6 * n).abs() < 4.0 * (0.24 * n).sqrt(), "{got} of {n}");

    // The outputs of all nodes where the labels of some are others.
    let outputs = |nodes: &[u32], pass: Pass| {
        let mut data = data.clone();
        let labels = &mut data.labels;
        nodes.iter().for_each(|&v| labels[v as usize] = labels[v as usize].map(|c| (c + 1) % n_classes as u32));
        let mut bench = Bench::new(&data, &options, &parts.train);
        let all: Vec<u32> = (0..600).collect();
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let scope = bench.model.scope(&all, true, true, &mut reservation).unwrap();
        let values = parameters(&bench);
        bench.model.forward(&scope, &values, pass, &Unmonitored).unwrap();
        bench.model.outputs().to_vec()
    };
    let differ = |a: &[f32], b: &[f32]| -> Vec<u32> {
        let rows = a.chunks(8).zip(b.chunks(8)).enumerate();
        rows.filter(|(_, (a, b))| a != b).map(|(v, _)| v as u32).collect()
    };
    let before = outputs(&[], pass);
    assert!(before == outputs(bench.asked.rows(), pass), "what training asks for is nobody's input");
    let moved = differ(&before, &outputs(&given[..1], pass));
    let asked = moved.iter().filter(|v| bench.asked.rows().contains(v)).count();
    assert!(moved.contains(&given[0]) && asked > 0, "a class given changes its node and others");
    // Without training every training class is an input, and no other.
    let before = outputs(&[], Pass::Evaluate);
    let others = [&parts.val[..], &parts.test].concat();
    assert!(before == outputs(&others, Pass::Evaluate), "classes of other parts are nobody's input");
    for &v in &[bench.asked.rows()[0], given[0]] {
        assert!(differ(&before, &outputs(&[v], Pass::Evaluate)).contains(&v));
    }

    // The loss of a run is that of the nodes that were asked for.
    let still = TrainOptions { lr: 0.0, epochs: 1, ..options.clone() };
    let mut losses = Vec::new();
    let mut observe = |record: &crate::EpochRecord| losses.push(record.train_loss);
    train_nodes(&data, &parts, &still, &Unmonitored, &mut observe).unwrap();
    let mut bench = bench;
    let first = bench.model.layout().initialise(options.seed);
    assert!((losses[0] - bench.loss(&first)).abs() < 1e-6);
}

#[test]
fn given_classes_teach_where_features_say_nothing() {
    let mut data = planted(600, true);
    data.features = Arc::new(Features::dense(4, vec![1.0; 600 * 4]).unwrap());
    let parts = split(&data);
    let test = |rate: f64| {
        let mut job = Job::new("unimp").with("hidden", 8).with("epochs", 60).with("lr", 0.01);
        job.set("label_rate", rate);
        let outcome = train_nodes(&data, &parts, &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap();
        outcome.test.accuracy.unwrap()
    };
    let (without, with) = (test(0.0), test(0.6));
    assert!(with > 0.7 && with > without + 0.2, "{with} with labels, {without} without");
}

#[test]
fn labels_are_an_input_where_nodes_have_classes() {
    let data = planted(40, true);
    let links = super::links::links(&data);
    let run = |rate: f64| {
        let mut job = Job::new("unimp").with("task", "link_prediction").with("epochs", 1);
        job.set("label_rate", rate);
        let options = job.resolve().map_err(|error| error.to_string())?;
        let items = crate::Items::Links(&data, &links);
        crate::train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).map_err(|error| error.to_string())
    };
    assert!(run(0.0).is_ok());
    let refused = run(0.5).unwrap_err();
    assert!(refused.contains("label_rate") && refused.contains("no classes"), "{refused}");
    assert!(run(1.0).unwrap_err().contains("[0, 1)"));
}

fn small_with_an_isolated_node() -> GraphData {
    let features = (0..8).map(|k| (k as f32 * 0.7).cos()).collect();
    let labels = vec![Some(0), Some(1), Some(0), Some(1)];
    GraphData::new(Graph::from_edges(4, &[(0, 1), (1, 2)]), Features::dense(2, features).unwrap(), labels, 2).unwrap()
}

#[test]
fn the_loss_of_the_gates_counts_in_training_alone() {
    let data = planted(200, true);
    let parts = split(&data);
    let run = |weight: f64| {
        let mut job = Job::new("gbk_gnn").with("hidden", 5).with("epochs", 1).with("lr", 0.0);
        job.set("gate_loss", weight);
        let mut losses = (0.0, 0.0);
        train_nodes(&data, &parts, &job.resolve().unwrap(), &Unmonitored, &mut |record| {
            losses = (record.train_loss, record.val_loss.unwrap());
        })
        .unwrap();
        losses
    };
    let (without, one, two) = (run(0.0), run(1.0), run(2.0));
    let added = one.0 - without.0;
    assert!(added > 0.1, "{added}");
    assert!((two.0 - without.0 - 2.0 * added).abs() < 1e-9);
    assert_eq!((one.1, two.1), (without.1, without.1));
}

#[test]
fn what_a_model_cannot_have_is_refused_with_what_it_can() {
    let data = planted(30, true);
    let error = |name: &str, layers: Option<i64>, own: &[(&str, f64)]| {
        let mut job = Job::new(name).with("layers", layers).with("epochs", 1);
        job.options.extend(own.iter().map(|(name, x)| (name.to_string(), Value::Real(*x))));
        let options = job.resolve().unwrap();
        train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string()
    };
    for name in ["fsgnn", "lsgnn"] {
        let error = error(name, Some(3), &[]);
        assert!(error.contains("layers is `3`") && error.contains("2: "), "{error}");
    }
    assert!(error("glognn", None, &[("beta1", 0.0), ("beta2", 0.0)]).contains("above 0"));
    let mut job = Job::new("acm_gcn");
    job.set("variant", "acm-");
    assert!(job.resolve().unwrap_err().to_string().contains("acmii++"));
}
