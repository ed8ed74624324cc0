SELECT t.[id], CONVERT(varbinary(max), t.[it's]]odd]) FROM [dbo].[orders] AS t WHERE (amount > 5
) ORDER BY t.[id]
