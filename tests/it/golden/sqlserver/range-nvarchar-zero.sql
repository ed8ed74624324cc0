SELECT t.[k] FROM [dbo].[orders] AS t WHERE (t.[k] COLLATE Latin1_General_BIN2) >= (N'a' + NCHAR(0) + N'b') AND (t.[k] COLLATE Latin1_General_BIN2) < (N'a\' + N'
b') ORDER BY (t.[k] COLLATE Latin1_General_BIN2), DATALENGTH(t.[k])
