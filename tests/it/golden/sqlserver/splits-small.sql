SELECT TOP (400000) t.[id] FROM [dbo].[orders] AS t WHERE (amount > 5
)
