//! One connection from PRELOGIN to its end ([MS-TDS] 3.3.5).

use super::backend::{Login, Session, SqlError};
use super::login::LoginRecord;
use super::packet::{Message, Packets, kind, read_message};
use super::prelogin::{Encrypted, PreLogin};
use super::response::{End, Responder};
use super::rpc::{Body, Request};
use super::server::{Shared, TlsMode};
use super::tls::Transport;
use super::token::{self, Done, Environment, status};
use super::transaction::Transaction;
use crate::Result;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncWriteExt, ReadHalf, split};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::block_in_place;

/// Data in one packet before the login agrees on a size ([MS-TDS] 2.2.3.1.4).
const FIRST_PACKET_SIZE: u32 = 4096;

/// The bounds that the protocol sets on packet sizes ([MS-TDS] 2.2.6.4).
const PACKET_SIZES: (u32, u32) = (512, 32_767);

/// The oldest version spoken here, 7.3.B: the first with NBCROW.
const OLDEST: u32 = 0x730B_0003;

/// Requests read ahead: one, and an attention behind it.
const AHEAD: usize = 4;

/// What the reading half of a connection passes on.
pub(crate) type Incoming = std::result::Result<Message, String>;

/// Serves one connection to its end.
pub(crate) async fn serve(tcp: TcpStream, shared: &Arc<Shared>) -> Result<()> {
    tcp.set_nodelay(true)?;
    let mode = shared.options.tls;
    let mut transport = match &shared.certificates {
        Some(certificates) if mode == TlsMode::Strict => certificates.accept_strict(tcp).await?,
        _ => Transport::Plain(tcp),
    };
    let Some(message) = read_message(&mut transport).await? else { return Ok(()) };
    expect(&message, kind::PRELOGIN)?;
    let wishes = PreLogin::parse(&message.data)?;
    let (encryption, encrypted) = wishes.agree(mode);
    let answer = wishes.answer(shared.options.version, encryption, shared.options.instance.as_deref());
    // This answer is one packet always; FreeTDS for one reads no other.
    send(&mut transport, payload(None, FIRST_PACKET_SIZE), answer).await?;
    match (encrypted, transport, &shared.certificates) {
        (Encrypted::Refused, ..) => return Ok(()),
        (Encrypted::Login | Encrypted::Everything, Transport::Plain(tcp), Some(certificates)) => {
            transport = certificates.accept_wrapped(tcp).await?;
        }
        (_, kept, _) => transport = kept,
    }
    let Some(message) = read_message(&mut transport).await? else { return Ok(()) };
    expect(&message, kind::LOGIN7)?;
    if encrypted == Encrypted::Login {
        transport = transport.into_plain();
    }
    let record = LoginRecord::parse(&message.data)?;
    let first = payload(shared.options.split_every, FIRST_PACKET_SIZE);
    shared.note_login(&record.login);
    match log_in(&record, shared) {
        Err(error) => {
            let mut data = Vec::new();
            token::put_error(&mut data, &error)?;
            token::put_done(&mut data, Done::Batch, status::ERROR, None);
            send(&mut transport, first, data).await?;
            transport.shutdown().await?;
            Ok(())
        }
        Ok(session) => {
            let size = packet_size(&record, shared);
            let data = login_response(&record, shared, size)?;
            send(&mut transport, first, data).await?;
            run(transport, session, shared, size).await
        }
    }
}

fn expect(message: &Message, kind: u8) -> Result<()> {
    if message.kind == kind {
        Ok(())
    } else {
        Err(format!("a message of type {} where one of type {kind} belongs", message.kind).into())
    }
}

/// Sends a whole response of little data, at most `limit` bytes of it in one packet.
async fn send(transport: &mut Transport, limit: usize, data: Vec<u8>) -> Result<()> {
    let mut packets = Packets::new(limit);
    packets.data = data;
    packets.finish();
    transport.write_all(&packets.ready).await?;
    transport.flush().await?;
    Ok(())
}

/// The most data in one packet of `size` bytes.
fn payload(split_every: Option<usize>, size: u32) -> usize {
    let agreed = usize::try_from(size).unwrap_or(usize::MAX) - super::packet::HEADER;
    split_every.map_or(agreed, |split| split.min(agreed))
}

fn packet_size(record: &LoginRecord, shared: &Shared) -> u32 {
    let wanted = if record.packet_size == 0 { FIRST_PACKET_SIZE } else { record.packet_size };
    shared.options.packet_size.map_or(wanted, u32::from).clamp(PACKET_SIZES.0, PACKET_SIZES.1)
}

fn log_in(record: &LoginRecord, shared: &Shared) -> std::result::Result<Box<dyn Session>, SqlError> {
    let refusal = |message: &str| SqlError { number: 18456, state: 1, class: 14, message: message.into(), line: 1 };
    if record.tds_version < OLDEST && record.tds_version >> 24 != 0x08 {
        return Err(refusal("the client's TDS version is too old"));
    }
    if record.integrated {
        return Err(refusal("Login failed. Integrated security is not offered here."));
    }
    shared.backend.login(&record.login)
}

