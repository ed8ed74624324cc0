//! The transaction of a connection as the protocol tells it ([MS-TDS] 2.2.7.9, ENVCHANGE types 8 to 10): a server sends them for
//! statements in a batch too, and later requests must carry the descriptor (2.2.5.3.2).

use super::token::Environment;

/// The open transaction, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transaction {
    id: u64,
    depth: u32,
}

impl Transaction {
    /// The descriptor; 0 outside of a transaction.
    pub(crate) fn id(self) -> u64 {
        self.id
    }

    /// Follows the BEGIN, COMMIT and ROLLBACK of a batch that succeeded; `fresh` gives the next descriptor.
    pub(crate) fn apply(&mut self, sql: &str, mut fresh: impl FnMut() -> u64) -> Vec<Environment<'static>> {
        let mut changes = Vec::new();
        let words = words(sql);
        for (index, word) in words.iter().enumerate() {
            let transaction = words.get(index + 1).is_some_and(|next| matches!(next.as_str(), "TRAN" | "TRANSACTION"));
            match word.as_str() {
                "BEGIN" if transaction => {
                    if self.depth == 0 {
                        self.id = fresh();
                        changes.push(Environment::Begin(self.id));
                    }
                    self.depth += 1;
                }
                "COMMIT" if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        changes.push(Environment::Commit(self.id));
                        self.id = 0;
                    }
                }
                "ROLLBACK" if self.depth > 0 => {
                    changes.push(Environment::Rollback(self.id));
                    *self = Self::default();
                }
                _ => {}
            }
        }
        changes
    }
}

/// The words of a batch in capitals, without what is quoted, in brackets or in a comment.
fn words(sql: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = sql.chars().peekable();
    while let Some(c) = chars.next() {
        let closing = match c {
            '\'' | '"' => Some(c),
            '[' => Some(']'),
            _ => None,
        };
        if let Some(closing) = closing {
            // A doubled quote opens again at once, which comes to the same.
            chars.by_ref().find(|c| *c == closing);
        } else if c == '-' && chars.peek() == Some(&'-') {
            chars.by_ref().find(|c| *c == '\n');
        } else if c == '/' && chars.peek() == Some(&'*') {
            let mut last = ' ';
            chars.by_ref().find(|c| std::mem::replace(&mut last, *c) == '*' && *c == '/');
        } else if c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$') {
            if let Some(word) = words.last_mut() {
                word.extend(c.to_uppercase());
            }
            continue;
        }
        if words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_begins_nests_and_ends() {
        let mut transaction = Transaction::default();
        let begun = transaction.apply("SET XACT_ABORT ON; BEGIN TRAN; begin transaction", || 7);
        assert!(matches!(begun.as_slice(), [Environment::Begin(7)]));
        assert!(transaction.apply("COMMIT", || 8).is_empty());
        assert_eq!(transaction.id(), 7);
        assert!(matches!(transaction.apply("COMMIT TRAN", || 8).as_slice(), [Environment::Commit(7)]));
        assert_eq!(transaction.id(), 0);
    }

    #[test]
    fn quoted_words_are_none() {
        let mut transaction = Transaction::default();
        let sql = "SELECT 'it''s BEGIN TRAN', [BEGIN] TRAN /* BEGIN TRAN */ -- BEGIN TRAN";
        assert!(transaction.apply(sql, || 1).is_empty());
        assert!(transaction.apply("IF @@TRANCOUNT > 0 ROLLBACK", || 1).is_empty());
    }
}
