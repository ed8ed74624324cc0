//! Expressions: values and conditions, which T-SQL keeps apart.

use super::Flavour;
use super::collation;
use super::compare::{self, Compare};
use super::convert::{self, convert};
use super::failure::{Answer, error, no_column, syntax, unknown};
use super::moment;
use super::table::{Database, Object, parts, same};
use super::types::{self, Label, Ty};
use crate::tds::backend::{Cell, Param, TdsType};
use sqlparser::ast::{
    self, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Days from 0001-01-01 to 1970-01-01.
const TO_1970: i64 = 719_162;

/// A column that an expression may name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// What the table is called in the query.
    pub(super) of: Option<String>,
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) nullable: bool,
    /// Left out by `*`.
    pub(super) hidden: bool,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) columns: &'a [Named],
    pub(super) session: &'a View<'a>,
}

/// What functions ask of the session.
pub(super) struct View<'a> {
    pub(super) flavour: Flavour,
    /// The database as it is now.
    pub(super) now: &'a Arc<Database>,
    pub(super) transactions: u32,
    pub(super) params: &'a [Param],
}

/// A value with its type.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) ty: Ty,
    pub(super) nullable: bool,
    pub(super) node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Column(usize),
    Constant(Cell),
    Convert(Box<Typed>, Option<i64>),
    Concat(Box<Typed>, Box<Typed>),
    /// Of whole numbers.
    Arithmetic(BinaryOperator, Box<Typed>, Box<Typed>),
    Rtrim(Box<Typed>),
    DataLength(Box<Typed>),
    NChar(Box<Typed>),
}

/// What may be true, false or unknown.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Compare(BinaryOperator, Typed, Typed, Compare),
    IsNull(Typed),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

impl Typed {
    pub(super) fn constant(kind: TdsType, cell: Cell) -> Self {
        Self { ty: Ty::of(kind), nullable: cell == Cell::Null, node: Node::Constant(cell) }
    }

    /// The same value as another type; the value itself if it is of that type.
    pub(super) fn converted(self, to: Ty, style: Option<i64>) -> Self {
        Self { nullable: self.nullable, ty: to, node: Node::Convert(Box::new(self), style) }
    }

    /// The value of an expression that names no column.
    pub(super) fn fixed(&self) -> Answer<Cell> {
        fn names_column(value: &Typed) -> bool {
            match &value.node {
                Node::Column(_) => true,
                Node::Constant(_) => false,
                Node::Convert(inner, _) | Node::Rtrim(inner) | Node::DataLength(inner) | Node::NChar(inner) => {
                    names_column(inner)
                }
                Node::Concat(left, right) | Node::Arithmetic(_, left, right) => {
                    names_column(left) || names_column(right)
                }
            }
        }
        if names_column(self) { Err(unknown("a column in this place")) } else { self.eval(&[]) }
    }

