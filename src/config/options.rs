//! Options of a column: `COLUMN.NAME=VALUE`.

use crate::model::{ColumnOptions, Error, ErrorKind, Result, Rounding, TimePrecision};

/// The names of the options, and what each takes.
pub const OPTION_NAMES: [(&str, &str); 10] = [
    ("abs_tol", "a decimal that is not negative, such as 0.01"),
    ("rel_tol", "a decimal that is not negative, such as 1e-9"),
    ("ulps", "a whole number"),
    ("trim", "end"),
    ("unicode", "nfc"),
    ("case", "fold"),
    ("precision", "s, ms or us"),
    ("rounding", "truncate or half_up"),
    ("zone", "an IANA zone, such as Europe/Berlin"),
    ("null", "the text that counts as NULL"),
];

/// One option of one column, as it was written; checked when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSetting {
    /// The column, by its name in the source.
    pub column: String,
    /// One of [`OPTION_NAMES`].
    pub name: String,
    /// The value.
    pub value: String,
}

impl OptionSetting {
    /// Makes a setting and checks its name and value.
    ///
    /// # Errors
    /// `Config` for an unknown name or a value that the option does not take.
    pub fn new(column: impl Into<String>, name: impl Into<String>, value: impl Into<String>) -> Result<Self> {
        let setting = Self { column: column.into(), name: name.into(), value: value.into() };
        if setting.column.is_empty() {
            return Err(Error::new(ErrorKind::Config, "option: the column name is empty"));
        }
        setting.apply(&mut ColumnOptions::default())?;
        Ok(setting)
    }

    /// Reads `COLUMN.NAME=VALUE`. The column may be double-quoted (a quote inside is doubled); bare, it ends at the
    /// last dot before the first `=`.
    ///
    /// # Errors
    /// `Config` for another form, an unknown name, or a value that the option does not take.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = || {
            Error::new(ErrorKind::Config, "option: expected COLUMN.NAME=VALUE")
                .hint("for example --option amount.abs_tol=0.01; quote a column that holds an equals sign: '\"a=b\".trim=end'")
        };
        if let Some(quoted) = text.strip_prefix('"') {
            let (column, rest) = read_quoted(quoted).ok_or_else(refuse)?;
            let (name, value) = rest.strip_prefix('.').and_then(|rest| rest.split_once('=')).ok_or_else(refuse)?;
            return Self::new(column, name, value);
        }
        let (path, value) = text.split_once('=').ok_or_else(refuse)?;
        let (column, name) = path.rsplit_once('.').ok_or_else(refuse)?;
        Self::new(column, name, value)
    }

    /// Sets the option in `options`.
    ///
    /// # Errors
    /// `Config` for an unknown name or a value that the option does not take.
    pub fn apply(&self, options: &mut ColumnOptions) -> Result<()> {
        let Some((_, takes)) = OPTION_NAMES.iter().find(|(name, _)| *name == self.name) else {
            let names: Vec<_> = OPTION_NAMES.iter().map(|(name, _)| *name).collect();
            return Err(Error::new(ErrorKind::Config, format!("there is no option {:?}", self.name))
                .in_column(self.column.clone())
                .hint(format!("options are {}", names.join(", "))));
        };
        let refuse = || {
            Error::new(ErrorKind::Config, format!("option {}: expected {takes}, found {:?}", self.name, self.value))
                .in_column(self.column.clone())
        };
        let value = self.value.as_str();
        match (self.name.as_str(), value) {
            ("abs_tol", _) if is_plain_decimal(value) => options.abs_tol = Some(value.to_owned()),
            ("rel_tol", _) if is_plain_decimal(value) => options.rel_tol = Some(value.to_owned()),
            ("ulps", _) if value.bytes().all(|b| b.is_ascii_digit()) => {
                options.ulps = Some(value.parse().map_err(|_| refuse())?);
            }
            ("trim", "end") => options.fold.trim_end = true,
            ("unicode", "nfc") => options.fold.nfc = true,
            ("case", "fold") => options.fold.fold_case = true,
            ("precision", "s") => options.precision = Some(TimePrecision::Seconds),
            ("precision", "ms") => options.precision = Some(TimePrecision::Milliseconds),
            ("precision", "us") => options.precision = Some(TimePrecision::Microseconds),
            ("rounding", "truncate") => options.rounding = Rounding::Truncate,
            ("rounding", "half_up") => options.rounding = Rounding::HalfUp,
            ("zone", _) if !value.is_empty() => options.zone = Some(value.to_owned()),
            ("null", _) => options.null = Some(value.to_owned()),
            _ => return Err(refuse()),
        }
        Ok(())
    }
}

/// Reads up to the closing quote; gives the unquoted text and what follows.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        out.push_str(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        match rest.strip_prefix('"') {
            Some(more) => {
                out.push('"');
                rest = more;
            }
            None => return Some((out, rest)),
        }
    }
}

/// Whether `text` is digits, maybe with a fraction and an exponent of at most three digits.
fn is_plain_decimal(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        digits(exponent) && exponent.len() <= 3
    });
    exponent_fits
        && match number.split_once('.') {
            Some((whole, fraction)) => digits(whole) && digits(fraction),
            None => digits(number),
        }
}
