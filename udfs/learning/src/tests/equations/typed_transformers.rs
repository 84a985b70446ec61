//! Simple-HGN and the compositions of a transformer beside literal implementations of their equations, in `f64`.

use super::literal::{Case, Matrix, check_on, check_scaled, map, matrix, plus, relu, shift, symmetric, times};
use super::typed::{N, by_type, elu, erf, job, projected, relations, softmax, sources};
use crate::tests::typed::typed;
use crate::tests::*;

/// Relations with the sources of each node.
type Sources = Vec<(String, Vec<Vec<usize>>)>;

fn direct(case: &Case) -> Sources {
    let of = |relation| (0..N).map(|i| sources(&relation, i)).collect();
    relations(case).into_iter().map(|(name, relation)| (name, of(relation))).collect()
}

/// Ones where any relation has an edge.
fn joined(case: &Case) -> Matrix {
    let list = direct(case);
    matrix(N, N, |i, j| f64::from(u8::from(list.iter().any(|(_, sources)| sources[i].contains(&j)))))
}

/// The relations, and one of the other nodes that walks of at most so many edges join; all of them without a limit.
fn with_far(case: &Case, hops: Option<usize>) -> Sources {
    let a = joined(case);
    let one = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let within = match hops {
        None => matrix(N, N, |_, _| 1.0),
        Some(hops) => {
            let step = matrix(N, N, |i, j| one(i, j) + a[i][j]);
            (0..hops).fold(matrix(N, N, one), |walks, _| times(&walks, &step))
        }
    };
    let far = |i: usize| (0..N).filter(|&j| within[i][j] > 0.0 && a[i][j] == 0.0).collect();
    let mut list = direct(case);
    list.push(("far".to_owned(), (0..N).map(far).collect()));
    list
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn gelu(x: &Matrix) -> Matrix {
    map(x, |x| 0.5 * x * (1.0 + erf(x / 2f64.sqrt())))
}

fn layer_norm(case: &Case, x: &Matrix, name: &str) -> Matrix {
    let (gain, bias) = (case.parameter(&format!("{name}.gain")), case.parameter(&format!("{name}.bias")));
    let row = |row: &Vec<f64>| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / row.len() as f64;
        let standard = row.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt());
        standard.zip(gain[0].iter().zip(&bias[0])).map(|(x, (gain, bias))| gain * x + bias).collect()
    };
    x.iter().map(row).collect()
}

/// `a = gelu(sum) A_t + c_t` gated with `h`, the sum over all sources of all relations.
fn cross_type(case: &Case, h: &Matrix, l: usize, heads: usize, list: &Sources) -> Matrix {
    let width = h[0].len() / heads;
    let part = |name: &str| by_type(case, h, &format!("{l}.{name}"), &format!("{l}.{name}.bias"));
    let (q, k, v) = (part("query"), part("key"), part("value"));
    let head_of = |x: &[f64], w: &Matrix, head: usize| -> Vec<f64> {
        (0..width).map(|c| (0..width).map(|a| x[head * width + a] * w[a][head * width + c]).sum()).collect()
    };
    let mut sum = matrix(N, heads * width, |_, _| 0.0);
    for i in 0..N {
        for head in 0..heads {
            let (mut scores, mut messages) = (Vec::new(), Vec::new());
            for (number, (name, sources)) in list.iter().enumerate() {
                let prior = case.parameter(&format!("{l}.prior"))[number][head];
                for &j in &sources[i] {
                    let key = head_of(&k[j], case.parameter(&format!("{l}.attention.{name}.weight")), head);
                    scores.push(dot(&key, &q[i][head * width..]) * prior / (width as f64).sqrt());
                    messages.push(head_of(&v[j], case.parameter(&format!("{l}.message.{name}.weight")), head));
                }
            }
            for (alpha, message) in softmax(&scores).into_iter().zip(messages) {
                (0..width).for_each(|c| sum[i][head * width + c] += alpha * message[c]);
            }
        }
    }
    let a = by_type(case, &gelu(&sum), &format!("{l}.output"), &format!("{l}.output.bias"));
    let types = case.data.types().unwrap();
    let gate = |i: usize| {
        let skip = case.parameter(&format!("{l}.skip"))[types.of()[i] as usize][0];
        1.0 / (1.0 + (-skip).exp())
    };
    matrix(N, heads * width, |i, c| gate(i) * a[i][c] + (1.0 - gate(i)) * h[i][c])
}

