SELECT t.[a], t.[b] FROM [dbo].[orders] AS t WHERE (t.[a] IS NULL AND (t.[b] < CONVERT(date, '2024-01-01') OR t.[b] IS NULL)) ORDER BY t.[a], t.[b]
