SELECT TOP (0) 1 FROM [dbo].[orders] AS t WHERE (amount > 5
)
