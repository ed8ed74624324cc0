//! A private MariaDB server for tests: its own folder and port, and gone when dropped.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use tempfile::TempDir;

use crate::Result;

/// Tries to start: another process may take the free port between the look and the start.
const START_ATTEMPTS: u32 = 5;
/// How long a server may take to answer.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// The operating system's user that the server runs as when this process is root's: it refuses to run as root.
const ACCOUNT: &str = "mysql";

/// A running server with a binary log. Its user `root` has no password and may connect from 127.0.0.1 and by a socket in
/// its folder.
#[derive(Debug)]
pub struct MariadbServer {
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

impl MariadbServer {
    /// Starts a server. It takes a few seconds.
    ///
    /// # Errors
    /// When MariaDB is not installed or does not start; the error has the output of its programs.
    pub fn start() -> Result<Self> {
        Self::start_with(&["--log-bin=binlog"])
    }

    /// Starts a server with options of its command line (instead of the binary log).
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(options: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("tieout-mdb-").tempdir()?;
        let root = is_root()?;
        if root {
            let id = |flag: &str| -> Result<u32> {
                let output = run(Command::new("id").args([flag, ACCOUNT]))?;
                Ok(String::from_utf8(output.stdout)?.trim().parse()?)
            };
            chown(folder.path(), Some(id("-u")?), Some(id("-g")?))?;
        }
        let mut server = Self { folder, port: 0, child: None };
        let mut command = server.command("mariadb-install-db", root)?;
        command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        run(&mut command)?;
        server.launch(options, root)?;
        Ok(server)
    }

