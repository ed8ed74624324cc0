SELECT CONVERT(varbinary(max), t.[s]) FROM [dbo].[orders] AS t
