SELECT TOP (0) * FROM (SELECT id, amount FROM dbo.orders
) AS t
