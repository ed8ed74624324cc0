//! TLS under TDS: the handshake inside PRELOGIN packets of TDS 7.x ([MS-TDS] 2.2.6.5, 3.2.5.2) and TLS before everything
//! of TDS 8.0 (3.2.5.1), with certificates made for the occasion.

use super::packet::{HEADER, kind};
use crate::Result;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The name that TDS 8.0 has in ALPN.
const ALPN: &[u8] = b"tds/8.0";

/// What a server needs for both ways of TLS.
pub struct Certificates {
    /// The authority's certificate in PEM, for clients to trust.
    pub authority: String,
    wrapped: TlsAcceptor,
    strict: TlsAcceptor,
}

impl Certificates {
    /// An authority and a certificate of `localhost` and 127.0.0.1 signed by it.
    pub fn new() -> Result<Self> {
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        authority.distinguished_name.push(DnType::CommonName, "tieout TDS test authority");
        let authority_key = KeyPair::generate()?;
        let root = authority.self_signed(&authority_key)?.pem();
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate()?;
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
        let chain = vec![CertificateDer::from_pem_slice(certificate.pem().as_bytes())?];
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes())?;

        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        // TLS 1.3 has messages after its handshake, which the wrapping has no place for: servers offer 1.2 there.
        let mut wrapped = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS12])?
            .with_no_client_auth()
            .with_single_cert(chain.clone(), key.clone_key())?;
        wrapped.session_storage = Arc::new(NoServerSessionStorage {});
        let mut strict = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        strict.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Self {
            authority: root,
            wrapped: TlsAcceptor::from(Arc::new(wrapped)),
            strict: TlsAcceptor::from(Arc::new(strict)),
        })
    }

    /// A handshake in PRELOGIN packets.
    pub async fn accept_wrapped(&self, tcp: TcpStream) -> Result<Transport> {
        let mut stream = self.wrapped.accept(Wrapping::new(tcp, true)).await?;
        stream.get_mut().0.handshake = false;
        Ok(Transport::Tls(Box::new(stream)))
    }

    /// A handshake before anything else.
    pub async fn accept_strict(&self, tcp: TcpStream) -> Result<Transport> {
        let stream = self.strict.accept(Wrapping::new(tcp, false)).await?;
        Ok(Transport::Tls(Box::new(stream)))
    }
}

/// A connection in the clear or encrypted.
pub enum Transport {
    /// In the clear.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<TlsStream<Wrapping>>),
}

impl Transport {
    /// In the clear from here on: the client encrypts only its login.
    #[must_use]
    pub fn into_plain(self) -> Self {
        match self {
            Self::Tls(stream) => Self::Plain(stream.into_inner().0.tcp),
            Self::Plain(_) => self,
        }
    }
}

/// TLS records inside of PRELOGIN packets while the handshake goes on, bare ones after it.
pub struct Wrapping {
    tcp: TcpStream,
    handshake: bool,
    /// The header being read, and how much of it is there.
    header: [u8; HEADER],
    header_read: usize,
    /// What is left to read of the packet's data.
    left: usize,
    /// What the handshake has written since the last flush.
    written: Vec<u8>,
    /// The packet being sent.
    packet: Vec<u8>,
    packet_sent: usize,
}

impl Wrapping {
    fn new(tcp: TcpStream, handshake: bool) -> Self {
        let (header, header_read, left) = ([0; HEADER], 0, 0);
        Self { tcp, handshake, header, header_read, left, written: Vec::new(), packet: Vec::new(), packet_sent: 0 }
    }

    /// Reads the header of the next packet.
    fn poll_header(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.header_read < HEADER {
            let mut buffer = ReadBuf::new(&mut self.header[self.header_read..]);
            ready!(Pin::new(&mut self.tcp).poll_read(context, &mut buffer))?;
            let read = buffer.filled().len();
            if read == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            self.header_read += read;
        }
        let length = usize::from(u16::from_be_bytes([self.header[2], self.header[3]]));
        if self.header[0] != kind::PRELOGIN || length < HEADER {
            return Poll::Ready(Err(io::Error::other("the TLS handshake is not inside PRELOGIN packets")));
        }
        self.header_read = 0;
        self.left = length - HEADER;
        Poll::Ready(Ok(()))
    }

    /// Sends what was written as one packet.
    fn poll_packet(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            while self.packet_sent < self.packet.len() {
                let sent = ready!(Pin::new(&mut self.tcp).poll_write(context, &self.packet[self.packet_sent..]))?;
                self.packet_sent += sent;
            }
            self.packet.clear();
            self.packet_sent = 0;
            if self.written.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let length = u16::try_from(self.written.len() + HEADER).map_err(io::Error::other)?.to_be_bytes();
            self.packet.extend([kind::PRELOGIN, 1, length[0], length[1], 0, 0, 0, 0]);
            self.packet.append(&mut self.written);
        }
    }
}

impl AsyncRead for Wrapping {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.handshake {
            return Pin::new(&mut this.tcp).poll_read(context, out);
        }
        while this.left == 0 {
            ready!(this.poll_header(context))?;
        }
        let mut part = out.take(this.left);
        ready!(Pin::new(&mut this.tcp).poll_read(context, &mut part))?;
        let read = part.filled().len();
        out.advance(read);
        this.left -= read;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wrapping {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !this.handshake {
            return Pin::new(&mut this.tcp).poll_write(context, bytes);
        }
        this.written.extend(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_packet(context))?;
        Pin::new(&mut this.tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, out),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_read(context, out),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}