/// `h + sum A + c` with queries, keys and values of all types; `bias` is added to the scores of a relation.
fn shared(
    case: &Case,
    h: &Matrix,
    l: usize,
    heads: usize,
    list: &Sources,
    bias: impl Fn(usize, usize) -> f64,
) -> Matrix {
    let width = h[0].len() / heads;
    let y = layer_norm(case, h, &format!("{l}.norm.0"));
    let [q, k, v] = ["query", "key", "value"].map(|part| case.affine(&y, &format!("{l}.{part}")));
    let mut sum = matrix(N, heads * width, |_, _| 0.0);
    for i in 0..N {
        for head in 0..heads {
            let columns = head * width..(head + 1) * width;
            let (mut scores, mut from) = (Vec::new(), Vec::new());
            for (number, (_, sources)) in list.iter().enumerate() {
                for &j in &sources[i] {
                    let product = dot(&q[i][columns.clone()], &k[j][columns.clone()]);
                    scores.push(product / (width as f64).sqrt() + bias(number, head));
                    from.push(j);
                }
            }
            for (alpha, j) in softmax(&scores).into_iter().zip(from) {
                columns.clone().for_each(|c| sum[i][c] += alpha * v[j][c]);
            }
        }
    }
    plus(1.0, h, 1.0, &case.affine(&sum, &format!("{l}.out")))
}

fn feed_forward(case: &Case, h: &Matrix, l: usize, is_by_type: bool) -> Matrix {
    let layer = |x: &Matrix, number: usize| {
        let name = format!("{l}.feed.{number}");
        if is_by_type { by_type(case, x, &name, &format!("{name}.bias")) } else { case.affine(x, &name) }
    };
    let z = layer(&gelu(&layer(&layer_norm(case, h, &format!("{l}.norm.1")), 0)), 1);
    plus(1.0, h, 1.0, &z)
}

/// What the loops and the relations are among kinds: the sources of a node with the kind of each.
fn with_loops(list: &Sources, i: usize) -> Vec<(usize, usize)> {
    let edges = list.iter().enumerate().flat_map(|(kind, (_, sources))| sources[i].iter().map(move |&j| (kind, j)));
    edges.chain([(list.len(), i)]).collect()
}

