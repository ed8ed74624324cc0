SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= 0 AND t.[k] < 255 ORDER BY t.[k]
