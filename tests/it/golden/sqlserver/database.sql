SELECT d.name, d.is_read_only, d.source_database_id, d.snapshot_isolation_state FROM sys.databases AS d WHERE d.name = DB_NAME()
