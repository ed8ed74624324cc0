SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(smalldatetime, '2024-01-31T10:00:00', 126) AND t.[k] < CONVERT(smalldatetime, '2079-06-06T23:59:00', 126) ORDER BY t.[k]
