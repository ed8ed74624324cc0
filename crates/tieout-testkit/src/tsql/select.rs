//! Queries: of one table, view or query, or of a join; filtered, sorted, the first ones of it.

use super::Flavour;
use super::catalogue;
use super::compare::Compare;
use super::failure::{Answer, error, no_object, syntax, unknown};
use super::scalar::{Condition, Named, Node, Scope, Typed, View};
use super::table::{Database, Object, Row, Rows, mask, parts, same};
use super::types::{Label, Ty};
use crate::tds::backend::{Cell, ColumnInfo, ResultSet, SqlError, TdsType};
use sqlparser::ast::{
    Expr, GroupByExpr, Join, JoinConstraint, JoinOperator, ObjectName, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableFactor, TableSampleKind, TableWithJoins, TopQuantity,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Views in views, at most; the server's own limit is 32.
const DEPTH: usize = 32;

/// Rows as they are made.
pub(super) type RowStream = Box<dyn Iterator<Item = Answer<Row>> + Send>;

/// A query that was understood: its columns and its rows.
pub(super) struct Planned {
    pub(super) columns: Vec<Named>,
    pub(super) rows: RowStream,
    /// The column by which the rows ascend anyway.
    ascends: Option<usize>,
}

/// What a query reads: the states of the database, and who asks.
pub(super) struct Reader<'a> {
    pub(super) session: &'a View<'a>,
    /// Gives the state that rows are read of.
    pub(super) state: &'a dyn Fn() -> Answer<Arc<Database>>,
}

