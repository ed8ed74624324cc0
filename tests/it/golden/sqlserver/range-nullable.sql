SELECT t.[a] FROM [dbo].[orders] AS t WHERE (t.[a] < 20 OR t.[a] IS NULL) ORDER BY t.[a]