    /// The value for a row.
    pub(super) fn eval(&self, row: &[Cell]) -> Answer<Cell> {
        Ok(match &self.node {
            Node::Column(place) => row[*place].clone(),
            Node::Constant(cell) => cell.clone(),
            Node::Convert(inner, style) => convert(&inner.eval(row)?, &inner.ty, &self.ty, *style)?,
            Node::Concat(left, right) => match (left.eval(row)?, right.eval(row)?) {
                (Cell::Utf16(mut left), Cell::Utf16(right)) => {
                    left.extend(right);
                    Cell::Utf16(left)
                }
                (Cell::Bytes(mut left), Cell::Bytes(right)) => {
                    left.extend(right);
                    Cell::Bytes(left)
                }
                (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
                _ => return Err(unknown("adding these values")),
            },
            Node::Arithmetic(operator, left, right) => match (left.eval(row)?, right.eval(row)?) {
                (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
                (Cell::Int(left), Cell::Int(right)) => {
                    let result = match operator {
                        BinaryOperator::Plus => left.checked_add(right),
                        BinaryOperator::Minus => left.checked_sub(right),
                        BinaryOperator::Multiply => left.checked_mul(right),
                        _ if right == 0 => return Err(error(8134, "Divide by zero error encountered.")),
                        BinaryOperator::Divide => left.checked_div(right),
                        _ => left.checked_rem(right),
                    };
                    let fits = |value: &i64| self.ty.kind == TdsType::BigInt || i32::try_from(*value).is_ok();
                    Cell::Int(result.filter(fits).ok_or_else(|| super::failure::overflow("int"))?)
                }
                _ => return Err(unknown("arithmetic of these values")),
            },
            Node::Rtrim(inner) => match inner.eval(row)? {
                Cell::Utf16(mut units) => {
                    units.truncate(units.iter().rposition(|unit| *unit != 0x20).map_or(0, |last| last + 1));
                    Cell::Utf16(units)
                }
                Cell::Bytes(mut bytes) => {
                    bytes.truncate(bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1));
                    Cell::Bytes(bytes)
                }
                other => other,
            },
            Node::DataLength(inner) => match inner.eval(row)? {
                Cell::Null => Cell::Null,
                Cell::Bytes(bytes) => Cell::Int(i64::try_from(bytes.len()).unwrap_or(i64::MAX)),
                Cell::Utf16(units) => Cell::Int(i64::try_from(units.len() * 2).unwrap_or(i64::MAX)),
                _ => Cell::Int(types::size(&inner.ty.kind).0),
            },
            Node::NChar(inner) => match inner.eval(row)? {
                // Without a collation of supplementary characters, there is nothing beyond 65 535.
                Cell::Int(code) => u16::try_from(code).map_or(Cell::Null, |unit| Cell::Utf16(vec![unit])),
                _ => Cell::Null,
            },
        })
    }
}

impl Condition {
    /// Whether it holds; `None` is unknown.
    pub(super) fn eval(&self, row: &[Cell]) -> Answer<Option<bool>> {
        Ok(match self {
            Self::Compare(operator, left, right, rule) => {
                let (left, right) = (left.eval(row)?, right.eval(row)?);
                if left == Cell::Null || right == Cell::Null {
                    return Ok(None);
                }
                let order = rule.values(&left, &right)?;
                Some(match operator {
                    BinaryOperator::Eq => order == Ordering::Equal,
                    BinaryOperator::NotEq => order != Ordering::Equal,
                    BinaryOperator::Lt => order == Ordering::Less,
                    BinaryOperator::LtEq => order != Ordering::Greater,
                    BinaryOperator::Gt => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                })
            }
            Self::IsNull(value) => Some(value.eval(row)? == Cell::Null),
            Self::And(left, right) => match (left.eval(row)?, right.eval(row)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(left, right) => match (left.eval(row)?, right.eval(row)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Self::Not(inner) => inner.eval(row)?.map(|truth| !truth),
        })
    }
}

impl Scope<'_> {
    /// An expression that is a value.
    pub(super) fn value(&self, expression: &Expr) -> Answer<Typed> {
        match expression {
            Expr::Nested(inner) => self.value(inner),
            Expr::Identifier(name) if name.value.starts_with("@@") => self.variable(&name.value),
            Expr::Identifier(name) if name.value.starts_with('@') => self.parameter(&name.value),
            Expr::Identifier(name) => self.column(None, &name.value),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [of, name] => self.column(Some(&of.value), &name.value),
                _ => Err(unknown("a column name of more parts")),
            },
            Expr::Value(value) => self.literal(&value.value),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => negated(self.value(expr)?),
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => self.value(expr),
            Expr::BinaryOp { left, op, right } => Self::operation(op, self.value(left)?, self.value(right)?),
            Expr::Collate { expr, collation } => self.collated(self.value(expr)?, &collation.to_string()),
            Expr::Convert {
                is_try: false,
                expr,
                data_type: Some(to),
                charset: None,
                target_before_value: true,
                styles,
            } => {
                let style = match styles.as_slice() {
                    [] => None,
                    [style] => match self.value(style)?.fixed()? {
                        Cell::Int(style) => Some(style),
                        _ => return Err(unknown("a style that is no number")),
                    },
                    _ => return Err(syntax(",")),
                };
                self.convert(self.value(expr)?, &to.to_string(), style)
            }
            Expr::Cast { kind: ast::CastKind::Cast, expr, data_type, .. } => {
                self.convert(self.value(expr)?, &data_type.to_string(), None)
            }
            Expr::Function(function) => self.function(function),
            other => Err(unknown(format_args!("the expression {other}"))),
        }
    }

