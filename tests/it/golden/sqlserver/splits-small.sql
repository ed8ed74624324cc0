SELECT t.[id] FROM [dbo].[orders] AS t
