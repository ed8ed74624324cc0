SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(time(7), '10:00:00.1234567') AND t.[k] < CONVERT(time(7), '23:59:59.9999999') ORDER BY t.[k]