    fn column(&self, of: Option<&str>, name: &str) -> Answer<Typed> {
        let fits = |column: &Named| {
            same(&column.name, name) && of.is_none_or(|of| column.of.as_deref().is_some_and(|alias| same(alias, of)))
        };
        let mut found = self.columns.iter().enumerate().filter(|(_, column)| fits(column));
        let Some((place, column)) = found.next() else {
            return Err(match of {
                Some(of) if !self.columns.iter().any(|c| c.of.as_deref().is_some_and(|alias| same(alias, of))) => {
                    error(4104, format!("The multi-part identifier \"{of}.{name}\" could not be bound."))
                }
                _ => no_column(name),
            });
        };
        if found.next().is_some() {
            return Err(error(209, format!("Ambiguous column name '{name}'.")));
        }
        Ok(Typed { ty: column.ty.clone(), nullable: column.nullable, node: Node::Column(place) })
    }

    fn variable(&self, name: &str) -> Answer<Typed> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "@@VERSION" => text(self.session.flavour.version(), 300),
            "@@TRANCOUNT" => Typed::constant(TdsType::Int, Cell::Int(i64::from(self.session.transactions))),
            _ => return Err(unknown(format_args!("the variable {name}"))),
        })
    }

    fn parameter(&self, name: &str) -> Answer<Typed> {
        let found = self.session.params.iter().find(|parameter| same(&parameter.name, name));
        let parameter = found.ok_or_else(|| error(137, format!("Must declare the scalar variable \"{name}\".")))?;
        Ok(Typed::constant(parameter.kind.clone(), parameter.value.clone()))
    }

    fn literal(&self, value: &Value) -> Answer<Typed> {
        Ok(match value {
            Value::Null => Typed::constant(TdsType::Int, Cell::Null),
            Value::Placeholder(name) => return self.parameter(name),
            Value::Number(digits, _) => number(digits)?,
            Value::HexStringLiteral(digits) => {
                // An odd digit stands for a byte of its own.
                let digits = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.clone() };
                let bytes = convert::unhex(&digits).ok_or_else(|| syntax(&digits))?;
                let length = u16::try_from(bytes.len().max(1)).ok().filter(|length| *length <= 8000);
                Typed::constant(TdsType::VarBinary(length), Cell::Bytes(bytes))
            }
            Value::NationalStringLiteral(characters) => {
                let units: Vec<u16> = continued(characters).encode_utf16().collect();
                let length = u16::try_from(units.len().max(1)).ok().filter(|length| *length <= 4000);
                Typed::constant(TdsType::NVarChar(length), Cell::Utf16(units))
            }
            Value::SingleQuotedString(characters) => {
                let units: Vec<u16> = continued(characters).encode_utf16().collect();
                let bytes = collation::DEFAULT.encode(&units)?;
                let length = u16::try_from(bytes.len().max(1)).ok().filter(|length| *length <= 8000);
                Typed::constant(TdsType::VarChar(length), Cell::Bytes(bytes))
            }
            other => return Err(unknown(format_args!("the literal {other}"))),
        })
    }

    fn convert(&self, value: Typed, to: &str, style: Option<i64>) -> Answer<Typed> {
        let (_, mut kind) = types::parse(to)?;
        // Without a length, CONVERT takes 30.
        if !to.contains('(') {
            kind = match kind {
                TdsType::Char(1) => TdsType::Char(30),
                TdsType::VarChar(Some(1)) => TdsType::VarChar(Some(30)),
                TdsType::NChar(1) => TdsType::NChar(30),
                TdsType::NVarChar(Some(1)) => TdsType::NVarChar(Some(30)),
                TdsType::Binary(1) => TdsType::Binary(30),
                TdsType::VarBinary(Some(1)) => TdsType::VarBinary(Some(30)),
                other => other,
            };
        }
        let mut ty = Ty::of(kind);
        let characters = value.ty.is_wide() || value.ty.is_narrow();
        if characters && (ty.is_wide() || ty.is_narrow()) {
            ty.collation = value.ty.collation;
            ty.label = value.ty.label;
        }
        let bytes = matches!(ty.kind, TdsType::Binary(_) | TdsType::VarBinary(_));
        if bytes && value.ty.is_wide() && self.session.flavour == Flavour::PostgresBacked {
            // Goes through a code page there, and loses what is beyond it.
            let narrow = Ty { kind: TdsType::VarChar(None), ..value.ty.clone() };
            return Ok(value.converted(narrow, None).converted(ty, style));
        }
        Ok(value.converted(ty, style))
    }

    fn collated(&self, value: Typed, name: &str) -> Answer<Typed> {
        if self.session.flavour == Flavour::PostgresBacked && name.to_ascii_uppercase().ends_with("BIN2_UTF8") {
            return Err(error(448, format!("Invalid collation '{name}'.")));
        }
        let collation = collation::find(name)?;
        if !value.ty.is_wide() && !value.ty.is_narrow() {
            return Err(error(447, "Expression type is invalid for COLLATE clause."));
        }
        let ty = Ty { collation, label: Label::Explicit, ..value.ty.clone() };
        // varchar changes its code page.
        Ok(if ty.is_narrow() { value.converted(ty, None) } else { Typed { ty, ..value } })
    }

    fn operation(operator: &BinaryOperator, left: Typed, right: Typed) -> Answer<Typed> {
        use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
        let nullable = left.nullable || right.nullable;
        match operator {
            Plus if left.ty.is_text() && right.ty.is_text() => {
                let collation = compare::collation_of(&left.ty, &right.ty)?;
                let label = left.ty.label.max(right.ty.label);
                let wide = left.ty.is_wide() || right.ty.is_wide();
                let length = |ty: &Ty| match &ty.kind {
                    TdsType::NChar(n) | TdsType::Char(n) | TdsType::NVarChar(Some(n)) | TdsType::VarChar(Some(n)) => {
                        Some(*n)
                    }
                    _ => None,
                };
                let most = if wide { 4000 } else { 8000 };
                let sum = length(&left.ty).zip(length(&right.ty)).map(|(a, b)| a.saturating_add(b).min(most));
                let kind = if wide { TdsType::NVarChar(sum) } else { TdsType::VarChar(sum) };
                let widest =
                    Ty { kind: if wide { TdsType::NVarChar(None) } else { TdsType::VarChar(None) }, collation, label };
                let (left, right) = (left.converted(widest.clone(), None), right.converted(widest, None));
                let node = Node::Concat(Box::new(left), Box::new(right));
                Ok(Typed { ty: Ty { kind, collation, label }, nullable, node })
            }
            Plus | Minus | Multiply | Divide | Modulo => {
                let whole =
                    |ty: &Ty| matches!(ty.kind, TdsType::TinyInt | TdsType::SmallInt | TdsType::Int | TdsType::BigInt);
                if !whole(&left.ty) || !whole(&right.ty) {
                    return Err(unknown(format_args!("{operator} of {:?} and {:?}", left.ty.kind, right.ty.kind)));
                }
                let big = left.ty.kind == TdsType::BigInt || right.ty.kind == TdsType::BigInt;
                let ty = Ty::of(if big { TdsType::BigInt } else { TdsType::Int });
                let node = Node::Arithmetic(operator.clone(), Box::new(left), Box::new(right));
                Ok(Typed { ty, nullable, node })
            }
            other => Err(unknown(format_args!("the operator {other} in a value"))),
        }
    }

    #[expect(clippy::too_many_lines, reason = "one function after the other")]
    fn function(&self, function: &ast::Function) -> Answer<Typed> {
        let name = function.name.to_string().to_ascii_uppercase();
        let arguments = match &function.args {
            FunctionArguments::List(list) if list.duplicate_treatment.is_none() && list.clauses.is_empty() => {
                &list.args
            }
            _ => return Err(unknown(format_args!("the function {name} in this form"))),
        };
        if function.over.is_some() || function.filter.is_some() || !function.within_group.is_empty() {
            return Err(unknown(format_args!("the function {name} over a window")));
        }
        let values: Vec<Typed> = arguments
            .iter()
            .map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => self.value(expression),
                other => Err(unknown(format_args!("the argument {other}"))),
            })
            .collect::<Answer<_>>()?;
        let string = |place: usize| -> Answer<Option<String>> {
            let value: &Typed = &values[place];
            match value.fixed()? {
                Cell::Null => Ok(None),
                cell => convert::string(&cell, &value.ty).map(Some),
            }
        };
        let whole = |place: usize| match values[place].fixed() {
            Ok(Cell::Int(number)) => Ok(number),
            _ => Err(unknown("a number that is none")),
        };
        let now = self.session.now;
        let genuine = self.session.flavour == Flavour::SqlServer;
        let int = |kind: TdsType, value: Option<i64>| Typed::constant(kind, value.map_or(Cell::Null, Cell::Int));
        match (name.as_str(), values.len()) {
            ("RTRIM", 1) => {
                let value = one(values)?;
                let kind = match value.ty.kind {
                    TdsType::NChar(n) => TdsType::NVarChar(Some(n)),
                    TdsType::Char(n) => TdsType::VarChar(Some(n)),
                    TdsType::NVarChar(n) => TdsType::NVarChar(n),
                    TdsType::VarChar(n) => TdsType::VarChar(n),
                    _ => return Err(error(8116, "Argument data type is invalid for argument 1 of rtrim function.")),
                };
                let ty = Ty { kind, ..value.ty.clone() };
                Ok(Typed { ty, nullable: value.nullable, node: Node::Rtrim(Box::new(value)) })
            }
            ("DATALENGTH", 1) => {
                let value = one(values)?;
                let long = matches!(
                    value.ty.kind,
                    TdsType::VarChar(None) | TdsType::NVarChar(None) | TdsType::VarBinary(None)
                );
                let ty = Ty::of(if long { TdsType::BigInt } else { TdsType::Int });
                Ok(Typed { ty, nullable: value.nullable, node: Node::DataLength(Box::new(value)) })
            }
            ("NCHAR", 1) => {
                let value = one(values)?;
                Ok(Typed { ty: Ty::of(TdsType::NVarChar(Some(1))), nullable: true, node: Node::NChar(Box::new(value)) })
            }
            ("DB_NAME", 0) => Ok(text(&now.name, 128)),
            ("OBJECT_ID", 1) => {
                let found = string(0)?.and_then(|name| object_id(now, &name));
                Ok(int(TdsType::Int, found))
            }
            ("HAS_PERMS_BY_NAME", 3) => {
                let has = match string(2)?.unwrap_or_default().to_ascii_uppercase().as_str() {
                    "UNMASK" => now.unmask,
                    "VIEW DEFINITION" => now.view_definition,
                    "SELECT" => true,
                    other => return Err(unknown(format_args!("the permission {other}"))),
                };
                Ok(int(TdsType::Int, Some(i64::from(has))))
            }
            ("SYSUTCDATETIME", 0) => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| unknown("a clock before 1970"))?;
                let seconds = since.as_secs();
                let days = moment::in_calendar(TO_1970 + i64::try_from(seconds / 86_400).unwrap_or(0))?;
                let time = seconds % 86_400 * 10_000_000 + u64::from(since.subsec_nanos() / 100);
                Ok(Typed::constant(TdsType::DateTime2(7), Cell::DateTime2 { days, time }))
            }
            ("CHANGE_TRACKING_CURRENT_VERSION", 0) if genuine => {
                let version = now.tracks_changes.then(|| i64::try_from(now.commits).unwrap_or(0));
                Ok(int(TdsType::BigInt, version))
            }
            ("CHANGE_TRACKING_MIN_VALID_VERSION", 1) if genuine => {
                let since = match now.by_id(whole(0)?) {
                    Some((_, Object::Table(table))) => table.tracked_since,
                    _ => None,
                };
                Ok(int(TdsType::BigInt, since.map(|since| i64::try_from(since).unwrap_or(0))))
            }
            _ => Err(error(195, format!("'{name}' is not a recognized built-in function name."))),
        }
    }

    /// An expression that is a condition.
    pub(super) fn condition(&self, expression: &Expr) -> Answer<Condition> {
        let boxed = |expression: &Expr| self.condition(expression).map(Box::new);
        match expression {
            Expr::Nested(inner) => self.condition(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => Ok(Condition::And(boxed(left)?, boxed(right)?)),
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => Ok(Condition::Or(boxed(left)?, boxed(right)?)),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(Condition::Not(boxed(expr)?)),
            Expr::IsNull(inner) => Ok(Condition::IsNull(self.value(inner)?)),
            Expr::IsNotNull(inner) => Ok(Condition::Not(Box::new(Condition::IsNull(self.value(inner)?)))),
            Expr::BinaryOp { left, op, right } => self.comparison(op, self.value(left)?, self.value(right)?),
            Expr::Between { expr, negated, low, high } => {
                let low = self.comparison(&BinaryOperator::GtEq, self.value(expr)?, self.value(low)?)?;
                let high = self.comparison(&BinaryOperator::LtEq, self.value(expr)?, self.value(high)?)?;
                Ok(inverted(Condition::And(Box::new(low), Box::new(high)), *negated))
            }
            Expr::In { expr, target: ast::InTarget::List(list), negated, global: false } => {
                let mut any: Option<Condition> = None;
                for item in list {
                    let equal = self.comparison(&BinaryOperator::Eq, self.value(expr)?, self.value(item)?)?;
                    any = Some(match any {
                        Some(any) => Condition::Or(Box::new(any), Box::new(equal)),
                        None => equal,
                    });
                }
                Ok(inverted(any.ok_or_else(|| syntax(")"))?, *negated))
            }
            other => Err(SyntaxOrUnknown(other).into()),
        }
    }

    fn comparison(&self, operator: &BinaryOperator, left: Typed, right: Typed) -> Answer<Condition> {
        use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
        if !matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq) {
            return Err(unknown(format_args!("the operator {operator} in a condition")));
        }
        let (left, right) = Self::together(left, right)?;
        let rule = self.rule(&left.ty, &right.ty)?;
        Ok(Condition::Compare(operator.clone(), left, right, rule))
    }

    /// How two values of types compare on this server.
    pub(super) fn rule(&self, left: &Ty, right: &Ty) -> Answer<Compare> {
        compare::rule(left, right, self.session.flavour == Flavour::SqlServer)
    }

    /// Brings two values to types that compare: the one of lower precedence to the other's (data type precedence).
    fn together(left: Typed, right: Typed) -> Answer<(Typed, Typed)> {
        if left.ty.exact_scale().is_some() && right.ty.exact_scale().is_some() {
            return Ok((left, right));
        }
        if left.ty.is_text() && right.ty.is_text() {
            let collation = compare::collation_of(&left.ty, &right.ty)?;
            let label = left.ty.label.max(right.ty.label);
            let wide = left.ty.is_wide() || right.ty.is_wide();
            let brought = |value: Typed| {
                let kind = if wide && !value.ty.is_wide() { TdsType::NVarChar(None) } else { value.ty.kind.clone() };
                let ty = Ty { kind, collation, label };
                // What is wide only changes its label.
                if value.ty.is_wide() { Typed { ty, ..value } } else { value.converted(ty, None) }
            };
            return Ok((brought(left), brought(right)));
        }
        if left.ty.is_bytes() && right.ty.is_bytes() || left.ty.kind == right.ty.kind {
            return Ok((left, right));
        }
        let (l, r) = (left.ty.clone(), right.ty.clone());
        Ok(if l.precedence() < r.precedence() {
            (left.converted(wide_enough(&l, &r), None), right)
        } else {
            (left, right.converted(wide_enough(&r, &l), None))
        })
    }
}

