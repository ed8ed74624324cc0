SELECT t.[id], t.[id], t.[name] FROM [dbo].[orders] AS t WHERE (amount > 5
) AND t.[id] >= -5 AND t.[id] < CONVERT(bigint, 3000000000) ORDER BY t.[id]