#[test]
fn shgn_attends_to_relations_and_keeps_a_share_of_what_it_attended_to() {
    let job =
        job("shgn").with("heads", 2).with("output_heads", 3).with("layers", 4).with("beta", 0.3).with("edge_width", 4);
    check_scaled(&job, typed(N), &(0..N as u32).collect::<Vec<_>>(), 2.0, |case| {
        let (list, mut h) = (direct(case), projected(case));
        // Of each node and head the coefficients of its sources, in the layer before.
        let mut before: Vec<Vec<Vec<f64>>> = Vec::new();
        for l in 0..4 {
            let heads = if l == 3 { 3 } else { 2 };
            let z = times(&h, case.parameter(&format!("{l}.weight")));
            let width = z[0].len() / heads;
            let vector = |end: &str| &case.parameter(&format!("{l}.{end}"))[0];
            let seen =
                times(case.parameter(&format!("{l}.edge.embedding")), case.parameter(&format!("{l}.edge.weight")));
            let attention = &case.parameter(&format!("{l}.edge.attention"))[0];
            let mut alpha = vec![vec![Vec::new(); heads]; N];
            for i in 0..N {
                for head in 0..heads {
                    let (c, e) = (head * width..(head + 1) * width, head * 4..(head + 1) * 4);
                    let score = |(kind, j): (usize, usize)| {
                        let s = dot(&vector("source")[c.clone()], &z[j][c.clone()])
                            + dot(&vector("target")[c.clone()], &z[i][c.clone()])
                            + dot(&attention[e.clone()], &seen[kind][e.clone()]);
                        if s > 0.0 { s } else { 0.05 * s }
                    };
                    alpha[i][head] = softmax(&with_loops(&list, i).into_iter().map(score).collect::<Vec<_>>());
                    if let Some(before) = before.get(i).filter(|_| l < 3) {
                        alpha[i][head].iter_mut().zip(&before[head]).for_each(|(a, b)| *a = 0.7 * *a + 0.3 * b);
                    }
                }
            }
            let mut sum = matrix(N, heads * width, |_, _| 0.0);
            for i in 0..N {
                for head in 0..heads {
                    for (alpha, (_, j)) in alpha[i][head].iter().zip(with_loops(&list, i)) {
                        (head * width..(head + 1) * width).for_each(|c| sum[i][c] += alpha * z[j][c]);
                    }
                }
            }
            if l == 3 {
                let z = plus(1.0, &sum, 1.0, &times(&h, case.parameter("3.residual.weight")));
                let mean = matrix(N, 3, |i, c| (z[i][c] + z[i][3 + c] + z[i][6 + c]) / 3.0);
                let norm = |i: usize| dot(&mean[i], &mean[i]).sqrt();
                return matrix(N, 3, |i, c| mean[i][c] / norm(i));
            }
            h = elu(&if l == 0 { sum } else { plus(1.0, &sum, 1.0, &h) });
            before = alpha;
        }
        unreachable!()
    });
}

#[test]
fn relations_add_a_number_to_scores_over_several_hops() {
    let job = job("unified_gt").with("heads", 2).with("attention", "relation").with("mask", "hops");
    for hops in [1, 2, 3] {
        let job = job.clone().with("hops", hops).with("feed_forward", "shared").with("feed_forward_width", 7);
        check_on(&job, typed(N), &(0..N as u32).collect::<Vec<_>>(), |case| {
            let (list, mut h) = (with_far(case, Some(hops as usize)), relu(&projected(case)));
            for l in 0..2 {
                let table = case.parameter(&format!("{l}.relation"));
                assert_eq!(table.len(), list.len());
                h = shared(case, &h, l, 2, &list, |relation, head| table[relation][head]);
                h = feed_forward(case, &h, l, false);
            }
            case.affine(&h, "output")
        });
    }
}

#[test]
fn plain_attention_without_a_mask_is_over_all_nodes_behind_graph_convolutions() {
    let job = job("unified_gt").with("heads", 2).with("attention", "plain").with("mask", "none");
    let job = job.with("feed_forward", "by_type").with("graph_layers", 2).with("layers", 2);
    check_on(&job, typed(N), &(0..N as u32).collect::<Vec<_>>(), |case| {
        let loops = matrix(N, N, |i, j| {
            if i == j { 1.0 } else { f64::from(u8::from(case.data.graph().has_edge(i as u32, j as u32))) }
        });
        let p = symmetric(&loops);
        let mut h = relu(&projected(case));
        for l in 0..2 {
            let z = times(&p, &times(&h, case.parameter(&format!("graph.{l}.weight"))));
            h = relu(&shift(&z, case.parameter(&format!("graph.{l}.bias"))));
        }
        h = layer_norm(case, &h, "graph.norm");
        let all = vec![("all".to_owned(), vec![(0..N).collect::<Vec<usize>>(); N])];
        h = shared(case, &h, 0, 2, &all, |_, _| 0.0);
        h = feed_forward(case, &h, 0, true);
        case.affine(&h, "output")
    });
}

