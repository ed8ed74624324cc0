SELECT t.[id], t.[id], t.[it's]]odd], CONVERT(decimal(19,4), t.[m]), CONVERT(nvarchar(max), t.[x]), CONVERT(varbinary(max), t.[h]), CONVERT(varchar(max), t.[txt]), CONVERT(nvarchar(max), t.[ntxt]), CONVERT(varbinary(max), t.[img]), t.[o] FROM [dbo].[orders] AS t WHERE (amount > 5
) AND 1 = 0 ORDER BY t.[id]
