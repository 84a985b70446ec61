use super::*;

#[test]
fn every_parameter_receives_a_gradient_and_padding_receives_none() {
    for sparse in [true, false] {
        let data = planted(300, sparse);
        let train = split(&data).train;
        for layers in 1..=3 {
            for mut job in jobs() {
                job.layers = Some(layers);
                let mut bench = Bench::new(&data, &job.resolve().unwrap(), &train);
                let parameters = parameters(&bench);
                let (_, gradient) = bench.gradient(&parameters);
                let mut real = vec![false; gradient.len()];
                for block in bench.model.layout().blocks() {
                    for at in block.positions() {
                        real[at] = true;
                        let (name, g) = (&block.name, gradient[at]);
                        assert!(
                            g != 0.0 && g.is_finite(),
                            "{} with {layers} layers: {name} has gradient {g}",
                            job.model
                        );
                    }
                }
                assert!(gradient.iter().zip(&real).all(|(g, real)| *real || *g == 0.0), "{}: padding moves", job.model);
            }
        }
    }
}

#[test]
fn directional_finite_differences_agree_block_by_block() {
    let data = planted(300, true);
    let train = split(&data).train;
    for mut job in jobs() {
        job.layers = Some(3);
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &train);
        let parameters = parameters(&bench);
        let (_, gradient) = bench.gradient(&parameters);
        let blocks = bench.model.layout().blocks().to_vec();
        for (number, block) in blocks.iter().enumerate() {
            let mut stream = Stream::new(number as u64);
            let mut direction = vec![0f64; parameters.len()];
            // Along the gradient plus noise: a slope that is not lost in the rounding of the loss.
            let norm = block.positions().map(|at| f64::from(gradient[at]).powi(2)).sum::<f64>().sqrt();
            let count = (block.rows.len() * block.columns.len()) as f64;
            for at in block.positions() {
                direction[at] = f64::from(gradient[at]) / norm + 0.3 * stream.normal() / count.sqrt();
            }
            let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * f64::from(*g)).sum();
            let mut at = |h: f64| {
                let moved: Vec<f32> =
                    parameters.iter().zip(&direction).map(|(p, d)| (f64::from(*p) + h * d) as f32).collect();
                bench.loss(&moved)
            };
            let error = [1e-2, 3e-3, 1e-3, 3e-4]
                .into_iter()
                .map(|h| (((at(h) - at(-h)) / (2.0 * h) - slope) / slope).abs())
                .fold(f64::INFINITY, f64::min);
            let tolerance = if block.name.ends_with("source") || block.name.ends_with("target") { 2e-2 } else { 5e-3 };
            assert!(error < tolerance, "{} {}: relative error {error:.1e}", job.model, block.name);
        }
    }
}

#[test]
fn sparse_and_dense_features_give_the_same_outputs_bit_for_bit() {
    let (sparse, dense) = (planted(300, true), planted(300, false));
    let train = split(&sparse).train;
    for job in jobs() {
        let options = job.resolve().unwrap();
        let outputs = |data: &GraphData| {
            let mut bench = Bench::new(data, &options, &train);
            let parameters = parameters(&bench);
            let loss = bench.loss(&parameters);
            (loss, bench.model.outputs().to_vec())
        };
        assert!(outputs(&sparse) == outputs(&dense), "{}", job.model);
    }
}