#[test]
fn h2g_former_reads_the_classes_of_training_nodes_and_what_lies_two_edges_away() {
    let job = job("h2g_former").with("heads", 2).with("layers", 3);
    check_on(&job, typed(N), &(0..N as u32).collect::<Vec<_>>(), |case| {
        let (list, train) = (with_far(case, Some(2)), split(&case.data).train);
        let rows = case.parameter("input.labels");
        let mut h = projected(case);
        for v in train {
            let class = case.data.labels()[v as usize].unwrap() as usize;
            h[v as usize].iter_mut().zip(&rows[class]).for_each(|(h, row)| *h += row);
        }
        h = relu(&h);
        for l in 0..2 {
            h = feed_forward(case, &cross_type(case, &h, l, 2, &list), l, true);
        }
        case.affine(&h, "output")
    });
}

#[test]
fn metapaths_are_relations_of_a_composition() {
    let paths = "paper>author>paper,paper>^cites>paper";
    let job = job("unified_gt").with("heads", 2).with("mask", "metapaths").with("metapaths", paths).with("layers", 2);
    check_on(&job, typed(N), &(0..N as u32).collect::<Vec<_>>(), |case| {
        let all = direct(case);
        let step = |name: &str| all.iter().find(|(known, _)| known == name).unwrap().1.clone();
        let (writers, written) = (step("author>writes>paper"), step("paper>^writes>author"));
        let around = |i: usize| {
            let mut from: Vec<usize> = writers[i].iter().flat_map(|&j| written[j].clone()).collect();
            from.sort_unstable();
            from.dedup();
            from
        };
        let list = vec![
            ("paper>author>paper".to_owned(), (0..N).map(around).collect()),
            ("paper>^cites>paper".to_owned(), step("paper>^cites>paper")),
        ];
        case.affine(&cross_type(case, &relu(&projected(case)), 0, 2, &list), "output")
    });
}

#[test]
fn hinormer_attends_to_all_around_by_structure_and_by_types() {
    // Sequences as long as the graph hold what a node is joined to, whatever their order.
    let job = Job::new("hinormer").with("hidden", 6).with("seed", 3).with("length", N as i64);
    let job = job.with("temperature", 0.7).with("beta", 0.4);
    check_on(&job, typed(N), &(0..N as u32).collect::<Vec<_>>(), |case| {
        let a = matrix(N, N, |i, j| f64::from(u8::from(i == j || case.data.graph().has_edge(i as u32, j as u32))));
        let (p, types) = (symmetric(&a), case.data.types().unwrap());
        let mut h = projected(case);
        let mut r = matrix(N, 3, |v, kind| f64::from(u8::from(types.of()[v] as usize == kind)));
        for l in 0..2 {
            let z = times(&p, &times(&h, case.parameter(&format!("graph.{l}.weight"))));
            h = elu(&shift(&z, case.parameter(&format!("graph.{l}.bias"))));
            let z = times(&r, case.parameter(&format!("types.{l}.weight")));
            let factor = case.parameter(&format!("types.{l}.factor"));
            let z = matrix(N, 3, |v, c| factor[types.of()[v] as usize][0] * z[v][c]);
            r = elu(&shift(&times(&p, &z), case.parameter(&format!("types.{l}.bias"))));
        }
        let walks = (0..N).fold(matrix(N, N, |i, j| f64::from(u8::from(i == j))), |walks, _| {
            map(&times(&walks, &a), |x| f64::from(u8::from(x > 0.0)))
        });
        let outputs = (0..N).map(|v| {
            // A node's sequence has representations of its own: here of the nodes that it is joined to.
            let members: Vec<usize> = (0..N).filter(|&j| walks[v][j] > 0.0).collect();
            let mut own: Matrix = members.iter().map(|&j| h[j].clone()).collect();
            let codes: Matrix = members.iter().map(|&j| r[j].clone()).collect();
            for l in 0..2 {
                let of = |x: &Matrix, name: &str| times(x, case.parameter(&format!("{l}.{name}.weight")));
                let (q, k) = (of(&own, "query"), of(&own, "key"));
                let (t, s) = (of(&codes, "types.target"), of(&codes, "types.source"));
                let attention = &case.parameter(&format!("{l}.attention"))[0];
                let mut sum = matrix(members.len(), 6, |_, _| 0.0);
                for i in 0..members.len() {
                    for head in 0..2 {
                        let score = |j: usize| {
                            let leaky = |c: usize| {
                                let x = q[i][c] + k[j][c];
                                attention[c] * if x > 0.0 { x } else { 0.2 * x }
                            };
                            let structure: f64 = (3 * head..3 * head + 3).map(leaky).sum();
                            let of_types = dot(&t[i][3 * head..3 * head + 3], &s[j][3 * head..3 * head + 3]);
                            (structure + 0.4 * of_types) / 0.7
                        };
                        let scores: Vec<f64> = (0..members.len()).map(score).collect();
                        for (j, alpha) in softmax(&scores).into_iter().enumerate() {
                            (3 * head..3 * head + 3).for_each(|c| sum[i][c] += alpha * k[j][c]);
                        }
                    }
                }
                let z = plus(1.0, &own, 1.0, &of(&sum, "out"));
                own = layer_norm(case, &z, &format!("{l}.norm"));
            }
            let first = members.iter().position(|&j| j == v).unwrap();
            let z = case.affine(&vec![own[first].clone()], "output").remove(0);
            let norm = dot(&z, &z).sqrt();
            z.into_iter().map(|z| z / norm).collect()
        });
        outputs.collect()
    });
}

