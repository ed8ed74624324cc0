SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(bit, 0) AND t.[k] < CONVERT(bit, 1) ORDER BY t.[k]
