//! Expressions without subqueries.

use super::*;

impl Generator<'_> {
    /// An expression without subqueries.
    pub(super) fn plain(&mut self, kind: Type, scope: &Scope, depth: usize) -> Node {
        if depth == 0 || self.random.one_in(4) {
            if self.random.one_in(4) {
                return Node::text(literal_of(self.random, kind));
            }
            return self.column(kind, scope);
        }
        let depth = depth - 1;
        let of = |generator: &mut Self, kind| generator.plain(kind, scope, depth);
        let any = TYPES[self.random.below(TYPES.len())];
        if self.random.one_in(5) {
            return match self.random.below(3) {
                0 => {
                    let parts = vec![of(self, Type::Bool), of(self, kind), of(self, kind)];
                    Node::new("CASE WHEN $ THEN $ ELSE $ END", parts).or_inner(1).or_inner(2)
                }
                1 => Node::new("coalesce($, $)", vec![of(self, kind), of(self, kind)]).or_inner(0).or_inner(1),
                _ => Node::new("nullif($, $)", vec![of(self, kind), of(self, kind)]).or_inner(0),
            };
        }
        match kind {
            Type::Int => match self.random.below(8) {
                0 => {
                    let operator = self.random.pick(&["+", "-", "*"]);
                    Node::new(&format!("($ {operator} $)"), vec![of(self, kind), of(self, kind)])
                        .or_inner(0)
                        .or_inner(1)
                }
                1 => Node::new("abs($)", vec![of(self, kind)]).or_inner(0),
                2 => Node::new("CAST(length($) AS BIGINT)", vec![of(self, Type::Text)]),
                3 => Node::new("($ % nullif($, 0))", vec![of(self, kind), of(self, kind)]).or_inner(0),
                4 => {
                    let part = self.random.pick(&["year", "month", "day", "quarter", "doy", "week"]);
                    Node::new(&format!("CAST(date_part('{part}', $) AS BIGINT)"), vec![of(self, Type::Date)])
                }
                5 => {
                    let part = self.random.pick(&["hour", "minute", "day", "year"]);
                    Node::new(&format!("CAST(date_part('{part}', $) AS BIGINT)"), vec![of(self, Type::Timestamp)])
                }
                6 => {
                    let part = self.random.pick(&["hour", "minute", "day"]);
                    let moments = vec![of(self, Type::Timestamp), of(self, Type::Timestamp)];
                    Node::new(&format!("CAST(date_part('{part}', $ - $) AS BIGINT)"), moments)
                }
                _ => Node::new("CAST($ AS BIGINT)", vec![of(self, Type::Bool)]),
            },
            Type::Double => match self.random.below(5) {
                0 => {
                    let operator = self.random.pick(&["+", "-", "*"]);
                    Node::new(&format!("($ {operator} $)"), vec![of(self, kind), of(self, kind)])
                        .or_inner(0)
                        .or_inner(1)
                }
                1 => Node::new("CAST($ AS DOUBLE)", vec![of(self, Type::Int)]),
                2 => Node::new("CAST($ AS DOUBLE)", vec![of(self, Type::Decimal)]),
                3 => Node::new("floor($)", vec![of(self, kind)]).or_inner(0),
                _ => Node::new("sqrt(abs($))", vec![of(self, kind)]).or_inner(0),
            },
            Type::Text => match self.random.below(7) {
                0 => Node::new("($ || $)", vec![of(self, kind), of(self, kind)]).or_inner(0).or_inner(1),
                1 => {
                    let function = self.random.pick(&["upper", "lower", "trim", "reverse", "ltrim", "rtrim"]);
                    Node::new(&format!("{function}($)"), vec![of(self, kind)]).or_inner(0)
                }
                2 => {
                    let (from, length) = (1 + self.random.below(3), self.random.below(4));
                    Node::new(&format!("substring($, {from}, {length})"), vec![of(self, kind)]).or_inner(0)
                }
                3 => Node::new("replace($, 'a', 'xy')", vec![of(self, kind)]).or_inner(0),
                4 => Node::new("CAST($ AS VARCHAR)", vec![of(self, Type::Int)]),
                5 => Node::new("CAST($ AS VARCHAR)", vec![of(self, Type::Date)]),
                _ => {
                    let (function, n) = (self.random.pick(&["left", "right"]), self.random.below(4));
                    Node::new(&format!("{function}($, {n})"), vec![of(self, kind)]).or_inner(0)
                }
            },
            Type::Bool => match self.random.below(10) {
                0 => {
                    let operator = self.random.pick(&["AND", "OR"]);
                    Node::new(&format!("($ {operator} $)"), vec![of(self, kind), of(self, kind)])
                        .or_inner(0)
                        .or_inner(1)
                }
                1 => Node::new("(NOT $)", vec![of(self, kind)]).or_inner(0),
                2 => {
                    let is = self.random.pick(&["IS NULL", "IS NOT NULL"]);
                    Node::new(&format!("($ {is})"), vec![of(self, any)]).or("true")
                }
                3 => {
                    let list: Vec<String> = (0..1 + self.random.below(3)).map(|_| value(self.random, any)).collect();
                    let is_in = self.random.pick(&["IN", "NOT IN"]);
                    Node::new(&format!("($ {is_in} ({}))", list.join(", ")), vec![of(self, any)]).or("true")
                }
                4 => {
                    let like = self.random.pick(&["LIKE", "NOT LIKE", "ILIKE"]);
                    let pattern = self.random.pick(&["a%", "%b", "_", "%a_c%", "", "é"]);
                    Node::new(&format!("($ {like} '{pattern}')"), vec![of(self, Type::Text)]).or("true")
                }
                5 => Node::new("($ BETWEEN $ AND $)", vec![of(self, any), of(self, any), of(self, any)]).or("true"),
                6 => {
                    let is = self.random.pick(&["IS DISTINCT FROM", "IS NOT DISTINCT FROM"]);
                    Node::new(&format!("($ {is} $)"), vec![of(self, any), of(self, any)]).or("true")
                }
                7 => {
                    let operator = self.random.pick(&["=", "<", ">="]);
                    let sides = vec![of(self, Type::Date), of(self, Type::Timestamp)];
                    Node::new(&format!("($ {operator} $)"), sides).or("true")
                }
                8 => {
                    let (operator, span) = (self.random.pick(&["<", ">="]), span(self.random));
                    let moments = vec![of(self, Type::Timestamp), of(self, Type::Timestamp)];
                    Node::new(&format!("($ - $ {operator} {span})"), moments).or("true")
                }
                _ => {
                    let operator = self.random.pick(&["=", "<>", "<", "<=", ">", ">="]);
                    Node::new(&format!("($ {operator} $)"), vec![of(self, any), of(self, any)]).or("true")
                }
            },
            Type::Date => match self.random.below(4) {
                0 => {
                    let unit = self.random.pick(&["day", "month", "year"]);
                    let (sign, n) = (self.random.pick(&["+", "-"]), self.random.below(14));
                    Node::new(&format!("CAST($ {sign} INTERVAL '{n} {unit}' AS DATE)"), vec![of(self, kind)])
                        .or_inner(0)
                }
                1 => {
                    let unit = self.random.pick(&["month", "year", "quarter", "week"]);
                    Node::new(&format!("CAST(date_trunc('{unit}', $) AS DATE)"), vec![of(self, kind)]).or_inner(0)
                }
                2 => Node::new("CAST($ AS DATE)", vec![of(self, Type::Timestamp)]),
                _ => self.column(kind, scope),
            },
            Type::Timestamp => match self.random.below(5) {
                0 => {
                    let (sign, span) = (self.random.pick(&["+", "-"]), span(self.random));
                    Node::new(&format!("($ {sign} {span})"), vec![of(self, Type::Date)]).or(kind.simplest())
                }
                1 => {
                    let (sign, span) = (self.random.pick(&["+", "-"]), span(self.random));
                    Node::new(&format!("($ {sign} {span})"), vec![of(self, kind)]).or_inner(0)
                }
                2 => {
                    let moments = vec![of(self, Type::Date), of(self, kind), of(self, kind)];
                    Node::new("($ + ($ - $))", moments).or(kind.simplest())
                }
                3 => {
                    let unit = self.random.pick(&["hour", "minute", "day", "month"]);
                    Node::new(&format!("date_trunc('{unit}', $)"), vec![of(self, kind)]).or_inner(0)
                }
                _ => Node::new("CAST($ AS TIMESTAMP)", vec![of(self, Type::Date)]),
            },
            Type::Decimal => match self.random.below(3) {
                0 => {
                    let operator = self.random.pick(&["+", "-"]);
                    let pattern = format!("CAST(($ {operator} $) AS DECIMAL(10, 2))");
                    Node::new(&pattern, vec![of(self, kind), of(self, kind)]).or_inner(0).or_inner(1)
                }
                1 => Node::new("CAST($ AS DECIMAL(10, 2))", vec![of(self, Type::Int)]),
                _ => Node::new("abs($)", vec![of(self, kind)]).or_inner(0),
            },
        }
    }
}

/// An interval of one unit, a day's parts or a whole number of days or months.
fn span(random: &mut Random) -> String {
    let (unit, n) = (random.pick(&["second", "minute", "hour", "day", "month"]), random.below(50));
    format!("INTERVAL '{n} {unit}'")
}
