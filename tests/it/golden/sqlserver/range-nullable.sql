SELECT t.[id], t.[id] FROM [dbo].[orders] AS t WHERE t.[id] >= 10 AND (t.[id] < 20 OR t.[id] IS NULL) ORDER BY t.[id]
