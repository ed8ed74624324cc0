//! Statements that change a database.

use super::convert::convert;
use super::failure::{Answer, error, no_object, syntax, unknown};
use super::scalar::{Condition, Named, Scope, Typed, View};
use super::select::parts_of;
use super::table::{Column, Database, Index, Object, Row, Rows, Table};
use super::types::{Label, Ty};
use crate::tds::backend::{Cell, TdsType};
use sqlparser::ast::{
    AssignmentTarget, ColumnDef, ColumnOption, CreateIndex, CreateTable, CreateView, Delete, Expr, FromTable,
    IndexColumn, Insert, ObjectName, ObjectType, OrderBySort, SetExpr, Statement, TableConstraint, TableFactor,
    TableObject, TableWithJoins, Update,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Changes `database` as `statement` says, and gives the number of rows if it has one.
pub(super) fn apply(database: &mut Database, statement: &Statement, view: &View<'_>) -> Answer<Option<u64>> {
    Ok(match statement {
        Statement::CreateTable(create) => create_table(database, create).map(|()| None)?,
        Statement::CreateView(create) => create_view(database, create).map(|()| None)?,
        Statement::CreateIndex(create) => create_index(database, create).map(|()| None)?,
        Statement::Drop { object_type: ObjectType::Table | ObjectType::View, names, .. } => {
            for name in names {
                let (schema, name) = schema_and_name(name)?;
                let key = database.find(schema.as_deref(), &name).map(|(key, _)| key.clone());
                database.objects.remove(&key.ok_or_else(|| no_object(&name))?);
            }
            None
        }
        Statement::Insert(insert) => Some(self::insert(database, insert, view)?),
        Statement::Update(update) => Some(self::update(database, update, view)?),
        Statement::Delete(delete) => Some(self::delete(database, delete, view)?),
        other => return Err(unknown(format_args!("the statement {other}"))),
    })
}

fn schema_and_name(name: &ObjectName) -> Answer<(Option<String>, String)> {
    let mut parts = parts_of(name)?;
    let name = parts.pop().ok_or_else(|| syntax("."))?;
    let schema = parts.pop();
    if parts.is_empty() { Ok((schema, name)) } else { Err(unknown("a change of another database")) }
}

fn create_table(database: &mut Database, create: &CreateTable) -> Answer<()> {
    let (schema, name) = schema_and_name(&create.name)?;
    if create.query.is_some() || create.temporary || create.like.is_some() {
        return Err(unknown("this CREATE TABLE"));
    }
    let columns: Vec<Column> = create.columns.iter().map(column).collect::<Answer<_>>()?;
    let shaped = database.commits + 1;
    let mut table = Table {
        id: 0,
        columns,
        indexes: Vec::new(),
        rows: Rows::Stored(Arc::new(Vec::new())),
        shaped,
        tracked_since: None,
        policy: None,
    };
    for (place, definition) in create.columns.iter().enumerate() {
        for option in &definition.options {
            let primary = match &option.option {
                ColumnOption::PrimaryKey(_) => true,
                ColumnOption::Unique(_) => false,
                _ => continue,
            };
            table.add_key(&name, primary, vec![(place, false)]);
        }
    }
    for constraint in &create.constraints {
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                let keys = table.keys(&key.columns)?;
                table.add_key(&name, true, keys);
            }
            TableConstraint::Unique(key) => {
                let keys = table.keys(&key.columns)?;
                table.add_key(&name, false, keys);
            }
            other => return Err(unknown(format_args!("the constraint {other}"))),
        }
    }
    database.add(schema.as_deref(), &name, |id| Object::Table(Arc::new(Table { id, ..table })))
}

