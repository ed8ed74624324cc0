//! SQL Server, by the test server.
