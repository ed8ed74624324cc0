SELECT c.column_id, c.is_hidden, c.generated_always_type, c.is_masked, c.is_column_set, c.encryption_type FROM sys.columns AS c WHERE c.object_id = 1234 ORDER BY c.column_id
