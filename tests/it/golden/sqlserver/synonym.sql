SELECT base_object_name FROM sys.synonyms WHERE object_id = 1234
