SELECT t.name, t.system_type_id, t.user_type_id, t.is_user_defined, t.is_assembly_type FROM sys.types AS t ORDER BY t.user_type_id