/// The type that a value of type `from` takes to be compared with `to`: of times, with all digits.
fn wide_enough(_from: &Ty, to: &Ty) -> Ty {
    let kind = match to.kind {
        TdsType::Time(_) => TdsType::Time(7),
        TdsType::DateTime2(_) => TdsType::DateTime2(7),
        TdsType::DateTimeOffset(_) => TdsType::DateTimeOffset(7),
        ref other => other.clone(),
    };
    Ty { kind, ..to.clone() }
}

struct SyntaxOrUnknown<'a>(&'a Expr);

impl From<SyntaxOrUnknown<'_>> for crate::tds::backend::SqlError {
    fn from(SyntaxOrUnknown(expression): SyntaxOrUnknown<'_>) -> Self {
        match expression {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Function(_) => {
                error(4145, "An expression of non-boolean type specified in a context where a condition is expected.")
            }
            other => unknown(format_args!("the condition {other}")),
        }
    }
}

fn inverted(condition: Condition, negated: bool) -> Condition {
    if negated { Condition::Not(Box::new(condition)) } else { condition }
}

fn one(mut values: Vec<Typed>) -> Answer<Typed> {
    values.pop().ok_or_else(|| syntax(")"))
}

pub(super) fn text(text: &str, length: u16) -> Typed {
    Typed::constant(TdsType::NVarChar(Some(length)), Cell::Utf16(text.encode_utf16().collect()))
}

