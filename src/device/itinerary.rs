/// x
pub struct Itinerary {}
/// x
pub struct Pace {}
/// x
pub struct Trip {}
