//! Gruppetto, a straggler-aware federated-learning simulator.
pub mod aggregate;
pub mod clock;
pub mod data;
pub mod device;
pub mod metric;
pub mod policy;
pub mod random;
pub mod scenario;
pub mod units;
