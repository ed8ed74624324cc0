//! What the writer knows of each field before the first row: its target, and what that means for every typed call.

use super::{
    float,
    fold::fold_text,
    json, temporal, text,
    value::{kind_of, mismatch, write_value},
};
use crate::model::{
    CanonicalType, Conversion, Error, ErrorKind, FieldTarget, Projected, Projection, Result, TimestampValue, Value,
};
use jiff::{
    civil,
    tz::{AmbiguousOffset, TimeZone},
};

/// What the fields of a side's rows are and how they are written; made once from a [`Projection`].
#[derive(Debug)]
pub struct RowLayout {
    pub(super) fields: Vec<Field>,
    pub(super) key_count: usize,
}

impl RowLayout {
    /// Prepares the writer for `projection`.
    ///
    /// # Errors
    /// `Config` for a zone that is not known; `Internal` for text that would be rendered as another type.
    pub fn new(projection: &Projection) -> Result<Self> {
        let key = projection.key.iter().map(|projected| Field::new(projected, true));
        let row = projection.row.iter().map(|projected| Field::new(projected, false));
        Ok(Self { fields: key.chain(row).collect::<Result<_>>()?, key_count: projection.key.len() })
    }

    /// Whether equal calls of a writer become equal bytes in both layouts.
    #[must_use]
    pub fn writes_as(&self, other: &Self) -> bool {
        // A field's zone and kind follow from its target.
        let alike = |(one, other): (&Field, &Field)| one.is_key == other.is_key && one.target == other.target;
        self.key_count == other.key_count
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(alike)
    }
}

/// One field of a row.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) target: FieldTarget,
    pub(super) kind: Kind,
    pub(super) is_key: bool,
    zone: Option<TimeZone>,
}

/// Conversion and canonical type in one value, so that a typed call is dispatched by one `match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Number,
    Float,
    Text,
    Binary,
    Bits,
    Date,
    Time,
    TimeTz,
    Timestamp,
    Instant,
    Interval,
    Uuid,
    Json,
    Other,
    Parse,
    Render,
}

impl Kind {
    fn of(target: &FieldTarget) -> Self {
        match (target.conversion, &target.canonical) {
            // Parsing text as text is the text itself.
            (Conversion::Parse | Conversion::Direct, CanonicalType::Text) => Self::Text,
            (Conversion::Parse, _) => Self::Parse,
            (Conversion::Render, _) => Self::Render,
            (Conversion::Direct, canonical) => match canonical {
                CanonicalType::Boolean => Self::Boolean,
                CanonicalType::Number => Self::Number,
                CanonicalType::Float => Self::Float,
                CanonicalType::Text => Self::Text,
                CanonicalType::Binary => Self::Binary,
                CanonicalType::Bits => Self::Bits,
                CanonicalType::Date => Self::Date,
                CanonicalType::Time => Self::Time,
                CanonicalType::TimeTz => Self::TimeTz,
                CanonicalType::Timestamp => Self::Timestamp,
                CanonicalType::Instant => Self::Instant,
                CanonicalType::Interval => Self::Interval,
                CanonicalType::Uuid => Self::Uuid,
                CanonicalType::Json => Self::Json,
                _ => Self::Other,
            },
        }
    }
}

impl Field {
    fn new(projected: &Projected, is_key: bool) -> Result<Self> {
        let target = projected.target.clone();
        if target.conversion == Conversion::Render && target.canonical != CanonicalType::Text {
            return Err(Error::internal(format!("preparing the encoder: cannot render as {}", target.canonical))
                .in_column(&projected.name));
        }
        let zone = target.zone.as_deref().map(find_zone).transpose();
        let zone = zone.map_err(|error| error.in_column(&projected.name))?;
        Ok(Self { name: projected.name.clone(), kind: Kind::of(&target), target, is_key, zone })
    }

    /// Appends text, folded if this is a folded key part.
    pub(super) fn push_text(&self, out: &mut Vec<u8>, value: &str) {
        let fold = self.target.key_fold;
        if !self.is_key || fold.is_none() {
            out.extend_from_slice(value.as_bytes());
        } else {
            out.extend_from_slice(fold_text(fold, value).as_bytes());
        }
    }

