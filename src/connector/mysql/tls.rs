//! TLS with MySQL's meaning of `ssl-mode`: what is asked for is done, or it is an error; never less.

use crate::model::{Error, ErrorKind, Result};
use mysql_async::{ClientIdentity, SslOpts};
use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, pem::PemObject};
use std::path::{Path, PathBuf};

/// The value of `ssl-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// No TLS.
    Disabled,
    /// TLS where the server offers it, whoever it is.
    Preferred,
    /// TLS, whoever the server is.
    Required,
    /// TLS with a certificate signed by a known authority.
    VerifyCa,
    /// The same, and the certificate is that of the host.
    VerifyIdentity,
}

impl TlsMode {
    /// Reads the mode; an unknown one is an error.
    pub(super) fn parse(text: &str) -> Result<Self> {
        Ok(match text.to_lowercase().replace('_', "-").as_str() {
            "disabled" => Self::Disabled,
            "preferred" => Self::Preferred,
            "required" => Self::Required,
            "verify-ca" => Self::VerifyCa,
            "verify-identity" => Self::VerifyIdentity,
            _ => {
                return Err(Error::new(
                    ErrorKind::Config,
                    "reading ssl-mode: expected disabled, preferred, required, verify-ca or verify-identity",
                ));
            }
        })
    }
}

/// TLS settings of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TlsSettings {
    mode: TlsMode,
    authority: Option<PathBuf>,
    client: Option<(PathBuf, PathBuf)>,
}

impl TlsSettings {
    /// What is to be done. An authority that is named is made use of: the weaker modes become `verify-ca` then.
    pub(super) fn new(
        mode: Option<TlsMode>,
        authority: Option<PathBuf>,
        client: Option<(PathBuf, PathBuf)>,
        socket: bool,
    ) -> Result<Self> {
        let mode = match (mode, &authority) {
            (None | Some(TlsMode::Preferred), _) if socket => TlsMode::Disabled,
            (None | Some(TlsMode::Preferred | TlsMode::Required), Some(_)) => TlsMode::VerifyCa,
            (None, None) => TlsMode::Preferred,
            (Some(mode), _) => mode,
        };
        if socket && mode != TlsMode::Disabled {
            return Err(Error::new(ErrorKind::Config, "reading ssl-mode: TLS over a socket file is not supported")
                .hint("drop ssl-mode, or name a host instead of the socket"));
        }
        Ok(Self { mode, authority, client })
    }

    /// The mode.
    pub(super) fn mode(&self) -> TlsMode {
        self.mode
    }

    /// The driver's options for a connection by TLS; `name` is a name of the certificate that stands for the host's
    /// where only the chain is checked.
    pub(super) fn driver_options(&self, name: Option<&str>) -> Result<SslOpts> {
        let mut options = SslOpts::default();
        if let Some((certificate, key)) = &self.client {
            options =
                options.with_client_identity(Some(ClientIdentity::new(certificate.clone().into(), key.clone().into())));
        }
        if matches!(self.mode, TlsMode::Preferred | TlsMode::Required) {
            return Ok(options.with_danger_accept_invalid_certs(true));
        }
        let roots = match &self.authority {
            Some(path) => certificates(path)?,
            None => system_roots()?,
        };
        let roots = roots.into_iter().map(|certificate| certificate.as_ref().to_vec().into()).collect();
        options = options.with_disable_built_in_roots(true).with_root_certs(roots);
        if let (TlsMode::VerifyCa, Some(name)) = (self.mode, name) {
            options = options.with_danger_tls_hostname_override(Some(name.to_owned()));
        }
        Ok(options)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let failed = |what: &str| Error::new(ErrorKind::Config, format!("preparing TLS: {what} {}", path.display()));
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    match read() {
        Ok(list) if !list.is_empty() => Ok(list),
        Ok(_) => Err(failed("found no certificate in")),
        Err(error) => Err(failed("could not read certificates from").caused_by(error)),
    }
}

/// The system's authorities, without those that the TLS library cannot read.
fn system_roots() -> Result<Vec<CertificateDer<'static>>> {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs().certs;
    let usable: Vec<_> = found.into_iter().filter(|certificate| store.add(certificate.clone()).is_ok()).collect();
    if usable.is_empty() {
        return Err(Error::new(
            ErrorKind::Config,
            "preparing TLS: ssl-mode asks to verify the server, but the system knows no authority",
        )
        .hint("give ssl-ca=FILE"));
    }
    Ok(usable)
}

/// A name that the certificate carries, where it failed only because the host is called otherwise.
pub(super) fn other_name(error: &mysql_async::Error) -> Option<String> {
    let text = format!("{error:?}");
    let presented = text.split_once("NotValidForNameContext")?.1;
    for (open, close) in [("DnsName(\\\"", "\\\""), ("DnsName(\"", "\""), ("IpAddress(", ")")] {
        if let Some((_, rest)) = presented.split_once("presented: [")
            && let Some((_, name)) = rest.split_once(open)
            && let Some((name, _)) = name.split_once(close)
        {
            return Some(name.to_owned());
        }
    }
    None
}
