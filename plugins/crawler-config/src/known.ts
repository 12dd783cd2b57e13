/** Configuration that most systems have, and that of servers where their packages put it. */
export const KNOWN = [
  "/etc/passwd",
  "/etc/group",
  "/etc/hosts",
  "/etc/hostname",
  "/etc/mtab",
  "/etc/fstab",
  "/etc/aliases",
  "/etc/resolv.conf",
  "/etc/nsswitch.conf",
  "/etc/sysctl.conf",
  "/etc/sysctl.d/*.conf",
  "/etc/sudoers",
  "/etc/sudoers.d/*",
  "/etc/ssh/ssh_config",
  "/etc/ssh/sshd_config",
  "/etc/init/ssh.conf",
  "/etc/my.cnf",
  "/etc/mysql/my.cnf",
  "/etc/nginx/nginx.conf",
  "/etc/nginx/conf.d/*.conf",
  "/etc/apache2/apache2.conf",
  "/etc/apache2/ports.conf",
  "/etc/apache2/mods-available/ssl.conf",
  "/etc/apache2/sites-enabled/000-default.conf",
  "/etc/httpd/conf.d/ssl.conf",
  "/etc/httpd/conf/httpd.conf",
  "/etc/httpd/httpd.conf",
];

export const EXTENSIONS = ["xml", "ini", "properties", "conf", "cnf", "cfg", "cf", "config", "allow", "deny", "lst"];

/** Where no configuration is, or too much of it. */
export const EXCLUDED = [
  "/dev",
  "/proc",
  "/sys",
  "/mnt",
  "/tmp",
  "/var/cache",
  "/usr/share/man",
  "/usr/share/doc",
  "/usr/share/mime",
];
