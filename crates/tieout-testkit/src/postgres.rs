//! A private `PostgreSQL` server for tests: its own folder, port and users, and gone when dropped.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::Result;

/// Tries to start: another process may take the free port between the look and the start.
const START_ATTEMPTS: u32 = 5;

/// How to make the server's data folder.
#[derive(Clone, Debug)]
pub struct Options {
    /// The locale of libc.
    pub locale: String,
    /// An ICU locale (such as `en-US`) for the databases' order, instead of libc's.
    pub icu_locale: Option<String>,
    /// The encoding of the databases.
    pub encoding: String,
    /// Lines of `postgresql.conf`, by name and value.
    pub settings: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self { locale: "C.UTF-8".into(), icu_locale: None, encoding: "UTF8".into(), settings: Vec::new() }
    }
}

/// A running server. It trusts the user `postgres` on 127.0.0.1 and on a socket in its folder.
#[derive(Debug)]
pub struct PostgresServer {
    bin: PathBuf,
    folder: TempDir,
    port: u16,
    /// The user that the server runs as, when it is not this process's own.
    account: Option<Account>,
}

/// The operating system's user `postgres`: the server refuses to run as root.
#[derive(Clone, Copy, Debug)]
struct Account {
    uid: u32,
    gid: u32,
}

impl PostgresServer {
    /// Starts a server with the default options. It takes a second or two.
    ///
    /// # Errors
    /// When `PostgreSQL` is not installed (`TIEOUT_PG_BIN`, else the newest of `/usr/lib/postgresql/*/bin`) or does not
    /// start; the error has the output of its programs.
    pub fn start() -> Result<Self> {
        Self::start_with(&Options::default())
    }

