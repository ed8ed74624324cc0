//! Clients that share no code with tiberius.