impl Reader<'_> {
    /// Plans a query.
    #[expect(clippy::too_many_lines, reason = "one clause after the other")]
    pub(super) fn query(&self, query: &Query, depth: usize) -> Answer<Planned> {
        let understood =
            query.with.is_none() && query.limit_clause.is_none() && query.fetch.is_none() && query.locks.is_empty();
        if !understood || query.for_clause.is_some() || query.settings.is_some() || !query.pipe_operators.is_empty() {
            return Err(unknown("a clause of the query"));
        }
        let SetExpr::Select(select) = query.body.as_ref() else { return Err(unknown("a query that is no SELECT")) };
        let order: &[_] = match query.order_by.as_ref().map(|order| (&order.kind, &order.interpolate)) {
            None => &[],
            Some((OrderByKind::Expressions(expressions), None)) => expressions,
            Some(_) => return Err(unknown("this ORDER BY")),
        };
        if depth > 0 && !order.is_empty() && select.top.is_none() {
            return Err(error(
                1033,
                "The ORDER BY clause is invalid in views and derived tables, unless TOP is also specified.",
            ));
        }
        if depth > DEPTH {
            return Err(error(
                217,
                "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).",
            ));
        }
        plain(select)?;
        let source = self.from(&select.from, depth)?;
        let scope = Scope { columns: &source.columns, session: self.session };
        let filter = select.selection.as_ref().map(|condition| scope.condition(condition)).transpose()?;
        let top = select.top.as_ref().map(|top| self.top(top)).transpose()?;
        if let Some(counted) = count(&select.projection) {
            let mut rows: i64 = 0;
            for row in source.rows {
                rows += i64::from(holds(filter.as_ref(), &row?)?);
            }
            let name = counted.to_owned();
            let columns = vec![Named { of: None, name, ty: Ty::of(TdsType::Int), nullable: false, hidden: false }];
            let row: Row = vec![Cell::Int(rows)].into();
            return Ok(Planned { columns, rows: Box::new(std::iter::once(Ok(row))), ascends: None });
        }
        let (names, items) = items(&select.projection, &scope)?;
        let mut sort = Vec::new();
        for term in order {
            if term.options.nulls_first.is_some() || term.with_fill.is_some() {
                return Err(unknown("this ORDER BY"));
            }
            let value = match &term.expr {
                Expr::Value(_) => return Err(unknown("ORDER BY a place in the list")),
                // What the list calls so comes first.
                Expr::Identifier(name) => match names.iter().position(|named| same(&named.name, &name.value)) {
                    Some(place) => items[place].clone(),
                    None => scope.value(&term.expr)?,
                },
                expression => scope.value(expression)?,
            };
            let rule = scope.rule(&value.ty, &value.ty)?;
            let descends = match &term.options.sort {
                None | Some(sqlparser::ast::OrderBySort::Asc) => false,
                Some(sqlparser::ast::OrderBySort::Desc) => true,
                Some(_) => return Err(unknown("this ORDER BY")),
            };
            sort.push((value, rule, descends));
        }
        let in_order = match sort.as_slice() {
            [] => true,
            [(Typed { node: Node::Column(place), .. }, _, false)] => source.ascends == Some(*place),
            _ => false,
        };
        let filtered =
            source.rows.filter_map(move |row| match row.and_then(|row| Ok((holds(filter.as_ref(), &row)?, row))) {
                Ok((true, row)) => Some(Ok(row)),
                Ok((false, _)) => None,
                Err(error) => Some(Err(error)),
            });
        let ordered: RowStream = if in_order { Box::new(filtered) } else { sorted(filtered, &sort)? };
        let limited = ordered.take(top.unwrap_or(usize::MAX));
        let ascends = items.iter().position(|item| match item.node {
            Node::Column(place) => in_order && source.ascends == Some(place),
            _ => false,
        });
        let rows = limited.map(move |row| {
            let row = row?;
            items.iter().map(|item| item.eval(&row)).collect::<Answer<Row>>()
        });
        Ok(Planned { columns: names, rows: Box::new(rows), ascends })
    }

    fn top(&self, top: &sqlparser::ast::Top) -> Answer<usize> {
        if top.with_ties || top.percent {
            return Err(unknown("this TOP"));
        }
        let scope = Scope { columns: &[], session: self.session };
        let most = match &top.quantity {
            Some(TopQuantity::Constant(most)) => i64::try_from(*most).unwrap_or(i64::MAX),
            Some(TopQuantity::Expr(expression)) => match scope.value(expression)?.fixed()? {
                Cell::Int(most) => most,
                _ => return Err(error(1060, "The number of rows provided for a TOP clause must be an integer.")),
            },
            None => return Err(syntax("TOP")),
        };
        usize::try_from(most).map_err(|_| error(127, "A TOP N value may not be negative."))
    }

    fn from(&self, from: &[TableWithJoins], depth: usize) -> Answer<Planned> {
        let table = match from {
            [] => {
                let none: Row = Vec::new().into();
                return Ok(Planned { columns: Vec::new(), rows: Box::new(std::iter::once(Ok(none))), ascends: None });
            }
            [table] => table,
            _ => return Err(unknown("several tables without JOIN")),
        };
        let mut left = self.factor(&table.relation, depth)?;
        for join in &table.joins {
            left = self.join(left, join, depth)?;
        }
        Ok(left)
    }

    fn join(&self, left: Planned, join: &Join, depth: usize) -> Answer<Planned> {
        let (JoinOperator::Join(JoinConstraint::On(condition)) | JoinOperator::Inner(JoinConstraint::On(condition))) =
            &join.join_operator
        else {
            return Err(unknown("this kind of JOIN"));
        };
        let right = self.factor(&join.relation, depth)?;
        let columns: Vec<Named> = left.columns.into_iter().chain(right.columns).collect();
        let condition = Scope { columns: &columns, session: self.session }.condition(condition)?;
        let others: Vec<Row> = right.rows.collect::<Answer<_>>()?;
        let mut rows = Vec::new();
        for row in left.rows {
            let row = row?;
            for other in &others {
                let both: Row = row.iter().chain(other.iter()).cloned().collect();
                if holds(Some(&condition), &both)? {
                    rows.push(Ok(both));
                }
            }
        }
        Ok(Planned { columns, rows: Box::new(rows.into_iter()), ascends: None })
    }

    fn factor(&self, factor: &TableFactor, depth: usize) -> Answer<Planned> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version: None,
                sample,
                partitions,
                index_directives,
                ..
            } => {
                if !with_hints.is_empty() || !partitions.is_empty() || !index_directives.is_empty() {
                    return Err(unknown("hints"));
                }
                let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                let mut planned = self.named(name, args.is_some(), depth)?;
                if let Some(TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
                    sample
                {
                    planned = self.sampled(planned, &sample.to_string())?;
                }
                let of =
                    alias.or_else(|| name.0.last().and_then(|part| part.as_ident()).map(|last| last.value.clone()));
                planned.columns.iter_mut().for_each(|column| column.of.clone_from(&of));
                Ok(planned)
            }
            TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None } => {
                let mut planned = self.query(subquery, depth + 1)?;
                if let Some(column) = planned.columns.iter().position(|column| column.name.is_empty()) {
                    let message =
                        format!("No column name was specified for column {} of '{}'.", column + 1, alias.name.value);
                    return Err(error(8155, message));
                }
                for (place, column) in planned.columns.iter().enumerate() {
                    if planned.columns[..place].iter().any(|other| same(&other.name, &column.name)) {
                        let message = format!(
                            "The column '{}' was specified multiple times for '{}'.",
                            column.name, alias.name.value
                        );
                        return Err(error(8156, message));
                    }
                }
                planned.columns.iter_mut().for_each(|column| column.of = Some(alias.name.value.clone()));
                Ok(planned)
            }
            other => Err(unknown(format_args!("FROM {other}"))),
        }
    }

    /// About as many rows as are asked for, always the same ones.
    fn sampled(&self, planned: Planned, sample: &str) -> Answer<Planned> {
        let words: Vec<&str> = sample.split([' ', '(', ')']).filter(|word| !word.is_empty()).collect();
        let (["TABLESAMPLE", "SYSTEM", wanted, "ROWS", "REPEATABLE", _], Flavour::SqlServer) =
            (words.as_slice(), self.session.flavour)
        else {
            return Err(syntax("TABLESAMPLE"));
        };
        let wanted: usize = wanted.parse().map_err(|_| syntax(wanted))?;
        let rows: Vec<Answer<Row>> = planned.rows.collect();
        let step = rows.len().div_ceil(wanted.max(1)).max(1);
        Ok(Planned { rows: Box::new(rows.into_iter().step_by(step)), ..planned })
    }

    /// A table, view, or part of the catalogue.
    fn named(&self, name: &ObjectName, is_function: bool, depth: usize) -> Answer<Planned> {
        let mut parts = parts_of(name)?;
        let table = parts.pop().ok_or_else(|| syntax("."))?;
        let schema = parts.pop().filter(|schema| !schema.is_empty());
        if let Some(database) = parts.pop()
            && !same(&database, &self.session.now.name)
        {
            return Err(no_object(&name.to_string()));
        }
        if schema.as_deref().is_some_and(|schema| same(schema, "sys")) {
            return self.catalogue(&table, is_function);
        }
        if is_function {
            return Err(no_object(&name.to_string()));
        }
        self.object(schema.as_deref(), &table, depth)
    }

    fn catalogue(&self, name: &str, is_function: bool) -> Answer<Planned> {
        // What a view looks like is no read of its tables.
        let present = || Ok(Arc::clone(self.session.now));
        let reader = Reader { session: self.session, state: &present };
        let describe = |query: &Query| reader.query(query, 1).map(|planned| planned.columns);
        let found = catalogue::view(self.session.now, self.session.flavour, name, is_function, &describe)?;
        let (columns, rows) = found.ok_or_else(|| no_object(&format!("sys.{name}")))?;
        Ok(Planned { columns, rows: Box::new(rows.into_iter().map(Ok)), ascends: None })
    }

    fn object(&self, schema: Option<&str>, name: &str, depth: usize) -> Answer<Planned> {
        let missing = || no_object(name);
        // A name that is not there is refused before anything is read.
        self.session.now.find(schema, name).ok_or_else(missing)?;
        let state = (self.state)()?;
        let (_, object) = state.find(schema, name).ok_or_else(missing)?;
        match object {
            Object::View { query, .. } => self.query(query, depth + 1),
            Object::Synonym { base, .. } => {
                let mut parts = parts(base);
                let name = parts.pop().unwrap_or_default();
                if depth > DEPTH {
                    return Err(missing());
                }
                self.object(parts.pop().filter(|schema| !schema.is_empty()).as_deref(), &name, depth + 1)
            }
            Object::Table(table) => {
                // What was changed by DDL after the snapshot cannot be read in it.
                if let Some((_, Object::Table(now))) = self.session.now.find(schema, name)
                    && now.shaped > state.commits
                {
                    let message = "Snapshot isolation transaction failed in the database because the object accessed by the \
                                   statement has been modified by a DDL statement in another concurrent transaction.";
                    return Err(error(3961, message));
                }
                let columns: Vec<Named> = table
                    .columns
                    .iter()
                    .map(|column| Named {
                        of: None,
                        name: column.name.clone(),
                        ty: Ty { label: Label::Implicit, ..column.ty.clone() },
                        nullable: column.nullable,
                        hidden: column.hidden,
                    })
                    .collect();
                let mut rows: RowStream = Box::new(table.rows.iter().map(Ok));
                if let Some((_, condition)) = &table.policy {
                    let parsed = super::session::condition(condition)?;
                    let condition = Scope { columns: &columns, session: self.session }.condition(&parsed)?;
                    rows = Box::new(rows.filter(move |row| match row {
                        Ok(row) => condition.eval(row).is_ok_and(|truth| truth == Some(true)),
                        Err(_) => true,
                    }));
                }
                if !state.unmask && table.columns.iter().any(|column| column.masked) {
                    let masked: Vec<Option<TdsType>> =
                        table.columns.iter().map(|column| column.masked.then(|| column.ty.kind.clone())).collect();
                    rows = Box::new(rows.map(move |row| {
                        let cells = row?;
                        let shown = cells.iter().zip(&masked).map(|(cell, kind)| match kind {
                            Some(kind) => mask(cell, kind),
                            None => cell.clone(),
                        });
                        Ok(shown.collect())
                    }));
                }
                let ascends = match table.rows {
                    Rows::Made { ascends, .. } => Some(ascends),
                    Rows::Stored(_) => None,
                };
                Ok(Planned { columns, rows, ascends })
            }
        }
    }
}

