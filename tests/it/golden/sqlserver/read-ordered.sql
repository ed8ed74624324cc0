SELECT t.[id], t.[id], t.[name] FROM [dbo].[orders] AS t ORDER BY t.[id]
