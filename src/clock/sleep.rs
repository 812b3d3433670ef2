/// x
pub struct Clock;
/// x
pub struct Sleep;
/// x
pub fn advance() {}
