SELECT TOP (1) 1 FROM [dbo].[orders] AS t
