//! Two-sidedness as a type: whatever exists once for the source and once for the sink.

use std::fmt;

/// One of the two tables of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The table that is taken as the truth.
    Source,
    /// The table that should hold what the source holds.
    Sink,
}

impl Side {
    /// Both sides, the source first.
    pub const BOTH: [Self; 2] = [Self::Source, Self::Sink];

    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Source => Self::Sink,
            Self::Sink => Self::Source,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Sink => "sink",
        })
    }
}

/// A value for each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sides<T> {
    /// The value of the source.
    pub source: T,
    /// The value of the sink.
    pub sink: T,
}

impl<T> Sides<T> {
    /// Makes a pair from its two values.
    pub const fn new(source: T, sink: T) -> Self {
        Self { source, sink }
    }

    /// The value of one side.
    pub const fn get(&self, side: Side) -> &T {
        match side {
            Side::Source => &self.source,
            Side::Sink => &self.sink,
        }
    }

    /// The value of one side, to change it.
    pub const fn get_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Source => &mut self.source,
            Side::Sink => &mut self.sink,
        }
    }

    /// Applies `function` to both values.
    pub fn map<U>(self, mut function: impl FnMut(T) -> U) -> Sides<U> {
        Sides { source: function(self.source), sink: function(self.sink) }
    }

    /// References to both values.
    pub const fn as_ref(&self) -> Sides<&T> {
        Sides { source: &self.source, sink: &self.sink }
    }
}
