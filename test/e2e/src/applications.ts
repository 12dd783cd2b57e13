import { applicationsImage } from "@trawler/testbed";
import type { ContainerOptions } from "./manifests.ts";

/** What the servers' users are called, and their password: no frame may tell it. */
export const account = { username: "trawler", password: "s3cret-of-the-servers" };

const server = (name: string, ...lines: readonly string[]): ContainerOptions => ({
  name,
  image: applicationsImage,
  command: ["/bin/sh", "-c", ["set -e", ...lines].join("\n")],
});

/** Real servers, all on loopback of one pod's network namespace: only from inside can they be asked. */
export const servers: readonly ContainerOptions[] = [
  server(
    "apache",
    "cat > /tmp/httpd.conf <<'CONF'",
    "ServerRoot /etc/apache2",
    "PidFile /tmp/httpd.pid",
    "Listen 127.0.0.1:8081",
    "ServerName localhost",
    "User www-data",
    "LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so",
    "LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so",
    "LoadModule status_module /usr/lib/apache2/modules/mod_status.so",
    "ErrorLog /dev/stderr",
    "ExtendedStatus On",
    "<Location /server-status>",
    "SetHandler server-status",
    "</Location>",
    "CONF",
    "exec /usr/sbin/apache2 -D FOREGROUND -f /tmp/httpd.conf",
  ),
  server("memcached", "exec /usr/bin/memcached -u nobody -l 127.0.0.1"),
  server(
    "postgresql",
    "bin=/usr/lib/postgresql/15/bin; mkdir /tmp/pg; chown postgres /tmp/pg",
    `echo ${account.password} > /tmp/password; chmod 644 /tmp/password`,
    'su postgres -c "$bin/initdb -D /tmp/pg/data -A scram-sha-256 --pwfile=/tmp/password -U admin"',
    "su postgres -c \"$bin/pg_ctl -D /tmp/pg/data -o '-h 127.0.0.1 -k /tmp/pg' -w start\"",
    `PGPASSWORD=${account.password} psql -h 127.0.0.1 -U admin postgres -c "create role ${account.username} login password '${account.password}' in role pg_monitor"`,
    'su postgres -c "$bin/pg_ctl -D /tmp/pg/data -w stop"',
    'exec su postgres -c "exec $bin/postgres -D /tmp/pg/data -h 127.0.0.1 -k /tmp/pg"',
  ),
  server(
    "mariadb",
    "mkdir /tmp/my; chown mysql /tmp/my",
    "mariadb-install-db --user=mysql --datadir=/tmp/my/data --skip-test-db",
    `echo "CREATE USER '${account.username}'@'%' IDENTIFIED BY '${account.password}';" > /tmp/init.sql; chmod 644 /tmp/init.sql`,
    "exec /usr/sbin/mariadbd --no-defaults --user=mysql --datadir=/tmp/my/data --bind-address=127.0.0.1 --socket=/tmp/my/s.sock --init-file=/tmp/init.sql",
  ),
  server(
    "tomcat",
    'sed -i \'s/port="8080"/port="8080" address="127.0.0.1"/; s/<Server port="8005"/<Server port="-1"/\' /etc/tomcat10/server.xml',
    `echo '<tomcat-users><role rolename="manager-status"/><user username="${account.username}" password="${account.password}" roles="manager-status"/></tomcat-users>' > /etc/tomcat10/tomcat-users.xml`,
    "chmod 644 /etc/tomcat10/tomcat-users.xml",
    "export CATALINA_HOME=/usr/share/tomcat10 CATALINA_BASE=/var/lib/tomcat10 CATALINA_TMPDIR=/tmp JAVA_OPTS=-Xmx128m",
    "exec /usr/share/tomcat10/bin/catalina.sh run",
  ),
];
