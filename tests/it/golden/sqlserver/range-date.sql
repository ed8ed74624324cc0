SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(date, '0001-01-01') AND t.[k] < CONVERT(date, '9999-12-31') ORDER BY t.[k]
