//! What the benches share: tables of the shapes that real ones have, and how their cases are run.

mod run;

pub use run::{case, for_each_shape};

use tieout::{
    encode::{EncodedBatch, RowLayout, RowWriter},
    model::{CanonicalType, Conversion, FieldTarget, Projected, Projection, Result, Side, TextFold},
};
use tieout_testkit::random::SplitMix64;

/// Seed of all tables.
const SEED: u64 = 0x7135_0c11;

/// What a table looks like.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A key of two small numbers and little beside it: a table of links.
    NarrowKeys,
    /// A text key and texts of some hundred bytes.
    WideText,
    /// Amounts of different scales.
    Decimals,
    /// Many columns, four of five values NULL.
    ManyNulls,
}

/// A value of a column.
enum Cell {
    Null,
    Whole(i64),
    Scaled(i128, i32),
    Text(String),
}

impl Shape {
    const ALL: [Self; 4] = [Self::NarrowKeys, Self::WideText, Self::Decimals, Self::ManyNulls];

    fn name(self) -> &'static str {
        match self {
            Self::NarrowKeys => "narrow_keys",
            Self::WideText => "wide_text",
            Self::Decimals => "decimals",
            Self::ManyNulls => "many_nulls",
        }
    }

    /// Types of the key parts and of the row's fields.
    pub fn types(self) -> (Vec<CanonicalType>, Vec<CanonicalType>) {
        use CanonicalType::{Number, Text};
        match self {
            Self::NarrowKeys => (vec![Number; 2], vec![Number; 2]),
            Self::WideText => (vec![Text], vec![Text; 3]),
            Self::Decimals => (vec![Number], vec![Number; 6]),
            Self::ManyNulls => (vec![Number], vec![[Number, Text]; 6].concat()),
        }
    }

    /// The cells of row `index`, key first; keys ascend with `index`.
    fn cells(self, index: u32, random: &mut SplitMix64) -> Vec<Cell> {
        let number = |random: &mut SplitMix64, below| Cell::Whole(random.below(below).cast_signed());
        let mut cells = match self {
            Self::NarrowKeys => vec![Cell::Whole(i64::from(index / 8)), Cell::Whole(i64::from(index % 8))],
            Self::WideText => vec![Cell::Text(format!("order-{index:010}"))],
            Self::Decimals | Self::ManyNulls => vec![Cell::Whole(i64::from(index) * 3)],
        };
        match self {
            Self::NarrowKeys => cells.extend([number(random, 1000), number(random, 2)]),
            Self::WideText => cells.extend([20, 60, 300].map(|bytes| text(random, bytes))),
            Self::Decimals => cells.extend([2, 2, 4, 4, 8, 12].map(|scale| {
                let mantissa = i128::from(random.next_u64() >> 20) * if scale > 4 { 1_000_003 } else { 1 };
                Cell::Scaled(mantissa, scale)
            })),
            Self::ManyNulls => cells.extend((0..12).map(|column| match (random.below(5), column % 2) {
                (0, 0) => number(random, 1 << 40),
                (0, _) => text(random, 16),
                _ => Cell::Null,
            })),
        }
        cells
    }
}

/// Text of half to all of `bytes_max` bytes.
fn text(random: &mut SplitMix64, bytes_max: u64) -> Cell {
    let bytes = bytes_max / 2 + random.below(bytes_max / 2 + 1);
    Cell::Text(
        (0..bytes)
            .map(|_| char::from(b"etaoin shrdlu.ET"[usize::from(random.next_u64().to_be_bytes()[0] >> 4)]))
            .collect(),
    )
}

/// Rows as a store gives them, in key order.
pub struct Table {
    /// How they look.
    pub shape: Shape,
    layout: RowLayout,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    fn new(shape: Shape, rows: usize) -> Result<Self> {
        let (key, row) = shape.types();
        let projected = |types: Vec<CanonicalType>| types.into_iter().enumerate().map(column).collect();
        let layout = RowLayout::new(&Projection { side: Side::Source, key: projected(key), row: projected(row) })?;
        let mut random = SplitMix64::new(SEED);
        Ok(Self { shape, layout, rows: (0..).take(rows).map(|index| shape.cells(index, &mut random)).collect() })
    }

    /// Appends all rows to `batch`.
    pub fn encode(&self, batch: &mut EncodedBatch) -> Result<()> {
        let mut writer = RowWriter::new(&self.layout, batch);
        for row in &self.rows {
            writer.begin_row();
            for cell in row {
                match cell {
                    Cell::Null => writer.put_null(),
                    Cell::Whole(value) => writer.put_i64(*value),
                    Cell::Scaled(mantissa, scale) => writer.put_scaled(*mantissa, *scale),
                    Cell::Text(value) => writer.put_text(value),
                }?;
            }
            writer.end_row()?;
        }
        Ok(())
    }
}

fn column((index, canonical): (usize, CanonicalType)) -> Projected {
    let (conversion, key_fold) = (Conversion::Direct, TextFold::default());
    let target = FieldTarget {
        canonical,
        conversion,
        strip_pad: false,
        zone: None,
        key_fold,
        parse_float_bits: 64,
        dynamic: false,
    };
    Projected { name: format!("c{index}"), index, as_text: false, nullable: true, target }
}
