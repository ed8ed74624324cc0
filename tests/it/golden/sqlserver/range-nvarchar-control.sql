SELECT t.[k] FROM [dbo].[orders] AS t WHERE (t.[k] COLLATE Latin1_General_BIN2) > N'a' AND (t.[k] COLLATE Latin1_General_BIN2) <= N'a\' ORDER BY (t.[k] COLLATE Latin1_General_BIN2), DATALENGTH(t.[k])