/// A backslash at the end of a line joins it to the next one, without either (Transact-SQL, "backslash line continuation").
fn continued(text: &str) -> String {
    text.replace("\\\r\n", "").replace("\\\n", "")
}

/// A whole number that fits is an int, one with a point or beyond is exact, one with an exponent a float.
fn number(digits: &str) -> Answer<Typed> {
    if digits.contains(['e', 'E']) {
        let value: f64 = digits.parse().map_err(|_| syntax(digits))?;
        return Ok(Typed::constant(TdsType::Float, Cell::F64(value)));
    }
    if let Ok(value) = digits.parse::<i32>() {
        return Ok(Typed::constant(TdsType::Int, Cell::Int(i64::from(value))));
    }
    let (mantissa, scale) = convert::digits(digits)?;
    let length = u8::try_from(mantissa.unsigned_abs().to_string().len()).unwrap_or(38).max(scale).max(1);
    Ok(Typed::constant(TdsType::Numeric { precision: length, scale }, Cell::Decimal { mantissa }))
}

fn negated(value: Typed) -> Answer<Typed> {
    let cell = match value.fixed()? {
        Cell::Null => Cell::Null,
        Cell::Int(number) => Cell::Int(-number),
        Cell::Decimal { mantissa } => Cell::Decimal { mantissa: -mantissa },
        Cell::F64(number) => Cell::F64(-number),
        _ => return Err(unknown("a minus before this value")),
    };
    Ok(Typed { node: Node::Constant(cell), ..value })
}

/// The number of an object by its name, which may have brackets.
fn object_id(now: &Database, name: &str) -> Option<i64> {
    let mut parts = parts(name);
    let name = parts.pop()?;
    let schema = parts.pop().filter(|schema| !schema.is_empty());
    if parts.pop().is_some_and(|database| !database.is_empty() && !same(&database, &now.name)) {
        return None;
    }
    now.find(schema.as_deref(), &name).map(|(_, object)| object.id())
}