    /// Starts a server.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(options: &Options) -> Result<Self> {
        let bin = find_bin()?;
        let account = account()?;
        let folder = tempfile::Builder::new().prefix("tieout-pg-").tempdir()?;
        if let Some(account) = account {
            chown(folder.path(), Some(account.uid), Some(account.gid))?;
        }
        let mut server = Self { bin, folder, port: 0, account };
        server.init(options)?;
        server.launch()?;
        Ok(server)
    }

    /// Starts a standby of this server that replays its log as it is written, with lines of `postgresql.conf` of its own.
    /// This server must keep enough of its log for one (`wal_level = replica` and `max_wal_senders`, the defaults).
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn standby(&self, settings: &[(&str, &str)]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("tieout-pg-").tempdir()?;
        if let Some(account) = self.account {
            chown(folder.path(), Some(account.uid), Some(account.gid))?;
        }
        let mut standby = Self { bin: self.bin.clone(), folder, port: 0, account: self.account };
        let mut copy = self.command("pg_basebackup");
        copy.args(["-R", "-X", "stream", "--checkpoint=fast", "--no-sync", "-d", &self.url("postgres"), "-D"]);
        run(copy.arg(standby.data()))?;
        let mut text = format!("unix_socket_directories = '{}'\n", standby.folder.path().display());
        for (name, value) in settings {
            writeln!(text, "{name} = '{}'", value.replace('\'', "''"))?;
        }
        append(&standby.data().join("postgresql.conf"), &text)?;
        standby.launch()?;
        Ok(standby)
    }

    fn init(&self, options: &Options) -> Result<()> {
        let mut command = self.command("initdb");
        command.arg("-D").arg(self.data()).args(["-U", "postgres", "-A", "trust", "--no-sync"]);
        command.args(["--locale", &options.locale, "-E", &options.encoding]);
        if let Some(locale) = &options.icu_locale {
            command.args(["--locale-provider=icu", "--icu-locale", locale]);
        }
        run(&mut command)?;
        let socket = self.folder.path().display().to_string();
        let mut text = String::new();
        let fixed = [
            ("fsync", "off"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "off"),
            ("max_connections", "100"),
            ("listen_addresses", "127.0.0.1"),
            ("unix_socket_directories", socket.as_str()),
        ];
        let chosen = options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in fixed.into_iter().chain(chosen) {
            writeln!(text, "{name} = '{}'", value.replace('\'', "''"))?;
        }
        append(&self.data().join("postgresql.conf"), &text)
    }

    fn launch(&mut self) -> Result<()> {
        let mut last = String::new();
        for _ in 0..START_ATTEMPTS {
            self.port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let mut command = self.control("start");
            command.arg("-l").arg(self.log()).arg("-o").arg(format!("-p {}", self.port));
            match run(&mut command) {
                Ok(_) => return Ok(()),
                Err(error) => last = error.to_string(),
            }
        }
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        Err(format!("starting PostgreSQL failed {START_ATTEMPTS} times: {last}\n{log}").into())
    }

    /// The server's folder; its socket is in it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The TCP port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's log so far.
    #[must_use]
    pub fn log_text(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// The URL of a database as the user `postgres`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.url_as("postgres", database)
    }

    /// The URL of a database as a user, without a password.
    #[must_use]
    pub fn url_as(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// Connects to the database `postgres`.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn connect(&self) -> Result<Client> {
        connect(&self.url("postgres")).await
    }

    /// Runs statements in the database `postgres`, without a runtime.
    ///
    /// # Errors
    /// The server's, as text.
    pub fn execute(&self, sql: &str) -> Result<()> {
        execute(&self.url("postgres"), sql)
    }

    /// Makes a database and gives its URL.
    ///
    /// # Errors
    /// When there is one of that name.
    pub fn create_database(&self, name: &str) -> Result<String> {
        self.execute(&format!("CREATE DATABASE \"{name}\""))?;
        Ok(self.url(name))
    }

    /// Makes a user who must give the password, by SCRAM-SHA-256. Name and password must not hold quotes.
    ///
    /// # Errors
    /// The server's.
    pub fn create_password_user(&self, name: &str, password: &str) -> Result<()> {
        self.execute(&format!(
            "SET password_encryption = 'scram-sha-256'; CREATE ROLE \"{name}\" LOGIN PASSWORD '{password}'"
        ))?;
        self.first_rules(&format!("host all \"{name}\" 127.0.0.1/32 scram-sha-256\n"))
    }

    /// Refuses a user's connections without TLS.
    ///
    /// # Errors
    /// When the rules can't be written.
    pub fn require_tls(&self, user: &str) -> Result<()> {
        self.first_rules(&format!("hostnossl all \"{user}\" 127.0.0.1/32 reject\n"))
    }

    /// Turns TLS on with a new certificate for `localhost` and 127.0.0.1, and gives the path of its authority's
    /// certificate (PEM).
    ///
    /// # Errors
    /// When the files can't be written.
    pub fn enable_tls(&self) -> Result<PathBuf> {
        self.install_tls(&Certificates::generate()?)
    }

    /// Turns TLS on with a new certificate for `name` that is signed by itself, and gives the path of a copy (PEM).
    ///
    /// # Errors
    /// When the files can't be written.
    pub fn enable_tls_self_signed(&self, name: &str) -> Result<PathBuf> {
        self.install_tls(&Certificates::self_signed(name)?)
    }

    fn install_tls(&self, tls: &Certificates) -> Result<PathBuf> {
        let authority = self.folder.path().join("authority.pem");
        fs::write(&authority, &tls.authority)?;
        for (name, text) in [("server.crt", &tls.certificate), ("server.key", &tls.key)] {
            let path = self.data().join(name);
            fs::write(&path, text)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            if let Some(account) = self.account {
                chown(&path, Some(account.uid), Some(account.gid))?;
            }
        }
        append(&self.data().join("postgresql.conf"), "ssl = on\n")?;
        self.reload()?;
        Ok(authority)
    }

    /// Puts rules before all others in `pg_hba.conf` and has the server read it.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn first_rules(&self, rules: &str) -> Result<()> {
        let path = self.data().join("pg_hba.conf");
        let before = fs::read_to_string(&path)?;
        fs::write(&path, format!("{rules}{before}"))?;
        self.reload()
    }

    /// Has the server read its settings again, and waits until it has.
    ///
    /// # Errors
    /// The server's.
    pub fn reload(&self) -> Result<()> {
        let loaded = || query(&self.url("postgres"), "SELECT pg_conf_load_time()");
        let before = loaded()?;
        run(&mut self.control("reload"))?;
        // Each look is a new connection, so that there is no need to wait in between.
        for _ in 0..200 {
            if loaded()? != before {
                return Ok(());
            }
        }
        Err("PostgreSQL did not read its settings again".into())
    }

    /// Stops the server as a crash would, and starts it again on the same port.
    ///
    /// # Errors
    /// When it does not start.
    pub fn restart(&self) -> Result<()> {
        let mut command = self.control("restart");
        command.args(["-m", "immediate", "-l"]).arg(self.log()).arg("-o").arg(format!("-p {}", self.port));
        run(&mut command).map(|_| ())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn control(&self, verb: &str) -> Command {
        let mut command = self.command("pg_ctl");
        command.arg("-w").arg("-D").arg(self.data()).arg(verb);
        command
    }

    /// One of the server's programs, as the server's user.
    fn command(&self, program: &str) -> Command {
        let path = self.bin.join(program);
        let mut command = if self.account.is_some() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        // A folder that every user can enter.
        command.current_dir("/");
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.data().join("postmaster.pid").exists() {
            let mut command = self.control("stop");
            command.args(["-m", "immediate"]);
            let _ = run(&mut command);
        }
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
    server: Option<PostgresServer>,
}

impl TestDatabase {
    /// Makes one on the server of `TIEOUT_TEST_PG` (a URL without a query), else on a private server.
    ///
    /// # Errors
    /// When neither is there; also when `TIEOUT_STORES` names `postgres` and `TIEOUT_TEST_PG` is not set.
    pub fn create() -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let shared = std::env::var("TIEOUT_TEST_PG").ok().filter(|url| !url.is_empty());
        let wanted = std::env::var("TIEOUT_STORES").unwrap_or_default();
        if shared.is_none() && wanted.split(',').any(|store| store.trim() == "postgres") {
            return Err("TIEOUT_STORES names postgres, but TIEOUT_TEST_PG is not set".into());
        }
        let (admin, server) = if let Some(url) = shared {
            (url, None)
        } else {
            let server = PostgresServer::start()?;
            (server.url("postgres"), Some(server))
        };
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        execute(&admin, &format!("CREATE DATABASE {name} TEMPLATE template0"))?;
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
    pub fn server(&self) -> Option<&PostgresServer> {
        self.server.as_ref()
    }

    /// The locator of a table here, as `tieout diff` takes it.
    #[must_use]
    pub fn table(&self, table: &str) -> String {
        format!("{}#{table}", self.url)
    }

    /// Connects.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn connect(&self) -> Result<Client> {
        connect(&self.url).await
    }

    /// Runs statements, without a runtime.
    ///
    /// # Errors
    /// The server's, as text.
    pub fn execute(&self, sql: &str) -> Result<()> {
        execute(&self.url, sql)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if self.server.is_none() {
            let _ = execute(&self.admin, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
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

/// Connects to a URL without TLS; the connection runs on the current runtime until the client is dropped.
///
/// # Errors
/// When the server does not answer.
pub async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async move {
        // A broken connection shows in the client's next call.
        let _ = connection.await;
    });
    Ok(client)
}

/// Runs statements at a URL by psql, which needs no runtime; stops at the first error.
///
/// # Errors
/// The server's, as text.
pub fn execute(url: &str, sql: &str) -> Result<()> {
    query(url, sql).map(|_| ())
}

/// Runs statements at a URL by psql and gives what they print: columns by `|`, rows by newlines.
///
/// # Errors
/// The server's, as text.
pub fn query(url: &str, sql: &str) -> Result<String> {
    let mut command = Command::new(find_bin()?.join("psql"));
    command.args(["-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(sql.as_bytes())?;
    }
    let output = checked("psql", child.wait_with_output()?)?;
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// An authority and a server certificate signed by it, as PEM.
struct Certificates {
    authority: String,
    certificate: String,
    key: String,
}

impl Certificates {
    fn generate() -> Result<Self> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority.distinguished_name.push(DnType::CommonName, "tieout test authority");
        let root = authority.self_signed(&authority_key)?;
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate()?;
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
        Ok(Self { authority: root.pem(), certificate: certificate.pem(), key: key.serialize_pem() })
    }

    /// As a server has it whose operator made one by `openssl req -x509`: an authority that signed but itself.
    fn self_signed(name: &str) -> Result<Self> {
        let key = KeyPair::generate()?;
        let mut parameters = CertificateParams::new(vec![name.to_owned()])?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key)?.pem();
        Ok(Self { authority: certificate.clone(), certificate, key: key.serialize_pem() })
    }
}

/// The folder of `PostgreSQL`'s programs.
fn find_bin() -> Result<PathBuf> {
    if let Some(bin) = std::env::var_os("TIEOUT_PG_BIN").filter(|bin| !bin.is_empty()) {
        return Ok(PathBuf::from(bin));
    }
    let mut newest: Option<(u32, PathBuf)> = None;
    for entry in fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let bin = entry.path().join("bin");
        let Some(version) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if bin.join("initdb").exists() && newest.as_ref().is_none_or(|(found, _)| *found < version) {
            newest = Some((version, bin));
        }
    }
    newest.map(|(_, bin)| bin).ok_or_else(|| "no PostgreSQL server found: set TIEOUT_PG_BIN".into())
}

/// The account to run the server as: `postgres` when this process is root's, else none.
fn account() -> Result<Option<Account>> {
    let id = |arguments: &[&str]| -> Result<u32> {
        let output = run(Command::new("id").args(arguments))?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    };
    if id(&["-u"])? != 0 {
        return Ok(None);
    }
    Ok(Some(Account { uid: id(&["-u", "postgres"])?, gid: id(&["-g", "postgres"])? }))
}

fn append(path: &Path, text: &str) -> Result<()> {
    fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())?;
    Ok(())
}

