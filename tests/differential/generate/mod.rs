//! Random queries, in the SQL that DuckDB and this engine share.
//!
//! What both define differently on purpose (`docs/sql.md`) is avoided here: quotients of integers, casts that round, sums
//! that overflow, the order of rows that compare equal.

mod plain;

use super::super::fuzz::random::Random;
use super::tree::Node;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Double,
    Text,
    Bool,
    Date,
    Decimal,
    Timestamp,
}

const TYPES: [Type; 7] = [Type::Int, Type::Double, Type::Text, Type::Bool, Type::Date, Type::Decimal, Type::Timestamp];

impl Type {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Int => "BIGINT",
            Self::Double => "DOUBLE",
            Self::Text => "VARCHAR",
            Self::Bool => "BOOLEAN",
            Self::Date => "DATE",
            Self::Decimal => "DECIMAL(10, 2)",
            Self::Timestamp => "TIMESTAMP",
        }
    }

    /// A value that is always one of this type, and small.
    fn simplest(self) -> &'static str {
        match self {
            Self::Int => "1",
            Self::Double => "CAST(1 AS DOUBLE)",
            Self::Text => "'a'",
            Self::Bool => "true",
            Self::Date => "DATE '2020-01-01'",
            Self::Decimal => "CAST(1 AS DECIMAL(10, 2))",
            Self::Timestamp => "TIMESTAMP '2020-01-01 00:00:00'",
        }
    }
}

/// The tables: each has `k` and `j`, by which they join, `r`, which numbers its rows, and a column of each type.
pub(super) const TABLES: usize = 4;

/// A column that can be named at some place of a query.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: Type,
}

/// What FROM gives: columns, and those of them that together tell all rows apart.
#[derive(Debug, Clone, Default)]
struct Scope {
    columns: Vec<Column>,
    unique: Vec<String>,
}

/// The statements that make the tables, with rows of their own for each seed.
pub(super) fn tables(random: &mut Random) -> Vec<String> {
    let mut statements = Vec::new();
    for table in 0..TABLES {
        statements.push(format!(
            "CREATE OR REPLACE TABLE t{table} (k BIGINT, j BIGINT, r{table} BIGINT, i{table} BIGINT, x{table} DOUBLE, \
             s{table} VARCHAR, b{table} BOOLEAN, d{table} DATE, m{table} DECIMAL(10, 2), z{table} TIMESTAMP)"
        ));
        let rows = [0, 1, 5, 12, 12, 30, 30][random.below(7)];
        let rows: Vec<String> = (0..rows).map(|row| self::row(random, row)).collect();
        if !rows.is_empty() {
            statements.push(format!("INSERT INTO t{table} VALUES {}", rows.join(", ")));
        }
    }
    statements
}

fn row(random: &mut Random, number: usize) -> String {
    let mut values = vec![value(random, Type::Int), value(random, Type::Int), number.to_string()];
    values.extend(TYPES.map(|kind| value(random, kind)));
    format!("({})", values.join(", "))
}

fn value(random: &mut Random, kind: Type) -> String {
    if random.one_in(6) { "NULL".to_owned() } else { literal(random, kind) }
}

fn literal(random: &mut Random, kind: Type) -> String {
    match kind {
        Type::Int => (random.below(9) as i64 - 3).to_string(),
        Type::Double => format!("CAST('{}' AS DOUBLE)", random.pick(&["0", "0.5", "-1.25", "3", "1e10", "-0.125"])),
        Type::Text => {
            format!("'{}'", random.pick(&["", "a", "b", "ab", "Ab", "a b", "é", "%", "abcabc", "zz"]))
        }
        Type::Bool => random.pick(&["true", "false"]).to_owned(),
        Type::Date => {
            format!("DATE '{}'", random.pick(&["2020-01-31", "2020-02-29", "1999-12-31", "2021-07-15", "1969-05-05"]))
        }
        Type::Decimal => {
            format!("CAST('{}' AS DECIMAL(10, 2))", random.pick(&["0.00", "1.50", "-2.25", "100.01", "7.00"]))
        }
        Type::Timestamp => {
            let moments = ["2020-01-31 10:20:30", "2020-02-29 00:00:00", "1999-12-31 23:59:59", "1969-05-05 06:30:00"];
            format!("TIMESTAMP '{}'", random.pick(&moments))
        }
    }
}

