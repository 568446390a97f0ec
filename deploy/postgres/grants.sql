-- After each hallmark migrate, by hallmark_owner, in the database: what the service may
-- do, and no more. It cannot change a record.
GRANT USAGE ON SCHEMA public TO hallmark_service;
GRANT SELECT ON hallmark_migrations TO hallmark_service;
GRANT SELECT, INSERT, DELETE ON events, originals, probe TO hallmark_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON requests, claims TO hallmark_service;
