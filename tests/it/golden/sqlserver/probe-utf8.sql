SELECT COUNT(*) FROM sys.fn_helpcollations() AS c WHERE c.name = N'Latin1_General_100_BIN2_UTF8'
