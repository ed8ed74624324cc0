SELECT TOP (2000) s.name, o.name FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id WHERE o.type IN ('U', 'V', 'SN') ORDER BY s.name, o.name
