SELECT p.name FROM sys.security_policies AS p JOIN sys.security_predicates AS r ON r.object_id = p.object_id WHERE p.is_enabled = 1 AND r.predicate_type = 0 AND r.target_object_id = 1234
