SELECT p.index_id, p.rows FROM sys.partitions AS p WHERE p.object_id = 1234
