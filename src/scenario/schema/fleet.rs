//! `[fleet]` and its classes: the devices that clients compute on.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Key, Table, choice, key};

pub(super) const TABLES: &[Table] = &[
    Table::header("fleet", "the devices that clients compute on", FLEET),
    Table::list("fleet.class", "what the devices of a class are like", CLASS)
        .listed("properties of devices")
        .exactly_one(&[&[&["step_time"], &["speed"]]]),
    Table::braces("fleet.class.trace", "recordings of devices, and how they are replayed", TRACE),
    Table::braces("fleet.class.links", "links as recorded, whatever else the file tells", LINKS),
    Table::braces("fleet.class.availability", "when a device can take part", AVAILABILITY)
        .exactly_one(&[&[&["on", "off"], &["trace", "repeat", "shift", "assign", "devices"]]]),
    Table::braces("fleet.class.slowdown", "episodes in which a device is slower", SLOWDOWN),
    Table::braces("fleet.class.thermal", "what continuous work does to the speed", THERMAL),
];

const FLEET: &[Key] = &[
    key(
        "assign",
        "",
        Toml("\"random\""),
        "how classes are given to clients; either way the counts follow the shares",
    )
    .choices(&[
        choice("\"random\"", "at random"),
        choice("\"in-order\"", "the first class to the first clients, and so on"),
    ]),
    key("class", "`[[fleet.class]]`, 1 to 10,000", Required, "the classes of devices"),
    key(
        "server_uplink",
        "rate, at least 1 bps",
        Words("no limit"),
        "the server's way out: all downloads of clients share it",
    ),
    key(
        "server_downlink",
        "rate, at least 1 bps",
        Words("no limit"),
        "the server's way in: all uploads of clients share it",
    ),
];

const CLASS: &[Key] = &[
    key("name", "letters, digits, `-`, `_`; up to 64", Required, "shown in tables and files"),
    key(
        "share",
        "above 0, up to 1",
        Words("equal"),
        "part of the fleet; given for all classes or for none, summing to 1",
    ),
    key(
        "step_time",
        "DIST of durations",
        Words("required, or `speed`"),
        "time of one local step, drawn once per client",
    )
    .dist(),
    key(
        "speed",
        "DIST of speeds",
        Nothing,
        "instead of `step_time`: a local step takes the model's floating-point work over this, \
         drawn once per client",
    )
    .dist(),
    key(
        "trace",
        "a file, or `{ file = \"…\", … }`",
        Words("none"),
        "recordings of devices that are replayed",
    ),
    key(
        "jitter",
        "0 to 2",
        Toml("0"),
        "relative standard deviation of a step; every step is drawn anew, lognormal with the step \
         time as its mean",
    ),
    key("uplink", "DIST of rates", Words("no limit"), "from client to server").dist(),
    key("downlink", "DIST of rates", Words("no limit"), "from server to client").dist(),
    key(
        "links",
        "`{ trace = \"wifi.csv\", … }`",
        Words("as the trace says, or `uplink` and `downlink`"),
        "recordings of links that are replayed",
    ),
    key("latency", "DIST of durations", Toml("\"0s\""), "before the first bit arrives, each way")
        .dist(),
    key(
        "dropout",
        "0 to 1",
        Toml("0"),
        "chance to vanish during a round, at a uniformly drawn moment of the client's round",
    ),
    key(
        "availability",
        "",
        Words("as the trace says, or `\"always\"`"),
        "when a device can take part",
    )
    .choices(&[
        choice("\"always\"", "at any time"),
        choice("{ on = \"20m\", off = \"40m\" }", "there and away in turn, each a DIST"),
        choice("{ trace = \"nights.csv\" }", "as recorded in a trace"),
    ])
    .listed("availability of devices"),
    key(
        "slowdown",
        "`{ factor = 4.0, every = DIST, lasting = DIST }`",
        Words("none"),
        "episodes in which a device is slower",
    ),
    key(
        "thermal",
        "`{ curve = [[\"2m\", 0.7]], cooling = 1.0 }`",
        Words("none"),
        "what continuous work does to the speed",
    ),
    of_client("lr"),
    of_client("momentum"),
    of_client("prox"),
    of_client("lr_decay"),
    of_client("weight_decay"),
];

const fn of_client(name: &'static str) -> Key {
    key(
        name,
        "as in `[client]`",
        Words("`[client]`'s"),
        "the local law of these devices; `lr_schedule` applies to theirs too",
    )
}

const TRACE: &[Key] = &[
    key("file", "a file", Required, "the trace"),
    key(
        "repeat",
        "`true`, `false`, duration of at least 1 ms",
        Toml("false"),
        "what happens at the end of a recording: it begins again; its last values hold for good; or \
         it begins again so often, such as `\"24h\"`",
    ),
    key("shift", "", Toml("\"none\""), "where the run begins in a recording").choices(&[
        choice("\"none\"", "at its beginning"),
        choice("\"random\"", "for each client at a moment drawn from all of it"),
    ]),
    key(
        "assign",
        "",
        Toml("\"in-order\""),
        "which recording a client gets; begun again when there are more clients than recordings",
    )
    .choices(&[
        choice("\"in-order\"", "in the order of the file"),
        choice("\"random\"", "in a random order"),
    ]),
    key("devices", "text", Words("all"), "only recordings of devices whose name begins with this"),
];

const LINKS: &[Key] = &[
    key(
        "trace",
        "a file",
        Required,
        "links are as recorded in the columns `up` and `down`, whatever else the file tells",
    ),
    of_trace("repeat"),
    of_trace("shift"),
    of_trace("assign"),
    of_trace("devices"),
];

const AVAILABILITY: &[Key] = &[
    of_period("on"),
    of_period("off"),
    key(
        "trace",
        "a file",
        Nothing,
        "comes and goes as recorded in the column `available`, whatever else the file tells",
    ),
    of_trace("repeat"),
    of_trace("shift"),
    of_trace("assign"),
    of_trace("devices"),
];

const fn of_period(name: &'static str) -> Key {
    key(
        name,
        "DIST of durations, at least 1 ms",
        Words("required both, or `trace`"),
        "how long a device is there and away, in turn, each drawn anew; the run begins at a random \
         moment of that",
    )
    .dist()
}

const fn of_trace(name: &'static str) -> Key {
    key(
        name,
        "as in the table `trace` of the class",
        Words("as there"),
        "beside `trace`: how that file is replayed",
    )
}

const SLOWDOWN: &[Key] = &[
    key(
        "factor",
        "above 0, up to 1 billion",
        Required,
        "a step takes this many times as long; below 1 the device is faster",
    ),
    key(
        "every",
        "DIST of durations, at least 1 ms",
        Required,
        "from the end of one episode to the next",
    )
    .dist(),
    key("lasting", "DIST of durations, at least 1 ms", Required, "how long one lasts").dist(),
];

const THERMAL: &[Key] = &[
    key(
        "curve",
        "list of `[\"2m\", 0.7]`: duration, above 0 up to 1",
        Required,
        "after so much continuous work the speed is this part of the full one, until the next \
         entry; times grow from entry to entry, and before the first the speed is full",
    ),
    key(
        "cooling",
        "number, 0 or more",
        Toml("1.0"),
        "every second of rest takes back so many of work; 0: it never cools",
    ),
];
