SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(datetime2(7), '2024-01-31T10:00:00.1234567') AND t.[k] < CONVERT(datetime2(7), '9999-12-31T23:59:59.9999999') ORDER BY t.[k]