fn column(definition: &ColumnDef) -> Answer<Column> {
    let mut collation = None;
    let mut nullable = true;
    let mut identity = false;
    for option in &definition.options {
        match &option.option {
            ColumnOption::Null | ColumnOption::Unique(_) => {}
            ColumnOption::NotNull | ColumnOption::PrimaryKey(_) => nullable = false,
            ColumnOption::Collation(name) => collation = Some(name.to_string()),
            ColumnOption::Identity(_) => identity = true,
            other => return Err(unknown(format_args!("the column option {other}"))),
        }
    }
    let kind = definition.data_type.to_string();
    let mut column = Column::new(&definition.name.value, &kind, collation.as_deref(), nullable && !identity)?;
    column.identity = identity;
    if column.declared == "timestamp" {
        column.nullable = false;
    }
    Ok(column)
}

impl Table {
    fn keys(&mut self, columns: &[IndexColumn]) -> Answer<Vec<(usize, bool)>> {
        columns
            .iter()
            .map(|column| {
                let Expr::Identifier(name) = &column.column.expr else { return Err(unknown("this key")) };
                let descends = match &column.column.options.sort {
                    None | Some(OrderBySort::Asc) => false,
                    Some(OrderBySort::Desc) => true,
                    Some(_) => return Err(unknown("this key")),
                };
                Ok((self.place(&name.value)?, descends))
            })
            .collect()
    }

    fn add_key(&mut self, table: &str, primary: bool, keys: Vec<(usize, bool)>) {
        if primary {
            for (place, _) in &keys {
                self.columns[*place].nullable = false;
            }
        }
        let index = Index {
            name: format!("{}_{table}_{}", if primary { "PK" } else { "UQ" }, self.indexes.len()),
            clustered: primary,
            primary,
            unique: true,
            disabled: false,
            filtered: false,
            keys,
            included: Vec::new(),
            partitioned_by: None,
        };
        // The clustered one comes first.
        if primary { self.indexes.insert(0, index) } else { self.indexes.push(index) }
    }

    fn named(&self) -> Vec<Named> {
        self.columns
            .iter()
            .map(|column| Named {
                of: None,
                name: column.name.clone(),
                ty: Ty { label: Label::Implicit, ..column.ty.clone() },
                nullable: column.nullable,
                hidden: column.hidden,
            })
            .collect()
    }

    fn stored(&self) -> Answer<&Arc<Vec<Row>>> {
        match &self.rows {
            Rows::Stored(rows) => Ok(rows),
            Rows::Made { .. } => Err(unknown("a change of rows that are made")),
        }
    }

    /// Refuses rows that break a unique index.
    fn check_keys(&self, name: &str, scope: &Scope<'_>) -> Answer<()> {
        let rows = self.stored()?;
        for index in self.indexes.iter().filter(|index| index.unique && !index.disabled && !index.filtered) {
            let rules: Vec<_> = index
                .keys
                .iter()
                .map(|(place, _)| {
                    scope.rule(&self.columns[*place].ty, &self.columns[*place].ty).map(|rule| (*place, rule))
                })
                .collect::<Answer<_>>()?;
            let mut failed = None;
            let mut compared = |one: &Row, other: &Row| {
                for (place, rule) in &rules {
                    match rule.ordered(&one[*place], &other[*place]) {
                        Ok(Ordering::Equal) => {}
                        Ok(order) => return order,
                        Err(error) => {
                            failed.get_or_insert(error);
                        }
                    }
                }
                Ordering::Equal
            };
            let mut order: Vec<&Row> = rows.iter().collect();
            order.sort_by(|one, other| compared(one, other));
            let twice = order.windows(2).any(|pair| compared(pair[0], pair[1]).is_eq());
            if let Some(error) = failed {
                return Err(error);
            }
            if twice {
                return Err(error(
                    2627,
                    format!("Violation of a key. Cannot insert duplicate key in object '{name}'."),
                ));
            }
        }
        Ok(())
    }
}

fn create_view(database: &mut Database, create: &CreateView) -> Answer<()> {
    let (schema, name) = schema_and_name(&create.name)?;
    if create.materialized || !create.columns.is_empty() {
        return Err(unknown("this CREATE VIEW"));
    }
    let query = Arc::new(create.query.as_ref().clone());
    database.add(schema.as_deref(), &name, |id| Object::View { id, query })
}

