//! The names of kinds and of options.

use std::fmt;

use self::Kind::{
    Barcode, Bars, Boxes, Bump, Curvature, Heatmap, Histogram, Landscape, Lines, PersistenceDiagram, Points,
};

/// The kinds of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A bar a row; side by side for each colour.
    Bars,
    /// A point a row.
    Points,
    /// A line through the rows of each colour.
    Lines,
    /// Quartiles, whiskers and outliers of each group.
    Boxes,
    /// How many rows have a value in each of even intervals.
    Histogram,
    /// A coloured cell for each pair of strings.
    Heatmap,
    /// Ranks over strata, a line for each colour.
    Bump,
    /// Mean ranks over data sets, and which of them differ.
    CriticalDifference,
    /// Births and deaths over the diagonal.
    PersistenceDiagram,
    /// A bar from each birth to its death.
    Barcode,
    /// The functions of a persistence landscape.
    Landscape,
    /// A histogram with the cuts of the regimes of curvature.
    Curvature,
    /// Nodes and edges, placed by forces.
    Graph,
    /// Points in the Poincare disk.
    Disk,
    /// The triangles of a surface in perspective.
    Surface,
}

/// Each kind with its names; the first is the one that is shown.
pub(crate) const KINDS: &[(Kind, &[&str])] = &[
    (Kind::Bars, &["bars", "bar"]),
    (Kind::Points, &["points", "point", "scatter"]),
    (Kind::Lines, &["lines", "line"]),
    (Kind::Boxes, &["boxes", "box", "boxplot"]),
    (Kind::Histogram, &["histogram", "hist"]),
    (Kind::Heatmap, &["heatmap", "heat"]),
    (Kind::Bump, &["bump", "ranks"]),
    (Kind::CriticalDifference, &["critical_difference", "cd"]),
    (Kind::PersistenceDiagram, &["persistence_diagram", "diagram", "persistence"]),
    (Kind::Barcode, &["barcode"]),
    (Kind::Landscape, &["landscape"]),
    (Kind::Curvature, &["curvature"]),
    (Kind::Graph, &["graph", "network"]),
    (Kind::Disk, &["disk", "poincare"]),
    (Kind::Surface, &["surface", "triangulation"]),
];

impl Kind {
    /// The names of all kinds.
    pub fn names() -> String {
        KINDS.iter().map(|(_, names)| names[0]).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = KINDS.iter().find(|(kind, _)| kind == self).map_or(&[""][..], |(_, names)| names);
        f.write_str(names[0])
    }
}

/// The options of a picture; the first four are those that words without a name stand for.
pub(crate) const OPTIONS: [&str; 21] = [
    "kind",
    "x",
    "y",
    "color",
    "node_color",
    "ymin",
    "ymax",
    "yerr",
    "facet",
    "unpivot",
    "title",
    "xlabel",
    "ylabel",
    "x_scale",
    "y_scale",
    "xline",
    "yline",
    "width",
    "height",
    "bins",
    "seed",
];

/// The kinds that have an option, of those options that not all kinds have.
pub(crate) const OF_KINDS: &[(&str, &[Kind])] = &[
    ("YERR", &[Bars, Points, Lines]),
    ("YMIN", &[Bars, Points, Lines]),
    ("YMAX", &[Bars, Points, Lines]),
    ("FACET", &[Bars, Points, Lines, Boxes, Histogram]),
    ("X_SCALE", &[Points, Lines]),
    ("Y_SCALE", &[Points, Lines, Boxes]),
    ("XLINE", &[Points, Lines, Histogram, Landscape, Curvature]),
    ("YLINE", &[Bars, Points, Lines, Boxes, Histogram, Landscape, Curvature]),
    (
        "XLABEL",
        &[Bars, Points, Lines, Boxes, Histogram, Heatmap, Bump, PersistenceDiagram, Barcode, Landscape, Curvature],
    ),
    ("YLABEL", &[Bars, Points, Lines, Boxes, Histogram, Heatmap, Bump, PersistenceDiagram, Landscape, Curvature]),
];