#[test]
fn hgt_is_the_composition_of_its_parts() {
    let data = typed(N);
    let outputs = |job: Job| {
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &split(&data).train);
        let values = parameters(&bench);
        bench.loss(&values);
        (values, bench.model.outputs().to_vec())
    };
    let of = |model: &str| job(model).with("heads", 2).with("dropout", 0.3).with("attention_dropout", 0.2);
    assert!(outputs(of("hgt")) == outputs(of("unified_gt")));
    let parts = of("unified_gt").with("mask", "hops").with("feed_forward", "by_type").with("label_rate", 0.3);
    assert!(outputs(of("h2g_former").with("layers", 3)) == outputs(parts));
}

#[test]
fn graphtrans_is_one_without_types() {
    let data = planted(N, true);
    let outputs = |job: Job| {
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &split(&data).train);
        let values = parameters(&bench);
        bench.loss(&values);
        (values, bench.model.outputs().to_vec())
    };
    let of = |model: &str| job(model).with("heads", 2).with("graph_layers", 1).with("layers", 3);
    let parts = of("unified_gt").with("attention", "plain").with("mask", "none").with("feed_forward", "shared");
    assert!(outputs(of("graphtrans").with("dropout", 0.2)) == outputs(parts.with("dropout", 0.2)));
}

#[test]
fn a_composition_that_contradicts_itself_is_refused() {
    let error = |options: &[(&str, Value)]| {
        let job = options.iter().fold(job("unified_gt"), |job, (name, value)| job.with(name, value.clone()));
        let data = typed(N);
        let options = job.with("epochs", 1).resolve().map_err(|error| error.to_string())?;
        let parts = split(&data);
        let outcome = train_nodes(&data, &parts, &options, &Unmonitored, &mut |_| {});
        outcome.map(|_| ()).map_err(|error| error.to_string())
    };
    let text = |value: &str| Value::Text(value.into());
    let of = |options: &[(&str, Value)]| error(options).unwrap_err();
    assert!(of(&[("hops", 2.into())]).contains("NULL with mask => 'direct', which counts no edges"));
    assert!(of(&[("metapaths", text("paper>author>paper"))]).contains("which follows none"));
    assert!(of(&[("mask", text("metapaths"))]).contains("metapaths is `NULL`"));
    assert!(of(&[("feed_forward_width", 9.into())]).contains("there is no such block"));
    assert!(of(&[("mask", text("none")), ("batch_nodes", 9.into())]).contains("a node attends to all"));
    let unknown = of(&[("mask", text("metapaths")), ("metapaths", text("paper>autor>paper"))]);
    assert!(unknown.contains("no type or relation autor, but author"), "{unknown}");
    assert!(error(&[("mask", text("hops"))]).is_ok());
}
