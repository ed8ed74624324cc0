SELECT TOP (0) * FROM [dbo].[orders] AS t WHERE (amount > 5
)
