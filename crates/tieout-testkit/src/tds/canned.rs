//! A backend that knows its answers beforehand, for tests of the wire.

use super::backend::{Backend, Cell, ColumnInfo, Login, Param, Reply, ResultSet, Session, SqlError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What makes the answer to one text; the parameters are those of the call.
type Answer = dyn Fn(&[Param]) -> Result<Vec<Reply>, SqlError> + Send + Sync;

/// Answers by the exact text of a batch, leading and trailing white space aside. `SET`, `USE` and the statements of transactions
/// succeed; every other text is an error.
#[derive(Clone, Default)]
pub struct Canned {
    answers: BTreeMap<String, Arc<Answer>>,
    login: Option<(String, String)>,
    token: Option<String>,
}

impl Canned {
    /// Without answers; any login is right.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only this login is right.
    #[must_use]
    pub fn login(mut self, user: &str, password: &str) -> Self {
        self.login = Some((user.to_owned(), password.to_owned()));
        self
    }

    /// Only this token is right.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// An answer made anew for each request.
    #[must_use]
    pub fn answer(
        mut self,
        sql: &str,
        make: impl Fn(&[Param]) -> Result<Vec<Reply>, SqlError> + Send + Sync + 'static,
    ) -> Self {
        self.answers.insert(sql.trim().to_owned(), Arc::new(make));
        self
    }

    /// One result of given rows.
    #[must_use]
    pub fn rows(self, sql: &str, columns: Vec<ColumnInfo>, rows: Vec<Vec<Cell>>) -> Self {
        self.answer(sql, move |_| {
            let rows = Box::new(rows.clone().into_iter().map(Ok));
            Ok(vec![Reply::Rows(ResultSet { columns: columns.clone(), rows })])
        })
    }

    /// One error.
    #[must_use]
    pub fn error(self, sql: &str, error: SqlError) -> Self {
        self.answer(sql, move |_| Err(error.clone()))
    }
}

impl Backend for Canned {
    fn login(&self, login: &Login) -> Result<Box<dyn Session>, SqlError> {
        let right = match (&login.token, &self.token, &self.login) {
            (Some(given), Some(wanted), _) => given == wanted,
            (Some(_), None, _) | (None, Some(_), None) => false,
            (None, _, Some((user, password))) => login.user == *user && login.password == *password,
            (None, None, None) => true,
        };
        if right {
            return Ok(Box::new(self.clone()));
        }
        let message = format!("Login failed for user '{}'.", login.user);
        Err(SqlError { number: 18456, state: 1, class: 14, message, line: 1 })
    }
}

impl Session for Canned {
    fn execute(&mut self, sql: &str, params: &[Param]) -> Result<Vec<Reply>, SqlError> {
        let sql = sql.trim();
        if let Some(answer) = self.answers.get(sql) {
            return answer(params);
        }
        let first = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        if matches!(first.as_str(), "" | "SET" | "USE" | "BEGIN" | "COMMIT" | "ROLLBACK" | "IF") {
            return Ok(vec![Reply::Done { affected: None }]);
        }
        let message = format!("The canned server has no answer to: {sql}");
        Err(SqlError { number: 50_000, state: 1, class: 16, message, line: 1 })
    }
}
