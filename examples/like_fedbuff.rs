//! The built-in buffer of FedBuff, written as a user would: the same results to the bit.

use gruppetto::clock::TimeOverflow;
use gruppetto::policy::{Character, Closing, Opened, RoundOpened, UpdateArrived, Verdict};
use gruppetto::{Options, Plugins, Scenario, run};

/// Aggregates whenever so many updates have arrived, from whichever version of the model (Nguyen et
/// al., *Federated Learning with Buffered Asynchronous Aggregation*, AISTATS 2022).
struct FedBuff {
    size: usize,
    arrived: usize,
}

impl Closing for FedBuff {
    fn character(&self) -> Character {
        Character::ONE_BY_ONE
    }

    fn opened(&mut self, _: &RoundOpened) -> Result<Opened, TimeOverflow> {
        self.arrived = 0;
        Ok(Opened::default())
    }

    fn arrived(&mut self, _: &UpdateArrived) -> Verdict {
        self.arrived += 1;
        if self.arrived == self.size { Verdict::COUNT_AND_CLOSE } else { Verdict::COUNT }
    }
}

/// Registers it as "fedbuff".
pub fn plugins() -> Plugins {
    Plugins::new().closing("fedbuff", |parameters, _| {
        Ok(Box::new(FedBuff { size: parameters.require("size")?, arrived: 0 }))
    })
}

const SCENARIO: &str = r#"
name = "like-fedbuff"
stop.rounds = 60
client.work = { epochs = 1 }
server = { concurrency = 12, staleness = { polynomial = 0.5 }, weighting = "fedavg" }
fleet.class = [{ name = "phone", step_time = { lognormal = { median = "80ms", sigma = 0.9 } } }]
variant = [
    { name = "built-in", set = { server.close = { buffer = 5 } } },
    { name = "own", set = { server.close = { plugin = "fedbuff", size = 5 } } },
]
"#;

/// Runs both and compares their digests.
pub fn main() {
    let scenario = Scenario::parse_with("like-fedbuff.toml", SCENARIO, &[], None, &plugins());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins()).unwrap();
    let digests: Vec<&String> = summary.variants.iter().map(|variant| &variant.digest).collect();
    println!("{digests:?}");
    assert_eq!(digests[0], digests[1]);
}
