SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= -32768 AND t.[k] < 32767 ORDER BY t.[k]
