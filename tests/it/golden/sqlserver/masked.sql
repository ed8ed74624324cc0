SELECT COUNT(*) FROM sys.masked_columns
