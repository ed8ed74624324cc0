//! Every type that crosses the border of a stage: plain data, constructors that check, accessors, ordering.
//!
//! No I/O, no async, no serialization, no store names.

mod canonical;
mod difference;
mod error;
mod facts;
mod key;
mod outcome;
mod plan;
mod position;
mod progress;
mod request;
mod schema;
mod sides;
mod value;

pub use canonical::{CanonicalType, GeometricKind, StructField};
pub use difference::{Difference, DifferenceKind};
pub use error::{Error, ErrorKind, Place, Result};
pub use facts::{MemoryShare, PlanFacts, RunFacts, SideRead, Span};
pub use key::{KeyRange, PlannedRanges};
pub use outcome::{Counts, Digest, RangeOutcome, SideTally, Verdict};
pub use plan::{
    ColumnOptions, ColumnPair, ComparisonPlan, Conversion, FieldTarget, OutputHint, Projected, Projection, ReadOrder,
    Rounding, SortChoice, TextFold, TimePrecision,
};
pub use position::{Exactness, Position};
pub use progress::Progress;
pub use request::{ComparisonRequest, FileOptions, SideRequest};
pub use schema::{Column, KeyCandidate, LogicalType, NameCase, NativeTypes, TableSchema};
pub use sides::{Side, Sides};
pub use value::{DateValue, Decimal, JsonValue, RangeValue, TimestampValue, Value};
