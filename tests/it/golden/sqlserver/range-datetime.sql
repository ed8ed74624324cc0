SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(datetime, '2021-11-09T13:52:29.187', 126) AND t.[k] < CONVERT(datetime, '9999-12-31T23:59:59.997', 126) ORDER BY t.[k]
