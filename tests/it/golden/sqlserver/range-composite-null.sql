SELECT t.[a], t.[b] FROM [dbo].[orders] AS t WHERE (t.[a] IS NOT NULL OR (t.[a] IS NULL AND t.[b] >= CONVERT(date, '2024-01-01'))) ORDER BY t.[a], t.[b]
