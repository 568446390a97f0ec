-- Once for a server, by a role that may make roles and databases:
--
--   OWNER_PASSWORD_FILE=… SERVICE_PASSWORD_FILE=… psql -v ON_ERROR_STOP=1 -f roles.sql
--
-- hallmark_owner makes and changes tables (hallmark migrate); hallmark_service is the service.
-- Passwords are read by psql from files, so that they stand in no command line. The
-- statements go to the server in clear, within the connection's TLS: set
-- log_statement to none or ddl's default for it.
\set owner_password `cat "$OWNER_PASSWORD_FILE"`
\set service_password `cat "$SERVICE_PASSWORD_FILE"`
CREATE ROLE hallmark_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE hallmark_service LOGIN PASSWORD :'service_password';
CREATE DATABASE hallmark OWNER hallmark_owner ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
REVOKE ALL ON DATABASE hallmark FROM PUBLIC;
GRANT CONNECT ON DATABASE hallmark TO hallmark_service;
