SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= N'it''s' AND t.[k] < N'z' ORDER BY t.[k]