fn create_index(database: &mut Database, create: &CreateIndex) -> Answer<()> {
    let (schema, table) = schema_and_name(&create.table_name)?;
    let name = create.name.as_ref().map(|name| parts_of(name).map(|mut parts| parts.pop())).transpose()?.flatten();
    let shaped = database.commits + 1;
    let table = database.any_table_mut(schema.as_deref(), &table)?;
    let index = Index {
        name: name.ok_or_else(|| syntax("ON"))?,
        clustered: false,
        primary: false,
        unique: create.unique,
        disabled: false,
        filtered: create.predicate.is_some(),
        keys: table.keys(&create.columns)?,
        included: create.include.iter().map(|ident| table.place(&ident.value)).collect::<Answer<_>>()?,
        partitioned_by: None,
    };
    table.indexes.push(index);
    table.shaped = shaped;
    Ok(())
}

/// The cell that a column takes of a value.
fn assigned(value: &Typed, row: &[Cell], column: &Column) -> Answer<Cell> {
    let cell = value.eval(row)?;
    if cell == Cell::Null {
        let message = format!("Cannot insert the value NULL into column '{}'.", column.name);
        return if column.nullable { Ok(cell) } else { Err(error(515, message)) };
    }
    let taken = convert(&cell, &value.ty, &column.ty, None)?;
    let unlimited = match &column.ty.kind {
        TdsType::NChar(_) | TdsType::NVarChar(Some(_)) => TdsType::NVarChar(None),
        TdsType::Char(_) | TdsType::VarChar(Some(_)) => TdsType::VarChar(None),
        TdsType::Binary(_) | TdsType::VarBinary(Some(_)) => TdsType::VarBinary(None),
        _ => return Ok(taken),
    };
    let whole = convert(&cell, &value.ty, &Ty { kind: unlimited, ..column.ty.clone() }, None)?;
    let too_long = match (&taken, &whole) {
        // Blanks and zeros beyond the length are dropped.
        (Cell::Utf16(taken), Cell::Utf16(whole)) => whole.iter().skip(taken.len()).any(|unit| *unit != 0x20),
        (Cell::Bytes(taken), Cell::Bytes(whole)) => {
            let blank = if column.ty.is_narrow() { b' ' } else { 0 };
            whole.iter().skip(taken.len()).any(|byte| *byte != blank)
        }
        _ => false,
    };
    if too_long {
        return Err(error(2628, format!("String or binary data would be truncated in column '{}'.", column.name)));
    }
    Ok(taken)
}

fn insert(database: &mut Database, insert: &Insert, view: &View<'_>) -> Answer<u64> {
    let TableObject::TableName(name) = &insert.table else { return Err(unknown("this INSERT")) };
    let (schema, name) = schema_and_name(name)?;
    let Some(SetExpr::Values(values)) = insert.source.as_ref().map(|source| source.body.as_ref()) else {
        return Err(unknown("an INSERT without VALUES"));
    };
    let mut version = database.next_version;
    let table = database.any_table_mut(schema.as_deref(), &name)?;
    let scope = Scope { columns: &[], session: view };
    let places: Vec<usize> = if insert.columns.is_empty() {
        (0..table.columns.len()).filter(|place| !table.columns[*place].fills_itself()).collect()
    } else {
        let place = |column: &ObjectName| table.place(parts_of(column)?.last().map_or("", String::as_str));
        insert.columns.iter().map(place).collect::<Answer<_>>()?
    };
    let mut rows = table.stored()?.as_ref().clone();
    for row in &values.rows {
        if row.len() != places.len() {
            return Err(error(213, "Column name or number of supplied values does not match table definition."));
        }
        let mut cells = vec![Cell::Null; table.columns.len()];
        for (place, expression) in places.iter().zip(row.iter()) {
            cells[*place] = assigned(&scope.value(expression)?, &[], &table.columns[*place])?;
        }
        for (place, column) in table.columns.iter().enumerate().filter(|(place, _)| !places.contains(place)) {
            cells[place] = if column.identity {
                Cell::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX) + 1)
            } else if column.declared == "timestamp" {
                version += 1;
                Cell::Bytes(version.to_be_bytes().to_vec())
            } else {
                assigned(&Typed::constant(TdsType::Int, Cell::Null), &[], column)?
            };
        }
        rows.push(cells.into());
    }
    table.rows = Rows::Stored(Arc::new(rows));
    table.check_keys(&name, &scope)?;
    database.next_version = version;
    Ok(values.rows.len() as u64)
}

