//! Connecting by tiberius.

use tiberius::{AuthMethod, Client, ColumnData, Config, EncryptionLevel, Row};
use tieout_testkit::tds::TdsServer;
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

/// A connection of tiberius.
pub type Tiberius = Client<Compat<TcpStream>>;

/// As the user `u` with the password `p`.
pub fn config(server: &TdsServer, encryption: EncryptionLevel) -> Config {
    let mut config = Config::new();
    config.host("127.0.0.1");
    config.port(server.port());
    config.authentication(AuthMethod::sql_server("u", "p"));
    config.encryption(encryption);
    if let Some(authority) = server.authority() {
        config.trust_cert_ca_bundle(authority.as_bytes());
    }
    config
}

/// Connects as configured.
pub async fn connect_as(config: Config) -> tiberius::Result<Tiberius> {
    let tcp = TcpStream::connect(config.get_addr()).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    // The handshake's state is large.
    Box::pin(Client::connect(config, tcp.compat_write())).await
}

/// Connects without TLS.
pub async fn connect(server: &TdsServer) -> Tiberius {
    connect_as(config(server, EncryptionLevel::NotSupported)).await.unwrap()
}

/// The rows of a batch of one result.
pub async fn rows(client: &mut Tiberius, sql: &str) -> tiberius::Result<Vec<Vec<ColumnData<'static>>>> {
    let rows: Vec<Row> = client.simple_query(sql).await?.into_first_result().await?;
    Ok(rows.into_iter().map(|row| row.into_iter().collect()).collect())
}
