//! The `tieout` command: sets up the process and hands over to [`tieout::cli`].

use clap::Parser;
use std::process::ExitCode;
use tieout::cli::{self, Cli, Exit};

fn main() -> ExitCode {
    // An error here means that a provider is installed already, which is all that is wanted.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed output changes no exit code.
            let _ = error.print();
            return if error.use_stderr() { Exit::Error.into() } else { Exit::Equal.into() };
        }
    };
    cli::start_logging(&cli);
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(cli::run(cli)).into(),
        Err(error) => cli::cannot_start(error).into(),
    }
}
