//! Gruppetto, a straggler-aware federated-learning simulator.
pub mod actors;
pub mod aggregate;
pub mod client;
pub mod clock;
pub mod data;
pub mod device;
pub mod matrix;
pub mod metric;
pub mod policy;
pub mod random;
pub mod record;
pub mod report;
pub mod scenario;
pub mod server;
pub mod solver;
pub mod theory;
pub mod train;
