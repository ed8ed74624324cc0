SELECT t.[k] FROM [dbo].[orders] AS t ORDER BY t.[k]
