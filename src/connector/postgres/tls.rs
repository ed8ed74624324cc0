//! TLS with libpq's meaning of `sslmode`: what is asked for is done, or it is an error; never less.

use crate::model::{Error, ErrorKind, Result};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    server::ParsedCertificate,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The value of `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsMode {
    /// Reads the mode; an unknown one is an error.
    pub(super) fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "disable" => Self::Disable,
            "allow" => Self::Allow,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(Error::new(
                    ErrorKind::Config,
                    "reading sslmode: expected disable, allow, prefer, require, verify-ca or verify-full",
                ));
            }
        })
    }
}

/// Where trusted certificates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// A file of PEM certificates.
    File(PathBuf),
    /// The system's.
    System,
}

/// TLS settings of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TlsSettings {
    pub(super) mode: TlsMode,
    pub(super) roots: Option<Roots>,
    /// Client certificate and its key.
    pub(super) client: Option<(PathBuf, PathBuf)>,
}

/// How much of a server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    Nothing,
    Chain,
    ChainAndName,
}

impl TlsSettings {
    /// What is checked: `require` with root certificates at hand means `verify-ca`, as libpq has it.
    pub(super) fn check(&self) -> Result<Check> {
        if self.roots == Some(Roots::System) && self.mode != TlsMode::VerifyFull {
            return Err(Error::new(
                ErrorKind::Config,
                "reading sslmode: sslrootcert=system needs sslmode=verify-full, found a weaker mode",
            ));
        }
        match (self.mode, &self.roots) {
            (TlsMode::VerifyCa | TlsMode::VerifyFull, None) => Err(Error::new(
                ErrorKind::Config,
                "preparing TLS: sslmode asks to verify the server, but there is no root certificate",
            )
            .hint("give sslrootcert=FILE, or sslrootcert=system with sslmode=verify-full")),
            (TlsMode::VerifyFull, Some(_)) => Ok(Check::ChainAndName),
            (TlsMode::VerifyCa, Some(_)) | (TlsMode::Require, Some(Roots::File(_))) => Ok(Check::Chain),
            _ => Ok(Check::Nothing),
        }
    }
}

fn config_error(what: &str, path: &Path) -> Error {
    Error::new(ErrorKind::Config, format!("preparing TLS: {what} {}", path.display()))
}

/// Makes the configuration of the TLS client.
pub(super) fn client_config(settings: &TlsSettings) -> Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let check = settings.check()?;
    let verifier = Arc::new(verifier(settings, check, &provider)?);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Config, format!("preparing TLS: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let Some((certificate, key)) = &settings.client else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|_| config_error("found no private key in", key))?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|_| config_error("the client key does not fit the certificate in", certificate))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    match read() {
        Ok(list) if !list.is_empty() => Ok(list),
        Ok(_) => Err(config_error("found no certificate in", path)),
        Err(error) => Err(config_error("could not read certificates from", path).caused_by(error)),
    }
}

fn verifier(settings: &TlsSettings, check: Check, provider: &Arc<CryptoProvider>) -> Result<Verifier> {
    let mut trusted = Vec::new();
    let inner = match (&settings.roots, check) {
        (_, Check::Nothing) | (None, _) => None,
        (Some(roots), _) => {
            trusted = match roots {
                Roots::File(path) => certificates(path)?,
                Roots::System => rustls_native_certs::load_native_certs().certs,
            };
            let mut store = RootCertStore::empty();
            store.add_parsable_certificates(trusted.iter().cloned());
            let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
                .build()
                .map_err(|error| Error::new(ErrorKind::Config, format!("preparing TLS: {error}")))?;
            Some(inner)
        }
    };
    Ok(Verifier { check, inner, trusted, provider: Arc::clone(provider) })
}

/// Checks a server's certificate as far as the mode asks.
#[derive(Debug)]
struct Verifier {
    check: Check,
    inner: Option<Arc<WebPkiServerVerifier>>,
    trusted: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext, Other};
        if self.check == Check::Nothing {
            return Ok(ServerCertVerified::assertion());
        }
        let Some(inner) = &self.inner else {
            return Err(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer));
        };
        match inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The chain is checked before the name, so this says that the chain is good.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if self.check == Check::Chain =>
            {
                Ok(ServerCertVerified::assertion())
            }
            // A self-signed certificate that is itself trusted: refused only for being an authority, which is checked
            // after its dates.
            Err(rustls::Error::InvalidCertificate(Other(other))) if other.to_string().contains("CaUsedAsEndEntity") => {
                if !self.trusted.iter().any(|trusted| trusted == end_entity) {
                    return Err(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer));
                }
                if self.check == Check::ChainAndName {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mode: &str, roots: Option<Roots>) -> Option<Check> {
        TlsSettings { mode: TlsMode::parse(mode).ok()?, roots, client: None }.check().ok()
    }

    #[test]
    fn modes_mean_what_libpq_says() {
        let file = || Some(Roots::File("/r.crt".into()));
        assert_eq!(check("require", None), Some(Check::Nothing));
        assert_eq!(check("require", file()), Some(Check::Chain));
        assert_eq!(check("verify-ca", file()), Some(Check::Chain));
        assert_eq!(check("verify-full", file()), Some(Check::ChainAndName));
        assert_eq!(check("verify-ca", None), None);
        assert_eq!(check("verify-full", None), None);
        assert_eq!(check("verify-full", Some(Roots::System)), Some(Check::ChainAndName));
        assert_eq!(check("require", Some(Roots::System)), None);
        assert_eq!(check("Require", None), None);
    }
}
