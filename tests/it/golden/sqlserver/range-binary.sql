SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= 0x00ff AND t.[k] < 0x0100 ORDER BY t.[k]
