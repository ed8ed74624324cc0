SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= 0x00000000000007d1 AND t.[k] < 0x00000000000007d9 ORDER BY t.[k]