    /// Starts a server with a new certificate for `name`, and gives the path of its authority's certificate (PEM), which
    /// lies in `folder` with the other files.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with_tls(folder: &Path, name: &str) -> Result<(Self, PathBuf)> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority.distinguished_name.push(DnType::CommonName, "tieout test authority");
        let root = authority.self_signed(&authority_key)?;
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec![name.to_owned()])?.signed_by(&key, &issuer)?;
        let path = folder.join("authority.pem");
        fs::write(&path, root.pem())?;
        fs::write(folder.join("server.pem"), certificate.pem())?;
        fs::write(folder.join("server.key"), key.serialize_pem())?;
        // The server reads them as its own user.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        let option = |name: &str, file: &str| format!("--{name}={}", folder.join(file).display());
        let options = [option("ssl-cert", "server.pem"), option("ssl-key", "server.key")];
        Ok((Self::start_with(&["--log-bin=binlog", &options[0], &options[1]])?, path))
    }

    fn launch(&mut self, options: &[&str], root: bool) -> Result<()> {
        for _ in 0..START_ATTEMPTS {
            self.port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let log = fs::File::create(self.folder.path().join("log"))?;
            let mut command = self.command("mariadbd", root)?;
            command
                .arg(format!("--socket={}", self.socket().display()))
                .arg(format!("--port={}", self.port))
                .arg("--bind-address=127.0.0.1")
                .arg(format!("--pid-file={}", self.folder.path().join("pid").display()))
                .args(["--server-id=1", "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0"])
                .args(["--innodb-buffer-pool-size=64M", "--max-connections=500", "--skip-name-resolve"])
                .args(options);
            let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
            let mut child = self.child.insert(child);
            let started = Instant::now();
            while started.elapsed() < START_TIMEOUT && child.try_wait()?.is_none() {
                if query(&self.url("mysql"), "SELECT 1").is_ok() {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(50));
                child = self.child.as_mut().ok_or("the server is gone")?;
            }
            self.stop();
        }
        Err(format!("starting MariaDB failed {START_ATTEMPTS} times: {}", self.log_text()).into())
    }

    /// The server's folder; its socket is in it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// The TCP port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's log so far.
    #[must_use]
    pub fn log_text(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The URL of a database as the user `root`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs statements, without a runtime.
    ///
    /// # Errors
    /// The server's, as text.
    pub fn execute(&self, sql: &str) -> Result<()> {
        query(&self.url("mysql"), sql).map(|_| ())
    }

    /// One of the server's programs, on its data, as the server's user.
    fn command(&self, program: &str, root: bool) -> Result<Command> {
        let mut command = Command::new(find(program)?);
        command.arg("--no-defaults").arg(format!("--datadir={}", self.folder.path().join("data").display()));
        // A server that starts removes what temporary tables it finds in this folder, those of other servers too.
        command.arg(format!("--tmpdir={}", self.folder.path().display()));
        if root {
            command.arg(format!("--user={ACCOUNT}"));
        }
        // A folder that every user can enter.
        command.current_dir("/");
        Ok(command)
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Nothing of it is kept, so it need not end in order.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for MariadbServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A fresh database for one test, dropped with this.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
    name: String,
    /// The URL to drop it from.
    admin: String,
    /// The server, when it is this database's own.
    server: Option<MariadbServer>,
}

impl TestDatabase {
    /// Makes one on the server of `TIEOUT_TEST_MDB` (a URL without a query), else on a private server.
    ///
    /// # Errors
    /// When neither is there; also when `TIEOUT_STORES` names `mariadb` and `TIEOUT_TEST_MDB` is not set.
    pub fn create() -> Result<Self> {
        let shared = std::env::var("TIEOUT_TEST_MDB").ok().filter(|url| !url.is_empty());
        let wanted = std::env::var("TIEOUT_STORES").unwrap_or_default();
        if shared.is_none() && wanted.split(',').any(|store| store.trim() == "mariadb") {
            return Err("TIEOUT_STORES names mariadb, but TIEOUT_TEST_MDB is not set".into());
        }
        match shared {
            Some(url) => Self::at(url, None),
            None => Self::on(MariadbServer::start()?),
        }
    }

    /// Makes one on a server of its own.
    ///
    /// # Errors
    /// The server's.
    pub fn on(server: MariadbServer) -> Result<Self> {
        Self::at(server.url("mysql"), Some(server))
    }

    fn at(admin: String, server: Option<MariadbServer>) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        query(&admin, &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"))?;
        let base = admin.rsplit_once('/').map_or(admin.as_str(), |(base, _)| base);
        Ok(Self { url: format!("{base}/{name}"), name, admin, server })
    }

    /// The database's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The database's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The private server, when there is no shared one.
    #[must_use]
    pub fn server(&self) -> Option<&MariadbServer> {
        self.server.as_ref()
    }

    /// The locator of a table here, as `tieout diff` takes it.
    #[must_use]
    pub fn table(&self, table: &str) -> String {
        format!("{}#{table}", self.url)
    }

    /// Runs statements, without a runtime.
    ///
    /// # Errors
    /// The server's, as text.
    pub fn execute(&self, sql: &str) -> Result<()> {
        query(&self.url, sql).map(|_| ())
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if self.server.is_none() {
            let _ = query(&self.admin, &format!("DROP DATABASE IF EXISTS {}", self.name));
        }
    }
}

/// A fresh database for one test: [`TestDatabase::create`].
///
/// # Errors
/// As there.
pub fn test_database() -> Result<TestDatabase> {
    TestDatabase::create()
}

/// The client program at a URL `mysql://user@host:port/database`; its session is in UTC and takes zero dates.
///
/// # Errors
/// When the URL is another one, or the program is not there.
pub fn client(url: &str) -> Result<Command> {
    let wrong = || format!("expected mysql://user@host:port/database, found {url}");
    let rest = url.strip_prefix("mysql://").ok_or_else(wrong)?;
    let (user, rest) = rest.split_once('@').ok_or_else(wrong)?;
    let (address, database) = rest.split_once('/').ok_or_else(wrong)?;
    let (host, port) = address.split_once(':').ok_or_else(wrong)?;
    let mut command = Command::new(find("mariadb")?);
    command.args(["--no-defaults", "--protocol=tcp", "-h", host, "-P", port, "-u", user]);
    command.args(["--default-character-set=utf8mb4", "--batch", "--raw", "--skip-column-names"]);
    command.args(["--init-command=SET sql_mode='', time_zone='+00:00'", "-D", database]);
    Ok(command)
}

/// Runs statements at a URL and gives what they print: columns by tabs, rows by newlines; stops at the first error.
///
/// # Errors
/// The server's, as text.
pub fn query(url: &str, sql: &str) -> Result<String> {
    let mut command = client(url)?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(sql.as_bytes())?;
    }
    let output = checked("mariadb", child.wait_with_output()?)?;
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// The path of one of MariaDB's programs: on the path, or where systems keep servers.
fn find(program: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/bin", "/usr/libexec"].map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{program} is not here: install the package mariadb-server").into())
}

fn is_root() -> Result<bool> {
    let output = run(Command::new("id").arg("-u"))?;
    Ok(String::from_utf8(output.stdout)?.trim() == "0")
}

fn run(command: &mut Command) -> Result<Output> {
    let name = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("running {name}: {error}"))?;
    checked(&name, output)
}

fn checked(name: &str, output: Output) -> Result<Output> {
    if output.status.success() {
        return Ok(output);
    }
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{name} ended with {}: {said}{complained}", output.status).into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn runs_and_is_gone_when_dropped() {
        let server = MariadbServer::start().unwrap();
        let url = server.url("mysql");
        assert_eq!(query(&url, "SELECT @@log_bin, @@sql_mode, @@time_zone").unwrap(), "1\t\t+00:00");
        assert!(query(&url, "SELECT nothing").is_err());
        let folder = server.folder().to_owned();
        drop(server);
        assert!(!folder.exists());
        assert!(query(&url, "SELECT 1").is_err());
    }
}