/// Runs a program to its end; its output would otherwise be held open by the server that it starts.
fn run(command: &mut Command) -> Result<Output> {
    let name = format!("{command:?}");
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let status = command.status().map_err(|error| format!("running {name}: {error}"))?;
    let output = Output { status, stdout: read_all(&mut stdout)?, stderr: read_all(&mut stderr)? };
    checked(&name, output)
}

fn read_all(file: &mut fs::File) -> Result<Vec<u8>> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
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
    fn runs_with_passwords_and_tls_and_is_gone_when_dropped() {
        let server = PostgresServer::start().unwrap();
        let url = server.create_database("one").unwrap();
        assert_eq!(query(&url, "SELECT current_database()").unwrap(), "one");
        server.create_password_user("guarded", "pass word").unwrap();
        let plain = format!("host=127.0.0.1 port={} dbname=one user=guarded", server.port());
        assert!(query(&plain, "SELECT 1").is_err());
        assert_eq!(query(&format!("{plain} password='pass word'"), "SELECT 1").unwrap(), "1");
        let authority = server.enable_tls().unwrap();
        let secure = format!(
            "host=127.0.0.1 port={} dbname=one user=postgres sslmode=verify-full sslrootcert={}",
            server.port(),
            authority.display()
        );
        assert_eq!(query(&secure, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").unwrap(), "t");
        server.restart().unwrap();
        assert_eq!(query(&url, "SELECT 2").unwrap(), "2");
        let folder = server.folder().to_owned();
        drop(server);
        assert!(!folder.exists());
        assert!(query(&url, "SELECT 1").is_err());
    }

    #[tokio::test]
    async fn loads_the_standard_table_as_generated() {
        use crate::table::{Side, standard_row};
        let database = test_database().unwrap();
        let client = database.connect().await.unwrap();
        crate::write::load_postgres(&client, "sink", 3, 1000, Side::Sink).await.unwrap();
        let row = client
            .query_one("SELECT amount::text, name, note, score, day - DATE '1970-01-01', (extract(epoch FROM created_at) * 1000000)::bigint, reference::text, code FROM sink WHERE id = 40", &[])
            .await
            .unwrap();
        let expected = standard_row(3, 40);
        let cents = row.get::<_, String>(0).replace('.', "").parse::<i64>().unwrap();
        assert_eq!(cents, expected.amount_cents);
        assert_eq!(row.get::<_, String>(1), expected.name);
        assert_eq!(row.get::<_, Option<String>>(2), expected.note);
        assert_eq!(row.get::<_, f64>(3).to_bits(), expected.score.to_bits());
        assert_eq!(row.get::<_, i32>(4), expected.day);
        assert_eq!(row.get::<_, i64>(5), expected.created_at);
        assert_eq!(
            row.get::<_, String>(6).replace('-', ""),
            format!("{:032x}", u128::from_be_bytes(expected.reference))
        );
        assert_eq!(row.get::<_, String>(7), expected.code);
        let count: i64 = client.query_one("SELECT count(*) FROM sink", &[]).await.unwrap().get(0);
        assert_eq!(count, 1000);
    }
}
