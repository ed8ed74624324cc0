SELECT o.object_id, s.name, o.name, o.type FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id WHERE o.object_id = OBJECT_ID(N'[dbo].[it''s]]odd]')
