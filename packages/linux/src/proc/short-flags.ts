/** How a program takes a secret by a flag that does not name one. */
interface SecretFlags {
  /** What stands before the secret in the same word. */
  readonly attached: RegExp;
  /** A flag whose next word is the secret; null where there is none. */
  readonly before: RegExp | null;
}

const flags = (programs: string, attached: RegExp, before: RegExp | null): [string, SecretFlags][] =>
  programs.split(" ").map((program) => [program, { attached, before }]);

/** By the manual pages of each. `mysql -p` alone asks for the password; the next word is a database. */
const PROGRAMS: ReadonlyMap<string, SecretFlags> = new Map([
  ...flags(
    "mysql mysqladmin mysqlcheck mysqldump mysqlimport mysqlpump mysqlshow mysqlslap mysqlbinlog mysqlsh mycli" +
      " mariadb mariadb-admin mariadb-check mariadb-dump mariadb-import mariadb-show mariadb-slap mariadb-binlog" +
      " mariadb-backup mariabackup xtrabackup innobackupex",
    /^["']?-p(?=.)/,
    null,
  ),
  ...flags(
    "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop mongofiles sshpass cqlsh rabbitmqadmin",
    /^["']?-p(?=.)/,
    /^["']?-p$/,
  ),
  ...flags("curl", /^["']?(?:-[uU](?=.)|--(?:user|proxy-user)=)/, /^["']?(?:-[A-Za-z#]*[uU]|--user|--proxy-user)$/),
  ...flags("redis-cli valkey-cli keydb-cli redis-benchmark", /^["']?--pass=/, /^["']?(?:-a|--pass)$/),
  ...flags("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", /^["']?-w(?=.)/, /^["']?-w$/),
  ...flags("smbclient rpcclient", /^["']?-U(?=.)/, /^["']?-U$/),
  ...flags("sqlcmd isql bcp mosquitto_pub mosquitto_sub", /^["']?-P(?=.)/, /^["']?-P$/),
  ...flags("http https ab", /^["']?-[aA](?=.)/, /^["']?(?:-[aA]|--auth)$/),
]);

/** The flags of a program that takes secrets by them, by a word that may be its path; null for any other word. */
export function secretFlags(word: string): SecretFlags | null {
  const name = word.slice(word.lastIndexOf("/") + 1).replace(/^["'([{`$]+|["');]+$/g, "");
  return PROGRAMS.get(name) ?? null;
}