/// The parts of a name.
pub(super) fn parts_of(name: &ObjectName) -> Answer<Vec<String>> {
    name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.clone()).ok_or_else(|| syntax(part))).collect()
}

/// Refuses what a SELECT may say beyond what is understood here.
fn plain(select: &Select) -> Answer<()> {
    let groups = matches!(&select.group_by, GroupByExpr::Expressions(by, with) if by.is_empty() && with.is_empty());
    let odd = select.distinct.is_some()
        || select.into.is_some()
        || select.having.is_some()
        || select.qualify.is_some()
        || select.prewhere.is_some()
        || select.exclude.is_some()
        || !select.connect_by.is_empty()
        || !select.lateral_views.is_empty()
        || !select.cluster_by.is_empty()
        || !select.distribute_by.is_empty()
        || !select.sort_by.is_empty()
        || !select.named_window.is_empty();
    if odd || !groups { Err(unknown("a clause of the SELECT")) } else { Ok(()) }
}

/// The name of the column of `COUNT(*)`, where that is all that is selected.
fn count(projection: &[SelectItem]) -> Option<&str> {
    let (expression, name) = match projection {
        [SelectItem::UnnamedExpr(expression)] => (expression, ""),
        [SelectItem::ExprWithAlias { expr, alias }] => (expr, alias.value.as_str()),
        _ => return None,
    };
    expression.to_string().eq_ignore_ascii_case("COUNT(*)").then_some(name)
}