    /// Appends text that is parsed as the canonical type.
    pub(super) fn write_parsed(&self, out: &mut Vec<u8>, value: &str) -> Result<()> {
        let canonical = &self.target.canonical;
        if *canonical == CanonicalType::Json {
            return json::write(out, &json::parse(value, json::Duplicates::LastWins)?, 0);
        }
        let parsed = match (canonical, &self.zone) {
            (CanonicalType::Float, _) => Value::Float(float::parse_bits(value, self.target.parse_float_bits)?),
            (CanonicalType::Instant, Some(_)) => match text::parse(&CanonicalType::Timestamp, value) {
                Ok(Value::Timestamp(local)) => Value::Instant(self.in_zone(local)?),
                _ => text::parse(canonical, value)?,
            },
            _ => text::parse(canonical, value)?,
        };
        write_value(out, canonical, &parsed)
    }

    /// Appends a value of type `native`: as it is, or rendered if the field is rendered.
    pub(super) fn put_value(&self, out: &mut Vec<u8>, native: &CanonicalType, value: &Value) -> Result<()> {
        match self.kind {
            Kind::Render => self.render_or_refuse(out, native, value),
            Kind::Parse => Err(self.refuse(value)),
            _ => write_value(out, &self.target.canonical, value),
        }
    }

    /// Appends the canonical text of a value if the field is rendered.
    ///
    /// # Errors
    /// `Internal` if it is not.
    #[cold]
    pub(super) fn render_or_refuse(&self, out: &mut Vec<u8>, native: &CanonicalType, value: &Value) -> Result<()> {
        if self.kind != Kind::Render {
            return Err(self.refuse(value));
        }
        match text::render(native, value) {
            Some(text) => {
                self.push_text(out, &text);
                Ok(())
            }
            None => Err(self.refuse(value)),
        }
    }

    fn refuse(&self, value: &Value) -> Error {
        if self.kind == Kind::Parse {
            let (found, canonical) = (kind_of(value), &self.target.canonical);
            return Error::internal(format!("encoding a value: expected text to parse as {canonical}, found {found}"));
        }
        mismatch(kind_of(value), &self.target.canonical)
    }

    /// The moment at which clocks of the field's zone show `local`.
    ///
    /// # Errors
    /// `Internal` without a zone; `Value` if clocks never show it or show it twice, or if the zone does not reach it.
    pub(super) fn in_zone(&self, local: TimestampValue) -> Result<TimestampValue> {
        let Some(zone) = &self.zone else {
            return Err(mismatch("timestamp without a zone", &self.target.canonical));
        };
        let TimestampValue::Finite(seconds, nanos) = local else { return Ok(local) };
        let clock = civil_time(seconds).ok_or_else(|| {
            Error::new(ErrorKind::Value, "reading a timestamp in the zone of option `zone`: it lies beyond year 9999")
        })?;
        let offset = match zone.to_ambiguous_timestamp(clock).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { .. } => return Err(clock_error("clocks of the zone skip this time")),
            AmbiguousOffset::Fold { .. } => return Err(clock_error("clocks of the zone show this time twice")),
        };
        Ok(TimestampValue::Finite(seconds - i64::from(offset.seconds()), nanos))
    }
}

fn clock_error(what: &str) -> Error {
    Error::new(ErrorKind::Value, format!("reading a timestamp in the zone of option `zone`: {what}"))
        .hint("compare the column without the `zone` option, or convert it in the store")
}

fn civil_time(seconds: i64) -> Option<civil::DateTime> {
    let (year, month, day) = temporal::civil_from_days(seconds.div_euclid(temporal::DAY_SECONDS))?;
    let second = seconds.rem_euclid(temporal::DAY_SECONDS);
    civil::DateTime::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
        i8::try_from(second / 3600).ok()?,
        i8::try_from(second / 60 % 60).ok()?,
        i8::try_from(second % 60).ok()?,
        0,
    )
    .ok()
}

fn find_zone(name: &str) -> Result<TimeZone> {
    TimeZone::get(name).map_err(|error| {
        Error::new(ErrorKind::Config, format!("reading option `zone`: {name:?} is not a known time zone"))
            .hint("use an IANA name such as Europe/Berlin or UTC")
            .caused_by(error)
    })
}