/// The tokens of a login that succeeded.
fn login_response(record: &LoginRecord, shared: &Shared, size: u32) -> Result<Vec<u8>> {
    let Login { database, .. } = &record.login;
    let database = if database.is_empty() { "master" } else { database };
    let mut data = Vec::new();
    token::put_environment(&mut data, Environment::Database(database))?;
    token::put_info(&mut data, 5701, &format!("Changed database context to '{database}'."))?;
    token::put_environment(&mut data, Environment::Collation(shared.options.collation))?;
    token::put_environment(&mut data, Environment::Language("us_english"))?;
    token::put_info(&mut data, 5703, "Changed language setting to us_english.")?;
    token::put_login_ack(&mut data, record.tds_version, shared.options.version)?;
    token::put_environment(&mut data, Environment::PacketSize(size, FIRST_PACKET_SIZE))?;
    if let Some((host, port)) = &shared.options.route {
        token::put_environment(&mut data, Environment::Routing(host, *port))?;
    }
    token::put_feature_ack(&mut data, &record.features);
    token::put_done(&mut data, Done::Batch, 0, None);
    Ok(data)
}

/// Reads requests ahead, so that an attention is seen while a response is on its way.
async fn read_ahead(mut input: ReadHalf<Transport>, out: mpsc::Sender<Incoming>) {
    loop {
        let next = match read_message(&mut input).await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => return,
            Err(error) => Err(error.to_string()),
        };
        let last = next.is_err();
        if out.send(next).await.is_err() || last {
            return;
        }
    }
}

/// Answers requests until the client leaves.
async fn run(transport: Transport, mut session: Box<dyn Session>, shared: &Arc<Shared>, size: u32) -> Result<()> {
    let (input, output) = split(transport);
    let (sender, incoming) = mpsc::channel(AHEAD);
    let reading = tokio::spawn(read_ahead(input, sender));
    let mut responder = Responder::new(output, incoming, shared, payload(shared.options.split_every, size));
    let ended = answer_all(&mut responder, session.as_mut(), shared).await;
    reading.abort();
    responder.close().await;
    ended
}

async fn answer_all(responder: &mut Responder<'_>, session: &mut dyn Session, shared: &Shared) -> Result<()> {
    let mut transaction = Transaction::default();
    while let Some(message) = responder.next().await {
        // Losing a client between requests is its right.
        let Ok(message) = message else { return Ok(()) };
        let end = if message.kind == kind::ATTENTION {
            End::Attention
        } else {
            match Request::parse(&message) {
                Ok(request) => {
                    shared.running.fetch_add(1, Ordering::SeqCst);
                    let end = answer(responder, session, shared, &request, &mut transaction).await;
                    shared.running.fetch_sub(1, Ordering::SeqCst);
                    end?
                }
                Err(error) => {
                    shared.note_failure(error.to_string());
                    responder
                        .refuse(&SqlError {
                            number: 4002,
                            state: 1,
                            class: 20,
                            message: format!(
                                "The incoming tabular data stream (TDS) protocol stream is incorrect: {error}"
                            ),
                            line: 1,
                        })
                        .await?;
                    return Ok(());
                }
            }
        };
        match end {
            End::Sent => {}
            End::Attention => {
                shared.attentions.fetch_add(1, Ordering::SeqCst);
                session.attention();
                responder.acknowledge().await?;
            }
            End::Closed => return Ok(()),
        }
    }
    Ok(())
}

/// Answers one request.
async fn answer(
    responder: &mut Responder<'_>,
    session: &mut dyn Session,
    shared: &Shared,
    request: &Request,
    transaction: &mut Transaction,
) -> Result<End> {
    let none = Vec::new();
    let (sql, params, call) = match &request.body {
        Body::Batch(sql) => (sql.as_str(), &none, false),
        Body::Execute { sql, params } => (sql.as_str(), params, true),
        Body::Transaction(sql) => (*sql, &none, false),
        Body::Procedure(name) => {
            let message = format!("Could not find stored procedure '{name}'.");
            return responder.refuse(&SqlError { number: 2812, state: 62, class: 16, message, line: 1 }).await;
        }
    };
    let faults = shared.note_query(sql);
    if request.transaction != transaction.id() {
        let message = "New request is not allowed to start because it should come with valid transaction descriptor.";
        return responder
            .refuse(&SqlError { number: 3989, state: 1, class: 16, message: message.into(), line: 1 })
            .await;
    }
    match block_in_place(|| session.execute(sql, params)) {
        Err(error) => responder.refuse(&error).await,
        Ok(replies) => {
            let changes = transaction.apply(sql, || shared.transactions.fetch_add(1, Ordering::SeqCst));
            responder.respond(replies, &changes, &faults, call).await
        }
    }
}