fn items(projection: &[SelectItem], scope: &Scope<'_>) -> Answer<(Vec<Named>, Vec<Typed>)> {
    let (mut names, mut items) = (Vec::new(), Vec::new());
    for item in projection {
        let (expression, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
            SelectItem::Wildcard(_) => {
                every(None, scope, &mut names, &mut items)?;
                continue;
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(of), _) => {
                every(Some(&of.to_string()), scope, &mut names, &mut items)?;
                continue;
            }
            other => return Err(syntax(other)),
        };
        let value = scope.value(expression)?;
        let own = match (&value.node, expression) {
            (Node::Column(place), Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => {
                scope.columns[*place].name.clone()
            }
            _ => String::new(),
        };
        let name = alias.unwrap_or(own);
        names.push(Named { of: None, name, ty: value.ty.clone(), nullable: value.nullable, hidden: false });
        items.push(value);
    }
    Ok((names, items))
}

/// What `*` stands for.
fn every(of: Option<&str>, scope: &Scope<'_>, names: &mut Vec<Named>, items: &mut Vec<Typed>) -> Answer<()> {
    let before = items.len();
    for (place, column) in scope.columns.iter().enumerate() {
        let fits = of.is_none_or(|of| column.of.as_deref().is_some_and(|alias| same(alias, of)));
        if fits && !column.hidden {
            items.push(Typed { ty: column.ty.clone(), nullable: column.nullable, node: Node::Column(place) });
            names.push(Named { of: None, ..column.clone() });
        }
    }
    if items.len() == before { Err(syntax("*")) } else { Ok(()) }
}

fn holds(filter: Option<&Condition>, row: &[Cell]) -> Answer<bool> {
    filter.map_or(Ok(true), |filter| Ok(filter.eval(row)? == Some(true)))
}

/// Sorts all rows; rows that are equal keep their order, which no client may count on.
fn sorted(rows: impl Iterator<Item = Answer<Row>>, sort: &[(Typed, Compare, bool)]) -> Answer<RowStream> {
    let mut keyed: Vec<(Vec<Cell>, Row)> = Vec::new();
    for row in rows {
        let row = row?;
        let key = sort.iter().map(|(value, ..)| value.eval(&row)).collect::<Answer<_>>()?;
        keyed.push((key, row));
    }
    let mut failed: Option<SqlError> = None;
    keyed.sort_by(|(one, _), (other, _)| {
        for ((a, b), (_, rule, descends)) in one.iter().zip(other).zip(sort) {
            match rule.ordered(a, b) {
                Ok(Ordering::Equal) => {}
                Ok(order) => return if *descends { order.reverse() } else { order },
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        Ordering::Equal
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(Box::new(keyed.into_iter().map(|(_, row)| Ok(row)))),
    }
}

impl Planned {
    /// The answer to the client.
    pub(super) fn into_result(self) -> ResultSet {
        let columns = self
            .columns
            .iter()
            .map(|column| ColumnInfo {
                name: column.name.clone(),
                kind: column.ty.kind.clone(),
                nullable: column.nullable,
                collation: (column.ty.is_wide() || column.ty.is_narrow()).then_some(column.ty.collation.wire),
            })
            .collect();
        ResultSet { columns, rows: Box::new(self.rows.map(|row| row.map(|cells| cells.to_vec()))) }
    }
}