/// The table of an UPDATE or DELETE.
fn target<'a>(database: &'a mut Database, table: &TableWithJoins) -> Answer<(String, &'a mut Table)> {
    let TableFactor::Table { name, .. } = &table.relation else { return Err(unknown("a change of this")) };
    if !table.joins.is_empty() {
        return Err(unknown("a change of a join"));
    }
    let (schema, name) = schema_and_name(name)?;
    let table = database.any_table_mut(schema.as_deref(), &name)?;
    Ok((name, table))
}

fn condition(scope: &Scope<'_>, selection: Option<&Expr>) -> Answer<Option<Condition>> {
    selection.map(|selection| scope.condition(selection)).transpose()
}

fn holds(condition: Option<&Condition>, row: &Row) -> Answer<bool> {
    condition.map_or(Ok(true), |condition| Ok(condition.eval(row)? == Some(true)))
}

fn update(database: &mut Database, update: &Update, view: &View<'_>) -> Answer<u64> {
    if update.from.is_some() || update.output.is_some() || update.returning.is_some() || update.limit.is_some() {
        return Err(unknown("this UPDATE"));
    }
    let mut version = database.next_version;
    let (name, table) = target(database, &update.table)?;
    let named = table.named();
    let scope = Scope { columns: &named, session: view };
    let selection = condition(&scope, update.selection.as_ref())?;
    let mut changes = Vec::new();
    for assignment in &update.assignments {
        let AssignmentTarget::ColumnName(column) = &assignment.target else { return Err(unknown("this SET")) };
        let place = table.place(parts_of(column)?.last().map_or("", String::as_str))?;
        changes.push((place, scope.value(&assignment.value)?));
    }
    let mut rows = table.stored()?.as_ref().clone();
    let mut affected = 0;
    for row in &mut rows {
        if !holds(selection.as_ref(), row)? {
            continue;
        }
        affected += 1;
        let mut cells = row.to_vec();
        for (place, value) in &changes {
            cells[*place] = assigned(value, row, &table.columns[*place])?;
        }
        for (place, _) in table.columns.iter().enumerate().filter(|(_, column)| column.declared == "timestamp") {
            version += 1;
            cells[place] = Cell::Bytes(version.to_be_bytes().to_vec());
        }
        *row = cells.into();
    }
    table.rows = Rows::Stored(Arc::new(rows));
    table.check_keys(&name, &scope)?;
    database.next_version = version;
    Ok(affected)
}

fn delete(database: &mut Database, delete: &Delete, view: &View<'_>) -> Answer<u64> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [from] = from.as_slice() else { return Err(unknown("this DELETE")) };
    if !delete.tables.is_empty() || delete.using.is_some() || delete.limit.is_some() || delete.output.is_some() {
        return Err(unknown("this DELETE"));
    }
    let (_, table) = target(database, from)?;
    let named = table.named();
    let scope = Scope { columns: &named, session: view };
    let selection = condition(&scope, delete.selection.as_ref())?;
    let rows = table.stored()?;
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        if !holds(selection.as_ref(), row)? {
            kept.push(Arc::clone(row));
        }
    }
    let affected = (rows.len() - kept.len()) as u64;
    table.rows = Rows::Stored(Arc::new(kept));
    Ok(affected)
}
