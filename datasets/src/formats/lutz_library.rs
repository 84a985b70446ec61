//! The library of triangulations of B. Benedetti and F. H. Lutz: a file each, with its properties in comments.

use std::path::Path;
use std::sync::Arc;

use super::complex_files::ComplexFiles;
use super::lutz::bytes;
use super::not_this;
use crate::complexes::{self, Complex, Label, SimplexLists, Table, first_entry};
use crate::{Dataset, Error, Format, Options, Result};

const LABELS: [Label; 7] =
    [Label::Id, Label::Vertices, Label::Facets, Label::FVector, Label::Homology, Label::Betti, Label::Torsion];

pub(super) static FORMAT: Format = Format {
    name: "lutz_library",
    description: "files with facets:=[[...]]; and their properties in comments (Benedetti and Lutz); a file or a folder of them",
    options: &[],
    recognises: |path| complexes::find(path, is_library).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let files = complexes::find(path, is_library)
        .ok_or_else(|| not_this(path, "holds no library of triangulations: facets:=[[1,2,3],...]; is expected"))?;
    Ok(FORMAT.dataset(path, options, ComplexFiles { files, labels: &LABELS, read, bytes }))
}

fn is_library(file: &Path) -> bool {
    first_entry(&complexes::head(file)).is_some_and(|(name, sign)| name == "facets" && sign == ":=")
}

fn read(file: &Path, table: &mut Table<'_>) -> Result<()> {
    let mut complex = Complex::default();
    let mut lists = SimplexLists::new(file, complexes::open(file)?);
    if !lists.next_complex(&mut complex)? {
        return Err(Error::file(file, "facets:=[[1,2,3],...]; is expected, and is not there"));
    }
    let mut next = Complex::default();
    if lists.next_complex(&mut next)? {
        return Err(Error::file(file, format!("one complex is expected, and {} follows", next.id)));
    }
    complex.id = complexes::stem(file);
    properties(&lists.comments, &mut complex).map_err(|what| Error::file(file, what))?;
    table.push(&complex)
}

/// The f-vector `f=(8,24,17)` and the homology `H_*=(Z,Z_2,0)` among the comments, where they are.
fn properties(comments: &str, complex: &mut Complex) -> Result<(), String> {
    let property = |name: &str| -> Option<&str> {
        let line = comments.lines().find_map(|line| line.trim_matches(['#', ' ']).strip_prefix(name))?;
        line.strip_prefix('(')?.split_once(')').map(|(list, _)| list)
    };
    if let Some(list) = property("f=") {
        let counts: Result<Vec<i64>, _> = list.split(',').map(|count| count.trim().parse()).collect();
        complex.f_vector = Some(counts.map_err(|_| format!("f=({list}) is no list of numbers"))?);
    }
    if let Some(list) = property("H_*=") {
        let (betti, torsion) = homology(list)?;
        (complex.betti, complex.torsion) = (Some(betti), Some(torsion));
        complex.homology = Some(list.to_owned());
    }
    Ok(())
}

/// Ranks and torsion of groups such as `Z`, `Z^22`, `0`, `Z_2`, `Z_5^3`, `Z+Z_2`.
fn homology(list: &str) -> Result<(Vec<i64>, Vec<String>), String> {
    let groups = list.split(',').map(|group| {
        let (mut rank, mut torsion) = (0, Vec::new());
        for part in group.split('+').map(str::trim) {
            let (base, exponent) = part.split_once('^').unwrap_or((part, "1"));
            let exponent: usize = exponent.parse().map_err(|_| format!("'{part}' in H_*=({list}) is no group"))?;
            match base {
                "0" => {}
                "Z" => rank += exponent as i64,
                cyclic if cyclic.starts_with("Z_") && exponent < 1 << 20 => {
                    torsion.extend(std::iter::repeat_n(cyclic, exponent));
                }
                _ => return Err(format!("'{part}' in H_*=({list}) is no group")),
            }
        }
        Ok((rank, torsion.join(" + ")))
    });
    groups.collect::<Result<Vec<_>, _>>().map(|groups| groups.into_iter().unzip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_ranks_and_torsion() {
        let (betti, torsion) = homology("Z,Z_5^3,Z^22+Z_2,0").unwrap();
        assert_eq!(betti, [1, 0, 22, 0]);
        assert_eq!(torsion, ["", "Z_5 + Z_5 + Z_5", "Z_2", ""]);
        assert!(homology("Z,Q").is_err() && homology("Z^x").is_err());
    }
}
