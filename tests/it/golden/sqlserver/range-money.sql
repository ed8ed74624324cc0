SELECT t.[k] FROM [dbo].[orders] AS t WHERE t.[k] >= CONVERT(money, CONVERT(decimal(19,4), '1.2345')) AND t.[k] < CONVERT(money, CONVERT(decimal(19,4), '922337203685477.5807')) ORDER BY t.[k]