/// Makes queries.
pub(super) struct Generator<'a> {
    random: &'a mut Random,
    /// Names that were given so far.
    names: usize,
}

impl<'a> Generator<'a> {
    pub(super) fn new(random: &'a mut Random) -> Self {
        Self { random, names: 0 }
    }

    /// A whole query.
    pub(super) fn query(&mut self) -> Node {
        let kinds = self.kinds();
        if self.random.one_in(6) {
            return self.with(&kinds);
        }
        self.any_query(&kinds, 3)
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn kinds(&mut self) -> Vec<Type> {
        (0..1 + self.random.below(4)).map(|_| TYPES[self.random.below(TYPES.len())]).collect()
    }

    /// A query whose columns `c0`, `c1`, ... have these types.
    fn any_query(&mut self, kinds: &[Type], depth: usize) -> Node {
        if depth > 0 && self.random.one_in(5) {
            let operator =
                self.random.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
            let sides = vec![self.select(kinds, depth - 1), self.select(kinds, depth - 1)];
            return Node::new(&format!("($) {operator} ($)"), sides).or_inner(0).or_inner(1);
        }
        self.select(kinds, depth)
    }

    fn with(&mut self, kinds: &[Type]) -> Node {
        let (name, inner) = (self.name('w'), self.kinds());
        let cte = self.any_query(&inner, 1);
        let scope = self.derived(&name, &inner);
        // Twice, so that it is more than a subquery.
        let twice = format!("{name} AS {name} CROSS JOIN (SELECT count(*) AS n FROM {name}) AS {name}n");
        let from = Node::text(twice).or(name.clone());
        let body = self.select_from(kinds, from, &scope, 1);
        Node::new(&format!("WITH {name} AS ($) $"), vec![cte, body])
    }

    fn select(&mut self, kinds: &[Type], depth: usize) -> Node {
        let (from, scope) = self.from(depth);
        self.select_from(kinds, from, &scope, depth)
    }

    fn select_from(&mut self, kinds: &[Type], from: Node, scope: &Scope, depth: usize) -> Node {
        let depth = depth.min(2);
        let filter = match self.random.below(3) {
            0 => Node::text(""),
            _ => Node::new(" WHERE $", vec![self.expression(Type::Bool, scope, depth)]).or(""),
        };
        let (items, tail) = match self.random.below(6) {
            0 | 1 => self.grouped(kinds, scope, depth),
            2 if !scope.unique.is_empty() => {
                let items = kinds.iter().map(|&kind| self.window(kind, scope)).collect();
                (items, Node::text(""))
            }
            _ => {
                let items = kinds.iter().map(|&kind| self.expression(kind, scope, depth)).collect();
                (items, Node::text(""))
            }
        };
        let list: Vec<Node> =
            items.into_iter().enumerate().map(|(i, item)| Node::new(&format!("$ AS c{i}"), vec![item])).collect();
        let distinct = if self.random.one_in(8) { Node::text("DISTINCT ").or("") } else { Node::text("") };
        let order = if self.random.one_in(6) { self.limit(kinds.len()) } else { Node::text("") };
        Node::new("SELECT $$ FROM $$$$", vec![distinct, Node::list(", ", list), from, filter, tail, order])
    }

    /// All columns give the order, so that rows that compare equal are equal.
    fn limit(&mut self, columns: usize) -> Node {
        let keys: Vec<String> = (1..=columns)
            .map(|i| {
                let direction = self.random.pick(&["ASC", "DESC"]);
                let nulls = self.random.pick(&["FIRST", "LAST"]);
                format!("{i} {direction} NULLS {nulls}")
            })
            .collect();
        let (limit, offset) = (self.random.below(12), [0, 0, 1, 3][self.random.below(4)]);
        Node::text(format!(" ORDER BY {} LIMIT {limit} OFFSET {offset}", keys.join(", "))).or("")
    }

    fn derived(&mut self, alias: &str, kinds: &[Type]) -> Scope {
        let columns =
            kinds.iter().enumerate().map(|(i, &kind)| Column { name: format!("{alias}.c{i}"), kind }).collect();
        Scope { columns, unique: Vec::new() }
    }

    fn table(&mut self) -> (Node, Scope) {
        let (table, alias) = (self.random.below(TABLES), self.name('a'));
        let columns = ["k", "j"]
            .map(str::to_owned)
            .into_iter()
            .chain(["r", "i", "x", "s", "b", "d", "m", "z"].map(|it| format!("{it}{table}")));
        let kinds = [Type::Int, Type::Int, Type::Int].into_iter().chain(TYPES);
        let columns = columns.zip(kinds).map(|(name, kind)| Column { name: format!("{alias}.{name}"), kind }).collect();
        let unique = vec![format!("{alias}.r{table}")];
        (Node::text(format!("t{table} AS {alias}")), Scope { columns, unique })
    }

    fn from(&mut self, depth: usize) -> (Node, Scope) {
        match self.random.below(8) {
            0..3 => self.table(),
            3 if depth > 0 => {
                let (alias, kinds) = (self.name('q'), self.kinds());
                let query = self.any_query(&kinds, depth - 1);
                let scope = self.derived(&alias, &kinds);
                (Node::new(&format!("($) AS {alias}"), vec![query]), scope)
            }
            4 if self.random.one_in(2) => self.lateral(),
            _ => self.join(depth),
        }
    }

    /// A table beside a relation that looks at its rows.
    fn lateral(&mut self) -> (Node, Scope) {
        let (left, mut scope) = self.table();
        let (table, inner) = self.inside();
        let filter = self.correlated(&inner, &scope);
        let (alias, kinds) = (self.name('l'), self.kinds());
        let style = self.random.below(4);
        let item = |generator: &mut Self, (i, kind): (usize, Type)| {
            let column = generator.column(kind, &inner);
            let function = if style == 0 { generator.random.pick(&["min", "max"]) } else { "" };
            Node::new(&format!("{function}($) AS c{i}"), vec![column])
        };
        let items: Vec<Node> = kinds.iter().copied().enumerate().map(|it| item(self, it)).collect();
        let distinct = if style == 1 { "DISTINCT " } else { "" };
        let tail = if style == 2 { self.limit(kinds.len()) } else { Node::text("") };
        let query = Node::new(
            &format!("SELECT {distinct}$ FROM $ WHERE $$"),
            vec![Node::list(", ", items), table, filter, tail],
        );
        let own = self.derived(&alias, &kinds);
        scope.columns.extend(own.columns);
        let pattern = match self.random.below(4) {
            0 => format!("$ LEFT JOIN LATERAL ($) AS {alias} ON true"),
            1 => format!("$ JOIN LATERAL ($) AS {alias} ON true"),
            _ => format!("$, LATERAL ($) AS {alias}"),
        };
        // No column tells the rows of both apart.
        scope.unique.clear();
        (Node::new(&pattern, vec![left, query]), scope)
    }

    fn join(&mut self, depth: usize) -> (Node, Scope) {
        let (left, mut scope) = self.table();
        let (right, others) = if depth > 1 && self.random.one_in(4) { self.join(0) } else { self.table() };
        let kind = self.random.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN", "LEFT JOIN"]);
        let plain = others.columns.iter().all(|column| column.name.contains('.'));
        if plain && self.random.one_in(3) {
            let keys = *[&["k"][..], &["k", "j"], &["j"]].get(self.random.below(3)).expect("three");
            let is_key = |column: &Column| keys.iter().any(|key| column.name.ends_with(&format!(".{key}")));
            // The columns of a join inside brackets cannot all be named from outside by USING.
            if others.columns.iter().filter(|column| is_key(column)).count() == keys.len() {
                scope.columns.retain(|column| !is_key(column));
                scope.columns.extend(others.columns.into_iter().filter(|column| !is_key(column)));
                scope.columns.extend(keys.iter().map(|key| Column { name: (*key).to_owned(), kind: Type::Int }));
                scope.unique.extend(others.unique);
                let both_keys = keys.len() == 2 && self.random.one_in(3);
                let pattern = match both_keys {
                    true => format!("$ NATURAL {kind} $"),
                    false => format!("$ {kind} $ USING ({})", keys.join(", ")),
                };
                return (Node::new(&pattern, vec![left, right]), scope);
            }
        }
        let keys = |scope: &Scope| scope.columns.iter().find(|column| column.name.ends_with(".k")).cloned();
        let (own, other) = (keys(&scope), keys(&others));
        let right = if others.unique.len() > 1 { Node::new("($)", vec![right]) } else { right };
        // The merged columns of a join inside have names that the other side has too.
        scope.columns.extend(others.columns.into_iter().filter(|column| column.name.contains('.')));
        scope.unique.extend(others.unique);
        if self.random.one_in(8) {
            return (Node::new("$ CROSS JOIN $", vec![left, right]), scope);
        }
        let mut on = match (own, other) {
            (Some(own), Some(other)) => Node::text(format!("{} = {}", own.name, other.name)).or("true"),
            _ => Node::text("true"),
        };
        if self.random.one_in(2) {
            // Subqueries in ON are refused by both in places of their own.
            let more = self.plain(Type::Bool, &scope, 1);
            on = Node::new("$ AND $", vec![on, more]).or_inner(0).or_inner(1);
        }
        (Node::new(&format!("$ {kind} $ ON $"), vec![left, right, on]), scope)
    }

    /// Items that are keys or aggregates, and GROUP BY with what follows.
    fn grouped(&mut self, kinds: &[Type], scope: &Scope, depth: usize) -> (Vec<Node>, Node) {
        let mut keys: Vec<Node> = Vec::new();
        let mut items = Vec::new();
        for &kind in kinds {
            if self.random.one_in(2) {
                let key = match scope.columns.iter().filter(|column| column.kind == kind).nth(self.random.below(2)) {
                    Some(column) => Node::text(column.name.clone()),
                    None => self.plain(kind, scope, 1),
                };
                // A constant would be the number of a column, and a key is listed once.
                let text = key.to_string();
                if scope.columns.iter().any(|column| text.contains(&column.name))
                    && keys.iter().all(|other| other.to_string() != text)
                {
                    keys.push(key.clone());
                    items.push(key);
                    continue;
                }
            }
            items.push(self.aggregate(kind, scope, depth));
        }
        if keys.is_empty() {
            return (items, Node::text(""));
        }
        let plain = keys.len();
        let list = Node::list(", ", keys);
        let text = list.to_string();
        let pattern = match self.random.below(6) {
            0 => "ROLLUP ($)".to_owned(),
            1 => "CUBE ($)".to_owned(),
            2 if plain > 1 => "GROUPING SETS (($), ())".to_owned(),
            _ => "$".to_owned(),
        };
        let having = match self.random.below(4) {
            0 => Node::new(" HAVING $", vec![self.having(scope)]).or(""),
            _ => Node::text(""),
        };
        let by = Node::text(pattern.replace('$', &text)).or(text);
        (items, Node::new(" GROUP BY $$", vec![by, having]))
    }

    fn having(&mut self, scope: &Scope) -> Node {
        let compare = self.random.pick(&[">", "<", "=", "<>", ">="]);
        Node::new(&format!("$ {compare} {}", self.random.below(4)), vec![self.aggregate(Type::Int, scope, 1)])
            .or("true")
    }

    fn aggregate(&mut self, kind: Type, scope: &Scope, depth: usize) -> Node {
        let depth = depth.min(1);
        let filter = match self.random.below(5) {
            0 => Node::new(" FILTER (WHERE $)", vec![self.plain(Type::Bool, scope, 1)]).or(""),
            _ => Node::text(""),
        };
        let distinct = if self.random.one_in(5) { "DISTINCT " } else { "" };
        let any = TYPES[self.random.below(TYPES.len())];
        let (pattern, inner): (String, Node) = match kind {
            Type::Int => match self.random.below(5) {
                0 => (format!("count({distinct}$)"), self.plain(any, scope, depth)),
                1 => ("CAST(sum($) AS BIGINT)".to_owned(), self.plain(Type::Int, scope, depth)),
                2 => (format!("count({distinct}$)"), self.plain(Type::Text, scope, depth)),
                3 => ("count(*)$".to_owned(), Node::text("")),
                _ => ("max($)".to_owned(), self.plain(Type::Int, scope, depth)),
            },
            Type::Double => match self.random.below(4) {
                0 => ("avg($)".to_owned(), self.plain(Type::Int, scope, depth)),
                1 => ("sum($)".to_owned(), self.column(Type::Double, scope)),
                2 => ("avg($)".to_owned(), self.column(Type::Double, scope)),
                _ => ("min($)".to_owned(), self.plain(Type::Double, scope, depth)),
            },
            Type::Bool => {
                let function = self.random.pick(&["bool_and", "bool_or"]);
                (format!("{function}($)"), self.plain(Type::Bool, scope, depth))
            }
            Type::Decimal if self.random.one_in(3) => {
                ("CAST(sum($) AS DECIMAL(10, 2))".to_owned(), self.column(Type::Decimal, scope))
            }
            _ => {
                let function = self.random.pick(&["min", "max"]);
                (format!("{function}($)"), self.plain(kind, scope, depth))
            }
        };
        let pattern = match pattern.strip_prefix("CAST(") {
            Some(rest) => format!("CAST({}", rest.replacen(" AS ", "$ AS ", 1)),
            None => format!("{pattern}$"),
        };
        Node::new(&pattern, vec![inner, filter])
            .or(format!("max({})", kind.simplest()).replace("max(true)", "bool_or(true)"))
    }

    /// A window function; all rows differ in its order where the frame or the function looks at single rows.
    fn window(&mut self, kind: Type, scope: &Scope) -> Node {
        let partition = match self.random.below(3) {
            0 => Node::text(""),
            _ => Node::new("PARTITION BY $ ", vec![self.column(Type::Int, scope)]).or(""),
        };
        let direction = self.random.pick(&["", " DESC"]);
        let keys: Vec<String> = scope.unique.iter().map(|key| format!("{key}{direction} NULLS LAST")).collect();
        let order = format!("ORDER BY {}", keys.join(", "));
        let rows = |random: &mut Random| {
            let bounds = [
                "UNBOUNDED PRECEDING",
                "2 PRECEDING",
                "1 PRECEDING",
                "CURRENT ROW",
                "1 FOLLOWING",
                "UNBOUNDED FOLLOWING",
            ];
            let first = random.below(bounds.len() - 1);
            let last = (first + random.below(bounds.len() - first)).max(1);
            format!(" ROWS BETWEEN {} AND {}", bounds[first], bounds[last])
        };
        let (pattern, inner) = match (kind, self.random.below(5)) {
            (Type::Int, 0) => (format!("row_number()$ OVER ($ {order})"), Node::text("")),
            (Type::Int, 1) => {
                let key = self.column(Type::Int, scope);
                let function = self.random.pick(&["rank", "dense_rank"]);
                let pattern = format!("{function}() OVER ($ORDER BY $ NULLS LAST)");
                return Node::new(&pattern, vec![partition, key]).or(kind.simplest());
            }
            (Type::Int, 2) => {
                let of = self.plain(Type::Text, scope, 1);
                (format!("count($) OVER ($ {order}{})", rows(self.random)), of)
            }
            (Type::Int, 3) => {
                let (key, n) = (scope.unique[0].clone(), self.random.below(4));
                let of = self.column(Type::Int, scope);
                (
                    format!(
                        "CAST(sum($) OVER ($ ORDER BY {key} RANGE BETWEEN {n} PRECEDING AND CURRENT ROW) AS BIGINT)"
                    ),
                    of,
                )
            }
            (Type::Double, 0) => (format!("cume_dist()$ OVER ($ {order})"), Node::text("")),
            (Type::Double, 1) => {
                let of = self.column(Type::Int, scope);
                (format!("avg($) OVER ($ {order}{})", rows(self.random)), of)
            }
            (_, 0) => {
                let of = self.plain(kind, scope, 1);
                let (function, n) = (self.random.pick(&["lag", "lead"]), self.random.below(3));
                (format!("{function}($, {n}) OVER ($ {order})"), of)
            }
            _ => {
                let of = self.plain(kind, scope, 1);
                let function = self.random.pick(&["first_value", "last_value", "min", "max"]);
                // DuckDB and we have no minimum of truth values in common.
                let function = if kind == Type::Bool && function.starts_with('m') { "last_value" } else { function };
                (format!("{function}($) OVER ($ {order}{})", rows(self.random)), of)
            }
        };
        Node::new(&pattern, vec![inner, partition]).or(kind.simplest())
    }

    fn column(&mut self, kind: Type, scope: &Scope) -> Node {
        let fitting: Vec<&Column> = scope.columns.iter().filter(|column| column.kind == kind).collect();
        match fitting.is_empty() {
            true => Node::text(literal_of(self.random, kind)),
            false => Node::text(fitting[self.random.below(fitting.len())].name.clone()),
        }
    }

    /// An expression that may hold subqueries.
    fn expression(&mut self, kind: Type, scope: &Scope, depth: usize) -> Node {
        if depth > 0 && self.random.one_in(7) { self.subquery(kind, scope) } else { self.plain(kind, scope, depth) }
    }

    /// A scalar subquery, or a condition with one, EXISTS, IN, ANY or ALL; half of them look at the query around them.
    fn subquery(&mut self, kind: Type, scope: &Scope) -> Node {
        let (table, inner) = self.inside();
        let filter = self.correlated(&inner, scope);
        let subquery = if kind == Type::Bool {
            let key = inner.columns[0].name.clone();
            match self.random.below(8) {
                0 | 1 => Node::new("EXISTS (SELECT 1 FROM $ WHERE $)", vec![table, filter]),
                2 | 3 => Node::new("NOT EXISTS (SELECT 1 FROM $ WHERE $)", vec![table, filter]),
                4 => {
                    let is = self.random.pick(&["EXISTS", "NOT EXISTS"]);
                    let having = self.random.pick(&["", " HAVING count(*) > 1", " HAVING count(*) = 0"]);
                    Node::new(&format!("{is} (SELECT count(*) FROM $ WHERE ${having})"), vec![table, filter])
                }
                5 => {
                    let of = self.plain(Type::Int, scope, 1);
                    let compare = self.random.pick(&["=", "<", ">=", "<>"]);
                    let all = self.random.pick(&["ANY", "ALL"]);
                    Node::new(&format!("$ {compare} {all} (SELECT {key} FROM $ WHERE $)"), vec![of, table, filter])
                }
                _ => {
                    let of = self.plain(Type::Int, scope, 1);
                    let is_in = self.random.pick(&["IN", "NOT IN"]);
                    let value = if self.random.one_in(4) { format!("max({key})") } else { key };
                    Node::new(&format!("$ {is_in} (SELECT {value} FROM $ WHERE $)"), vec![of, table, filter])
                }
            }
        } else {
            match self.random.below(5) {
                0 if kind == Type::Int => {
                    let having = self.random.pick(&["", "", " HAVING count(*) <> 1"]);
                    Node::new(&format!("(SELECT count(*) FROM $ WHERE ${having})"), vec![table, filter])
                }
                1 => {
                    let of = self.column(kind, &inner);
                    let order = self.random.pick(&["ASC", "DESC"]);
                    let pattern = format!("(SELECT $ AS v FROM $ WHERE $ ORDER BY v {order} NULLS LAST LIMIT 1)");
                    Node::new(&pattern, vec![of, table, filter])
                }
                _ => {
                    let of = self.column(kind, &inner);
                    let function = self.random.pick(&["min", "max"]);
                    Node::new(&format!("(SELECT {function}($) FROM $ WHERE $)"), vec![of, table, filter])
                }
            }
        };
        subquery.or(kind.simplest())
    }

    /// What a subquery reads: a table, or two.
    fn inside(&mut self) -> (Node, Scope) {
        if self.random.one_in(4) {
            let (left, mut scope) = self.table();
            let (right, others) = self.table();
            let join = self.random.pick(&[",", "JOIN", "LEFT JOIN", "FULL JOIN"]);
            let on = if join == "," {
                String::new()
            } else {
                format!(" ON {} = {}", scope.columns[0].name, others.columns[1].name)
            };
            scope.columns.extend(others.columns);
            return (Node::new(&format!("$ {join} ${on}"), vec![left, right]), scope);
        }
        self.table()
    }

    /// A condition of a subquery.
    fn correlated(&mut self, inner: &Scope, outer: &Scope) -> Node {
        let integers = |scope: &Scope| -> Vec<String> {
            scope.columns.iter().filter(|column| column.kind == Type::Int).map(|column| column.name.clone()).collect()
        };
        let (own, around) = (integers(inner), integers(outer));
        let mut conditions = Vec::new();
        if !around.is_empty() && self.random.one_in(2) {
            for _ in 0..[1, 1, 2][self.random.below(3)] {
                let compare = self.random.pick(&["=", "=", "=", "<", ">=", "IS NOT DISTINCT FROM"]);
                let (left, right) = (&own[self.random.below(own.len())], &around[self.random.below(around.len())]);
                conditions.push(Node::text(format!("{left} {compare} {right}")).or("true"));
            }
        }
        if conditions.is_empty() || self.random.one_in(2) {
            conditions.push(self.plain(Type::Bool, inner, 1).or("true"));
        }
        Node::list(" AND ", conditions)
    }
}

fn literal_of(random: &mut Random, kind: Type) -> String {
    match random.one_in(8) {
        true => format!("CAST(NULL AS {})", kind.name()),
        false => literal(random, kind),
    }
}
