//! Folding of texts: what an option of a column makes equal, as one canonical spelling.

use crate::model::TextFold;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Brings `text` to the spelling that stands for all texts that are equal under `fold`.
///
/// Two texts are equal under `fold` when their folded spellings are the same characters. Folding twice changes nothing
/// more than folding once. In this order:
///
/// - `trim_end`: blanks (U+0020 alone, no other white space) are removed from the end.
/// - `fold_case`: every character is replaced by its full lowercase mapping (`char::to_lowercase`, Unicode's
///   `UnicodeData.txt` and the unconditional rows of `SpecialCasing.txt`), each on its own: no locale, no final
///   sigma. That is not the case folding of `CaseFolding.txt`: U+00DF (sharp s) and "ss" stay different.
/// - `nfc`: Unicode normalization form C (Unicode Standard Annex 15), after the lower case, which can decompose.
///
/// Borrows `text` where nothing changes.
#[must_use]
pub fn fold_text(fold: TextFold, text: &str) -> Cow<'_, str> {
    let trimmed = if fold.trim_end { text.trim_end_matches(' ') } else { text };
    let lowered = if fold.fold_case { lower(trimmed) } else { Cow::Borrowed(trimmed) };
    if !fold.nfc || lowered.is_ascii() || is_nfc_quick(lowered.chars()) == IsNormalized::Yes {
        return lowered;
    }
    Cow::Owned(lowered.nfc().collect())
}

fn lower(text: &str) -> Cow<'_, str> {
    if text.chars().all(|character| character.to_lowercase().eq(std::iter::once(character))) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(options: &str, text: &str, expected: &str) {
        let fold = TextFold {
            trim_end: options.contains("trim"),
            fold_case: options.contains("case"),
            nfc: options.contains("nfc"),
        };
        assert_eq!(fold_text(fold, text), expected, "{options}: {text:?}");
    }

    #[test]
    fn each_option_folds_what_it_names() {
        check("", "A \u{301} ", "A \u{301} ");
        check("trim", " a  ", " a");
        check("trim", "a\t", "a\t");
        check("trim", "a\u{a0}", "a\u{a0}");
        check("trim", "   ", "");
        check("case", "StraSSe", "strasse");
        check("case", "STRA\u{1e9e}E", "stra\u{df}e");
        check("case", "\u{c9}", "\u{e9}");
        check("case", "\u{3a3}", "\u{3c3}");
        check("nfc", "e\u{301}", "\u{e9}");
        check("nfc", "\u{e9}", "\u{e9}");
        check("nfc", "\u{fb01}", "\u{fb01}");
        check("case nfc", "E\u{301}", "\u{e9}");
        check("case nfc", "\u{130}", "i\u{307}");
        check("trim case nfc", "E\u{301} ", "\u{e9}");
    }

    #[test]
    fn borrows_what_does_not_change() {
        let fold = TextFold { trim_end: true, fold_case: true, nfc: true };
        assert!(matches!(fold_text(fold, "abc "), Cow::Borrowed("abc")));
    }
}
