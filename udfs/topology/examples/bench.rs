use bonnet_topology::*;
fn main() {
    let mut rows: Vec<(Vec<i32>, Vec<i32>)> = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        for entry in text.split('=').skip(1) {
            let (mut offs, mut vals) = (vec![0i32], Vec::new());
            let mut depth = 0; let mut num: Option<i32> = None;
            for c in entry.chars() { match c {
                '[' => depth += 1,
                ']' | ',' => { if let Some(n) = num.take() { vals.push(n); } if c == ']' { if depth == 2 { offs.push(vals.len() as i32); } depth -= 1; if depth == 0 { break; } } }
                d if d.is_ascii_digit() => num = Some(num.unwrap_or(0) * 10 + d.to_digit(10).unwrap() as i32),
                _ => {} } }
            rows.push((offs, vals));
        }
    }
    let m = &bonnet_graph::Unmonitored;
    let what = std::env::var("WHAT").unwrap_or_default();
    let (mut f, mut w) = (Facets::default(), Workspace::default()); let mut c = Vec::new(); for _ in 0..50 { for (o, v) in &rows { f.read(o, v).unwrap(); match &what[..] { "h" => { w.homology(&f, m).unwrap(); } "f" => w.f_vector(&f, &mut c, m).unwrap(), _ => {} } } }
}
