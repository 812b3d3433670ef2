//! Broken scenarios, and the message each must give.
//!
//! The place of the caret is marked in the text itself: `«lr» = 1` expects it under `lr`.

use gruppetto::scenario::Scenario;

/// What every case is wrapped in.
#[derive(Clone, Copy)]
enum Wrap {
    /// Nothing: the case is a whole file.
    Bare,
    /// A name, a stop and devices, so that only the case itself is wrong.
    Whole,
}
use Wrap::{Bare, Whole};

const HEAD: &str = "name = \"t\"\nstop.rounds = 5\n";
const TAIL: &str = "\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1ms\"\n";

/// Wrapping, text with the caret's place, first line of the message, pieces of the rest.
type Case = (Wrap, &'static str, &'static str, &'static [&'static str]);

const TOP_LEVEL: &[Case] = &[
    (
        Bare,
        "«»",
        "missing key `name` at the top level",
        &["expected `name = …`"],
    ),
    (
        Bare,
        "«seed» = 1\n",
        "missing key `name` at the top level",
        &[],
    ),
    (
        Bare,
        "«name» = \"x\"\n[task]\n",
        "nothing ends the run: there is no [stop]",
        &["rounds, time, target"],
    ),
    (
        Bare,
        "name = \"x\"\n«[stop]»\n",
        "nothing ends the run: [stop] is empty",
        &["rounds, time, target"],
    ),
    (
        Bare,
        "name = «\"a b\"»\nstop.rounds = 1",
        "\"a b\" cannot be the name of a scenario",
        &["letters, digits"],
    ),
    (
        Bare,
        "name = «\"\"»\nstop.rounds = 1",
        "\"\" cannot be the name of a scenario",
        &["1 to 64"],
    ),
    (
        Bare,
        "name = «\"../x\"»\n",
        "\"../x\" cannot be the name of a scenario",
        &[],
    ),
    (
        Bare,
        "name = «\"a\\u001b[2J\"»\n",
        "\"a�[2J\" cannot be the name of a scenario",
        &[],
    ),
    (
        Bare,
        "name = \"x«»\n",
        "invalid TOML: invalid basic string",
        &["expected `\"`"],
    ),
    (
        Bare,
        "name = «5»\n",
        "expected a string, found the number 5",
        &["text in quotes"],
    ),
    (
        Whole,
        "description = «\"a\\u0000b\"»",
        "`description` has control characters",
        &["plain text"],
    ),
    (
        Whole,
        "seed = «-1»",
        "`seed` cannot be -1",
        &["a whole number, 0 or more"],
    ),
    (
        Whole,
        "seed = «1.5»",
        "expected a whole number, found the number 1.5",
        &[],
    ),
    (
        Whole,
        "seed = «\"7\"»",
        "expected a whole number, found the string \"7\"",
        &["help: remove the quotes"],
    ),
    (
        Whole,
        "repeats = «0»",
        "`repeats` cannot be 0",
        &["from 1 to 1000"],
    ),
    (
        Whole,
        "repeats = «1001»",
        "`repeats` cannot be 1001",
        &["from 1 to 1000"],
    ),
    (
        Whole,
        "[«sever»]\n",
        "unknown key `sever` at the top level",
        &["did you mean `server`?"],
    ),
    (
        Whole,
        "«weighting» = \"fedavg\"",
        "unknown key `weighting` at the top level",
        &["did you mean `server.weighting`?"],
    ),
    (
        Whole,
        "[[«event»]]\nat = \"10m\"\n",
        "`event` at the top level is not yet supported",
        &["one of: name,"],
    ),
    (
        Whole,
        "server = «3»",
        "expected a table, found the number 3",
        &["[server]"],
    ),
    (
        Whole,
        "[[«server»]]\n",
        "expected a table, found an array",
        &["[server]"],
    ),
    (
        Whole,
        "[record]\n«timeline» = \"off\"",
        "`timeline` in [record] is not yet supported",
        &["one of: clients"],
    ),
    (
        Whole,
        "[record]\nclients = «\"some\"»",
        "unknown choice of clients \"some\"",
        &["\"all\", \"off\"", "{ clients = 1000 }"],
    ),
    (
        Whole,
        "record.clients = { clients = «0» }",
        "`clients` cannot be 0",
        &["1 or more"],
    ),
];

const STOP: &[Case] = &[
    (
        Bare,
        "name = \"x\"\nstop.rounds = «0»",
        "`rounds` cannot be 0",
        &["1 or more"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.«round» = 9",
        "unknown key `round` in [stop]",
        &["did you mean `rounds`?"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «90»",
        "90 has no unit",
        &["write `\"90s\"`", "ns us ms s m h d"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «\"90\"»",
        "`90` has no unit",
        &["write `\"90s\"`"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «\"0s\"»",
        "`time` cannot be zero",
        &["more than 0s"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «\"-6h\"»",
        "`-6h` is negative",
        &["a duration such as"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «\"600000d\"»",
        "`600000d` is too large: the clock ends after 584 years",
        &[],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «\"6 hours\"»",
        "unknown unit `hours`",
        &["did you mean `h`?"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.time = «2026-01-01»",
        "expected a number with a unit, found a date or time of day",
        &[],
    ),
    (
        Bare,
        "name = \"x\"\nstop.target = { metric = «\"distance\"», at_most = 1 }",
        "unknown metric \"distance\"",
        &["\"train_loss\", \"grad_norm\", \"test_accuracy\", \"test_loss\""],
    ),
    (
        Bare,
        "name = \"x\"\ntask.kind = \"quadratic\"\nstop.target = { metric = «\"test_loss\"», at_most = 1 }",
        "unknown metric \"test_loss\"",
        &["\"train_loss\", \"grad_norm\", \"distance\""],
    ),
    (
        Bare,
        "name = \"x\"\nstop.target = { metric = \"train_loss\", at_most = 1, «at_least» = 0 }",
        "`at_most` and `at_least` exclude each other in `stop.target`",
        &["exactly one of: at_least, at_most"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.target = «{ metric = \"train_loss\" }»",
        "nothing is chosen in `stop.target`",
        &["at_least"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.target = «{ at_most = 1 }»",
        "missing key `metric` in `stop.target`",
        &[],
    ),
    (
        Bare,
        "name = \"x\"\nstop.target = { metric = \"train_loss\", at_most = «nan» }",
        "NaN is not a usable number",
        &["finite"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.target = { metric = \"train_loss\", at_most = «-inf» }",
        "-inf is not a usable number",
        &["finite"],
    ),
];

const TASK: &[Case] = &[
    (
        Whole,
        "[task]\nkind = «\"images\"»",
        "kind \"images\" is not yet supported",
        &["\"quadratic\", \"synthetic\""],
    ),
    (
        Whole,
        "[task]\nkind = «\"table\"»",
        "kind \"table\" is not yet supported",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = «\"quadratc\"»",
        "unknown kind \"quadratc\"",
        &["did you mean `quadratic`?"],
    ),
    (
        Whole,
        "[task]\nclients = «0»",
        "`clients` cannot be 0",
        &["from 1 to 100000000"],
    ),
    (
        Whole,
        "[task]\nclients = «100000001»",
        "`clients` cannot be 100000001",
        &[],
    ),
    (
        Whole,
        "[task]\nclients = «\"many\"»",
        "expected a whole number, found the string \"many\"",
        &[],
    ),
    (
        Whole,
        "[task]\nalpha = «-0.5»",
        "`alpha` cannot be -0.5",
        &["0 or more"],
    ),
    (
        Whole,
        "[task]\nalpha = «\"1s\"»",
        "expected a number, found the string \"1s\"",
        &["without a unit"],
    ),
    (
        Whole,
        "[task]\nclasses = «1»",
        "`classes` cannot be 1",
        &["from 2"],
    ),
    (
        Whole,
        "[task]\nfeatures = 1000000\nclasses = «1000000»",
        "the model has too many parameters",
        &["1000000000"],
    ),
    (
        Whole,
        "[task]\nsize = «{ normal = { mean = 50, std = 10 } }»",
        "`size` can fall below 2 samples",
        &["add `min`"],
    ),
    (
        Whole,
        "[task]\nsize = «1»",
        "`size` can fall below 2 samples",
        &[],
    ),
    (
        Whole,
        "[task]\nsize = «1e18»",
        "`size` is too large",
        &["100 million"],
    ),
    (
        Whole,
        "[task]\nmodel = «\"cnn\"»",
        "model \"cnn\" is not yet supported",
        &["\"softmax\""],
    ),
    (
        Whole,
        "[task]\nmodel = «{ torchscript = \"n.pt\" }»",
        "a TorchScript model is not yet supported",
        &[],
    ),
    (
        Whole,
        "[task.«partition»]\nscheme = \"iid\"",
        "`partition` in [task] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[task]\n«dim» = 3",
        "`dim` has no meaning with kind = \"synthetic\"",
        &["only: kind, clients"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\n«alpha» = 1",
        "`alpha` has no meaning with kind = \"quadratic\"",
        &["only: kind, clients, init, dim"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\n«model» = \"softmax\"",
        "`model` has no meaning with kind = \"quadratic\"",
        &[],
    ),
    (
        Whole,
        "[task]\ninit = «\"ones\"»",
        "unknown starting point \"ones\"",
        &["\"zeros\"", "{ normal = 0.1 }"],
    ),
    (
        Whole,
        "[task]\ninit = { normal = «0» }",
        "`normal` cannot be 0",
        &["above 0"],
    ),
    (
        Whole,
        "[task]\ninit = { file = «\"absent.safetensors\"» }",
        "the file does not exist",
        &["folder of the scenario"],
    ),
    (
        Whole,
        "[task]\ninit = { normal = 1, «file» = \"x\" }",
        "`normal` and `file` exclude each other in `task.init`",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\ndim = «0»",
        "`dim` cannot be 0",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\ncenters = «[[1, 2], [3, 4]]»",
        "`centers` has 2 entries for 30 clients",
        &["one vector per client: 30", "`clients = 2`"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 2\ncenters = [[1, 2],\n «[3]»]",
        "`centers[1]` has 1 entries, not dim = 2",
        &["2 numbers"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ndim = 3\ncenters = [«[1, 2]»]",
        "`centers[0]` has 2 entries, not dim = 3",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ncenters = [[1, «true»]]",
        "expected a number, found `true`",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\ncurvature = [«[1, 0]»]",
        "the diagonal `curvature[0]` has an entry that is not positive",
        &["above 0"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\ncurvature = [«[[1, 2], [3, 4]]»]",
        "the matrix `curvature[0]` is not symmetric: row 1, column 0",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\ncurvature = [«[[1, 2], [2, 1]]»]",
        "the matrix `curvature[0]` is not positive definite",
        &["eigenvalues above 0"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\ncurvature = [[[1, 0], «[0]»]]",
        "`curvature[0][1]` has 1 entries, not dim = 2",
        &[],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\ncurvature = [«[[1, 0]]»]",
        "the matrix `curvature[0]` has 1 rows, not dim = 2",
        &["2 rows of 2 numbers"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\ncurvature = «\"identiti\"»",
        "unknown curvature \"identiti\"",
        &["did you mean `identity`?"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 2\nweights = «[0.5, 0.6]»",
        "`weights` sum to 1.100000, not to 1",
        &["a sum of 1"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\nclients = 2\nweights = [1, «0»]",
        "`weights` cannot be 0",
        &["above 0"],
    ),
    (
        Whole,
        "[task]\nkind = \"quadratic\"\ngradient_noise = «-1»",
        "`gradient_noise` cannot be -1",
        &[],
    ),
];

const CLIENT: &[Case] = &[
    (
        Whole,
        "[client]\nlr = «0»",
        "`lr` cannot be 0",
        &["above 0"],
    ),
    (
        Whole,
        "[client]\nlr = «inf»",
        "inf is not a usable number",
        &["finite"],
    ),
    (
        Whole,
        "[client]\nlr = «\"0.02\"»",
        "expected a number, found the string \"0.02\"",
        &["remove the quotes"],
    ),
    (
        Whole,
        "[client]\nbatch = «0»",
        "`batch` cannot be 0",
        &["\"full\""],
    ),
    (
        Whole,
        "[client]\nbatch = «\"ful\"»",
        "expected a whole number, found the string \"ful\"",
        &["\"full\""],
    ),
    (
        Whole,
        "[client]\n«momentum» = 0.9",
        "`momentum` in [client] is not yet supported",
        &["one of: batch, lr, work"],
    ),
    (
        Whole,
        "[client]\n«prox» = 0.1",
        "`prox` in [client] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[client]\n«variance_reduction» = \"none\"",
        "`variance_reduction` in [client] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[client]\n«learning_rate» = 0.1",
        "unknown key `learning_rate` in [client]",
        &["did you mean `client.lr`?"],
    ),
    (
        Whole,
        "[client]\n«epochs» = 5",
        "unknown key `epochs` in [client]",
        &["did you mean `client.work.epochs`?"],
    ),
    (
        Whole,
        "[client]\nwork = «{}»",
        "nothing is chosen in `client.work`",
        &["until, epochs, steps"],
    ),
    (
        Whole,
        "[client]\nwork = «5»",
        "expected a table, found the number 5",
        &["{ … }"],
    ),
    (
        Whole,
        "[client]\nwork = { steps = 5, «epochs» = 2 }",
        "`steps` and `epochs` exclude each other in `client.work`",
        &[],
    ),
    (
        Whole,
        "[client]\nwork = { steps = «[1, 2]» }",
        "`steps` has 2 entries for 30 clients",
        &["one number per client: 30"],
    ),
    (
        Whole,
        "[client]\nwork = { steps = «0» }",
        "`steps` cannot be 0",
        &["1 to 1 billion"],
    ),
    (
        Whole,
        "[client]\nwork = { steps = «2.5» }",
        "`steps` cannot be 2.5",
        &["whole number"],
    ),
    (
        Whole,
        "[client]\nwork = { epochs = «-1» }",
        "`epochs` cannot be -1",
        &["above 0"],
    ),
    (
        Whole,
        "[client]\nwork = { epochs = «{ uniform = [-3, -1] }» }",
        "the usual draw of `epochs` is not above 0",
        &[],
    ),
    (
        Whole,
        "[client]\nwork = { steps = 5, redraw = «\"twice\"» }",
        "unknown redraw \"twice\"",
        &["\"round\", \"once\""],
    ),
    (
        Whole,
        "task.clients = 1\n[client]\nwork = { steps = [5], «redraw» = \"once\" }",
        "`redraw` has no meaning with this work",
        &["only: steps"],
    ),
    (
        Whole,
        "[client]\nwork = { until = «\"dawn\"» }",
        "unknown end of work \"dawn\"",
        &["\"deadline\""],
    ),
    (
        Whole,
        "task.kind = \"quadratic\"\nclient.batch = «20»",
        "a quadratic task has no samples to batch",
        &["gradient_noise"],
    ),
    (
        Whole,
        "task.kind = \"quadratic\"\nclient.work = { epochs = «2» }",
        "a quadratic task has no samples to pass over",
        &["{ steps = … }"],
    ),
];

const SERVER: &[Case] = &[
    (
        Whole,
        "[server]\n«weigting» = \"fedavg\"",
        "unknown key `weigting` in [server]",
        &[
            "close, late, partial, weighting",
            "did you mean `weighting`?",
        ],
    ),
    (
        Whole,
        "[server]\nweighting = «\"fedavgg\"»",
        "unknown weighting \"fedavgg\"",
        &["\"fednova\", \"fedavg\"", "did you mean `fedavg`?"],
    ),
    (
        Whole,
        "[server]\nweighting = «\"uniform\"»",
        "weighting \"uniform\" is not yet supported",
        &["\"fednova\", \"fedavg\""],
    ),
    (
        Whole,
        "[server]\n«deadline» = \"3s\"",
        "unknown key `deadline` in [server]",
        &["did you mean `server.close.deadline`?"],
    ),
    (
        Whole,
        "[server]\nclose = { deadline = «30» }",
        "30 has no unit",
        &["write `\"30s\"`"],
    ),
    (
        Whole,
        "[server]\nclose = { deadline = «\"0s\"» }",
        "a deadline of zero lets nobody finish",
        &[],
    ),
    (
        Whole,
        "[server]\nclose = { deadline = «\"30 Mbps\"» }",
        "unknown unit `Mbps`",
        &["a duration such as"],
    ),
    (
        Whole,
        "[server]\nclose = { deadline = «\"1.5ns\"» }",
        "`1.5ns` is finer than a nanosecond, the smallest step of the clock",
        &[],
    ),
    (
        Whole,
        "[server]\nclose = «\"each\"»",
        "close \"each\" is not yet supported",
        &["\"all\"", "{ deadline = \"30s\" }"],
    ),
    (
        Whole,
        "[server]\nclose = { «buffer» = 10 }",
        "`buffer` in `server.close` is not yet supported",
        &["deadline, first, of"],
    ),
    (
        Whole,
        "[server]\nclose = { «window» = \"1s\" }",
        "`window` in `server.close` is not yet supported",
        &[],
    ),
    (
        Whole,
        "[server]\nclose = «{ first = 3 }»",
        "missing key `of` in `server.close`",
        &["how many clients are asked"],
    ),
    (
        Whole,
        "[server]\nclose = { first = «6», of = 5 }",
        "`first` cannot be 6",
        &["from 1 to 5"],
    ),
    (
        Whole,
        "[server]\nclose = { first = 6, of = «31» }",
        "`of` cannot be 31",
        &["from 1 to 30", "the task has 30 clients"],
    ),
    (
        Whole,
        "[server]\nclose = { deadline = \"1s\", «of» = 3 }",
        "`of` has no meaning with this close",
        &["only: deadline"],
    ),
    (
        Whole,
        "[server]\nlate = «\"stale\"»",
        "late \"stale\" is not yet supported",
        &["\"drop\""],
    ),
    (
        Whole,
        "[server]\npartial = «\"maybe\"»",
        "unknown partial \"maybe\"",
        &["\"keep\", \"discard\""],
    ),
    (
        Whole,
        "[server]\ntau_eff = «0»",
        "`tau_eff` cannot be 0",
        &["above 0"],
    ),
    (
        Whole,
        "[server]\ntau_eff = «\"mean\"»",
        "unknown tau_eff \"mean\"",
        &["\"accumulation\", \"steps\"", "or a number above 0"],
    ),
    (
        Whole,
        "[server]\nparticipation = «\"inverse-probability\"»",
        "participation \"inverse-probability\" is not yet supported",
        &[],
    ),
    (
        Whole,
        "[server]\n«staleness» = \"constant\"",
        "`staleness` in [server] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[server]\n«optimizer» = { kind = \"sgd\" }",
        "`optimizer` in [server] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[server]\nsample = { clients = «31» }",
        "`clients` cannot be 31",
        &["from 1 to 30"],
    ),
    (
        Whole,
        "[server]\nsample = { fraction = «1.5» }",
        "`fraction` cannot be 1.5",
        &["up to 1"],
    ),
    (
        Whole,
        "[server]\nsample = { fraction = «0» }",
        "`fraction` cannot be 0",
        &[],
    ),
    (
        Whole,
        "[server]\nscheme = «\"oort\"»",
        "scheme \"oort\" is not yet supported",
        &["\"uniform\", \"by-size\""],
    ),
    (
        Whole,
        "[server]\nscheme = «\"by_size\"»",
        "unknown scheme \"by_size\"",
        &["did you mean `by-size`?"],
    ),
    (
        Whole,
        "[server]\nevaluate_every = «0»",
        "`evaluate_every` cannot be 0",
        &[],
    ),
    (
        Whole,
        "[server]\nclose = «\"all\"»",
        "work until the deadline needs a deadline",
        &["without `work` in [client]", "`work = { steps = 10 }`"],
    ),
    (
        Whole,
        "[server]\nclose = \"all\"\n[client]\nwork = «{ until = \"deadline\" }»",
        "work until the deadline needs a deadline",
        &["`close = { deadline = \"30s\" }`"],
    ),
    (
        Whole,
        "[server]\npartial = «\"discard\"»",
        "there is no partial work to discard",
        &["stops in time"],
    ),
    (
        Whole,
        "client.work.steps = 5\n[server]\nclose = { first = 2, of = 3 }\nsample = «{ clients = 3 }»",
        "`of` already says how many clients are asked",
        &["no `sample`"],
    ),
    (
        Whole,
        "client.work.steps = 5\n[server]\nclose = { first = 2, of = 3 }\nparticipation = «\"unbiased\"»",
        "the first to arrive are not a random sample",
        &["\"renormalize\""],
    ),
];

const FLEET: &[Case] = &[
    (
        Bare,
        "«name» = \"x\"\nstop.rounds = 1",
        "work until the deadline needs a [fleet]",
        &["whose speed decides", "`work = { steps = 10 }`"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n[client]\nwork = «{ until = \"deadline\" }»",
        "work until the deadline needs a [fleet]",
        &[],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n«[fleet]»\n",
        "missing key `class` in [fleet]",
        &["[[fleet.class]]"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\nfleet.class = «[]»\n",
        "the fleet has no devices",
        &[],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n«[fleet.class]»\nname = \"d\"\n",
        "expected an array, found a table",
        &["[[fleet.class]]"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n«[[fleet.class]]»\nname = \"d\"\n",
        "missing key `step_time` in [[fleet.class]]",
        &["\"25ms\""],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n«[[fleet.class]]»\nstep_time = \"1ms\"\n",
        "missing key `name` in [[fleet.class]]",
        &[],
    ),
    (
        Whole,
        "[fleet]\nassign = «\"at random\"»",
        "unknown assign \"at random\"",
        &["\"random\", \"in-order\""],
    ),
    (
        Whole,
        "[fleet]\n«server_uplink» = \"1Gbps\"",
        "`server_uplink` in [fleet] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"d2\"\n«speed» = \"4 GFLOPS\"",
        "`speed` in [[fleet.class]] is not yet supported",
        &["step_time"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"d2\"\n«dropout» = 0.1",
        "`dropout` in [[fleet.class]] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"d2\"\n«availability» = \"always\"",
        "`availability` in [[fleet.class]] is not yet supported",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"d2\"\n«bandwidth» = \"1Mbps\"",
        "unknown key `bandwidth` in [[fleet.class]]",
        &["did you mean `fleet.class.NAME.uplink`?"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = \"1ms\"\n[[fleet.class]]\nname = «\"a\"»\nstep_time = \"1ms\"",
        "there are two classes named \"a\"",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = «\"a/b\"»\nstep_time = \"1ms\"",
        "\"a/b\" cannot be the name of a class",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = «25»",
        "25 has no unit",
        &["write `\"25s\"`"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = «\"0ms\"»",
        "`step_time` can fall below 1ns",
        &["1ns or more"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = «{ normal = { mean = \"9ms\", std = \"1ms\" } }»",
        "`step_time` can fall below 1ns",
        &["add `min`"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = «{ uniform = [\"0s\", \"1s\"] }»",
        "`step_time` can fall below 1ns",
        &["add `min`"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { uniform = [\"2s\", «\"1s\"»] }",
        "the second end lies below the first",
        &["[lowest, highest]"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { uniform = «[\"2s\"]» }",
        "`uniform` lies between two values",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { lognormal = { median = «25», sigma = 0.2 } }",
        "25 has no unit",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { lognormal = { median = \"25ms\", sigma = «\"2ms\"» } }",
        "expected a number, found the string \"2ms\"",
        &["without a unit"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { lognormal = { median = \"25ms\", sigma = «-1» } }",
        "`sigma` cannot be negative",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { lognormal = { median = «\"0s\"», sigma = 1 } }",
        "`median` must be above 0",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { lognormal = «{ median = \"25ms\" }» }",
        "missing key `sigma` in `lognormal`",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { lognormal = { «mean» = \"25ms\" } }",
        "unknown key `mean` in `lognormal`",
        &["median, sigma"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { pareto = { scale = \"1s\", shape = «0» } }",
        "`shape` must be above 0",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { exponential = { mean = «\"0s\"» } }",
        "`mean` must be above 0",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { choice = «[]» }",
        "there is nothing to choose from",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { choice = [\"1s\", «2»] }",
        "2 has no unit",
        &["\"2s\""],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { choice = [\"1s\"], min = \"2s\", max = «\"1s\"» }",
        "`max` is below `min`",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = «{ min = \"1s\" }»",
        "nothing is chosen in a distribution",
        &["uniform, normal, lognormal"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { choice = [\"1s\"], «uniform» = [\"1s\", \"2s\"] }",
        "`choice` and `uniform` exclude each other in a distribution",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { choice = [\"1s\"], «column» = \"x\" }",
        "`column` has no meaning beside this distribution",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = { «gaussian» = 1 }",
        "unknown key `gaussian` in a distribution",
        &["uniform, normal"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = «{ empirical = \"x.csv\" }»",
        "missing key `column` in a distribution",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\nuplink = «20»",
        "20 has no unit",
        &["write `\"20Mbps\"`"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\nuplink = «\"20MBps\"»",
        "unknown unit `MBps`",
        &["did you mean `Mbps`?"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\nuplink = «\"0.5bps\"»",
        "`uplink` can fall below 1bps",
        &[],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\nlatency = «{ normal = { mean = \"1s\", std = \"1s\" } }»",
        "`latency` can fall below 0s",
        &["add `min`"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\njitter = «2.5»",
        "`jitter` cannot be 2.5",
        &["from 0 to 2"],
    ),
    (
        Whole,
        "[[fleet.class]]\nname = \"a\"\nshare = 1.0\nstep_time = \"1s\"\n«[[fleet.class]]»\nname = \"b\"\nstep_time = \"1s\"",
        "this class has no `share`, but others have one",
        &["for every class, or for none"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n[[fleet.class]]\nname = \"a\"\nshare = 0.5\nstep_time = \"1s\"\n[[fleet.class]]\nname = \"b\"\nshare = «0.4»\nstep_time = \"1s\"",
        "`share` sum to 0.900000, not to 1",
        &["a sum of 1"],
    ),
    (
        Bare,
        "name = \"x\"\nstop.rounds = 1\n[[fleet.class]]\nname = \"a\"\nshare = «0»\nstep_time = \"1s\"",
        "`share` cannot be 0",
        &[],
    ),
];

const VARIANTS: &[Case] = &[
    (
        Whole,
        "«[[variant]]»\n",
        "missing key `name` in [[variant]]",
        &[],
    ),
    (Whole, "variant = «[]»\n", "there are no variants", &[]),
    (
        Whole,
        "[[variant]]\nname = \"a\"\n[[variant]]\nname = «\"a\"»\n",
        "there are two variants named \"a\"",
        &[],
    ),
    (
        Whole,
        "[[variant]]\nname = «\"a.b\"»\n",
        "\"a.b\" cannot be the name of a variant",
        &[],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\n«sett» = {}\n",
        "unknown key `sett` in [[variant]]",
        &["did you mean `set`?"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = «5»\n",
        "expected a table, found the number 5",
        &["server.weighting"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { server.«deadline» = \"10s\" }\n",
        "`server.deadline` leads nowhere",
        &["did you mean `server.close.deadline`?"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { client.«learning_rate» = 1 }\n",
        "`client.learning_rate` leads nowhere",
        &["did you mean `client.lr`?"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { server.weighting.«x» = 1 }\n",
        "`server.weighting.x` leads nowhere",
        &[],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { «seed» = 2 }\n",
        "a variant cannot change `seed`",
        &["stop, task, client, server, fleet"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { «record».clients = \"off\" }\n",
        "a variant cannot change `record`",
        &[],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { server.weighting = «\"fedavgg\"» }\n",
        "unknown weighting \"fedavgg\"",
        &["did you mean `fedavg`?", "in variant `a`"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { client.«momentum» = 0.9 }\n",
        "`momentum` in [client] is not yet supported",
        &["in variant `a`"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { server = { «weigting» = \"fedavg\" } }\n",
        "unknown key `weigting` in [server]",
        &["in variant `a`"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { fleet.class.«budget».jitter = 0.1 }\n",
        "there is no device class `budget`",
        &["one of: d"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { fleet.class.d.jitter = «9» }\n",
        "`jitter` cannot be 9",
        &[],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { fleet.class.d.«jiter» = 0 }\n",
        "`fleet.class.d.jiter` leads nowhere",
        &["did you mean `fleet.class.d.jitter`?"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { fleet.class.«d» = 0 }\n",
        "nothing of class `d` is named",
        &["fleet.class.d.jitter"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { server.close = «\"all\"» }\n",
        "work until the deadline needs a deadline",
        &["in variant `a`"],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\nset = { client.work.steps = 2, client.work.«epochs» = 2 }\n",
        "`steps` and `epochs` exclude each other in `client.work`",
        &[],
    ),
    (
        Whole,
        "[[variant]]\nname = \"a\"\n[variant.set]\nclient.lr = «-1»\n",
        "`lr` cannot be -1",
        &[],
    ),
];

const EXPECT: &[Case] = &[
    (
        Whole,
        "«[[expect]]»\nat_most = 1",
        "missing key `that` in [[expect]]",
        &[],
    ),
    (
        Whole,
        "[[expect]]\nthat = «\"accuracy\"»\nat_most = 1",
        "unknown quantity \"accuracy\"",
        &["\"test_accuracy\"", "\"waste\""],
    ),
    (
        Whole,
        "[[expect]]\nthat = «\"distance\"»\nat_most = 1",
        "unknown quantity \"distance\"",
        &["variant `fednova`"],
    ),
    (
        Whole,
        "«[[expect]]»\nthat = \"chi2\"",
        "nothing is chosen in [[expect]]",
        &["at_least, at_most, equals"],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nat_most = 1\n«at_least» = 0",
        "`at_most` and `at_least` exclude each other in [[expect]]",
        &[],
    ),
    (
        Whole,
        "«[[expect]]»\nthat = \"chi2\"\nequals = 1",
        "missing key `within` in [[expect]]",
        &["near enough"],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nat_most = 1\n«within» = 1",
        "`within` has no meaning in this [[expect]]",
        &[],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nequals = 1\nwithin = «-1»",
        "`within` cannot be -1",
        &[],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nof = «\"fednov\"»\nat_most = 1",
        "there is no variant `fednov`",
        &["did you mean `fednova`?"],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nat_most = «\"fedavg\"»",
        "there is no variant `fedavg`",
        &["one of: fednova"],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nat_most = «\"fednova\"»",
        "a variant is compared with itself",
        &[],
    ),
    (
        Whole,
        "«[[expect]]»\nthat = \"chi2\"\nat_most = 1\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"",
        "missing key `of` in [[expect]]",
        &["one of the variants: a, b"],
    ),
    (
        Whole,
        "[[expect]]\nthat = \"chi2\"\nat_most = «true»",
        "expected a number, found `true`",
        &[],
    ),
];

const SYNTAX: &[Case] = &[
    (
        Whole,
        "[client]\nlr = 0.1\n«lr» = 0.2",
        "duplicate key `lr`",
        &["at most once"],
    ),
    (
        Whole,
        "[client]\nlr = 0.1\n[server]\n[«client»]",
        "duplicate key `client`",
        &[],
    ),
    (
        Bare,
        "name = \"caf«\n»",
        "invalid TOML: invalid basic string",
        &["expected"],
    ),
    (
        Bare,
        "\tname = «\"a b\"»\n",
        "\"a b\" cannot be the name of a scenario",
        &[],
    ),
    (
        Bare,
        "name = \"x\"\r\nstop.rounds = «0»\r\n",
        "`rounds` cannot be 0",
        &[],
    ),
    (
        Whole,
        "server = { weighting = \"fedavg\", «\"größe\"» = 1 }",
        "unknown key `größe` in [server]",
        &[],
    ),
    (
        Whole,
        "description = \"λ→∞ 好\"\nclient = { \"lr\" = 1, «\"λ→∞\"» = 2 }",
        "unknown key `λ→∞` in [client]",
        &[],
    ),
];

#[test]
fn every_broken_scenario_says_what_is_wrong_and_where() {
    let tables = [
        TOP_LEVEL, STOP, TASK, CLIENT, SERVER, FLEET, VARIANTS, EXPECT, SYNTAX,
    ];
    let cases: Vec<_> = tables.into_iter().flatten().collect();
    assert!(cases.len() >= 60);
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| complaint(case).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {}\n\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n\n")
    );
}

fn complaint((wrap, marked, message, pieces): &Case) -> Result<(), String> {
    let marked = match wrap {
        Bare => marked.to_string(),
        Whole => format!("{HEAD}{marked}{TAIL}"),
    };
    let (before, rest) = marked
        .split_once('«')
        .ok_or(format!("no caret in {marked}"))?;
    let (under, after) = rest
        .split_once('»')
        .ok_or(format!("no caret in {marked}"))?;
    let text = format!("{before}{under}{after}");
    let shown = match Scenario::parse("dir/case.toml", &text, &[], None) {
        Ok(_) => return Err(format!("accepted:\n{text}")),
        Err(error) => error.to_string(),
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let arrow = format!("--> dir/case.toml:{line}:{column}\n");
    let carets = "^".repeat(under.trim_end().chars().count().max(1));
    let wrong = |what: &str| {
        Err(format!(
            "{what}\n--- expected: {message} at {line}:{column} {pieces:?}\n{shown}"
        ))
    };
    // Long notes are broken into lines; the pieces do not care where.
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if shown.lines().next() != Some(&format!("error: {message}")) {
        return wrong("another message");
    }
    if !shown.contains(&arrow) {
        return wrong("another place");
    }
    if !shown.lines().any(|line| {
        line.trim_start()
            .strip_prefix('|')
            .is_some_and(|rest| rest.trim() == carets)
    }) {
        return wrong("another caret");
    }
    if let Some(piece) = pieces.iter().find(|piece| !flat.contains(**piece)) {
        return wrong(&format!("without `{piece}`"));
    }
    if let Some(long) = shown.lines().find(|line| line.chars().count() > 100) {
        return wrong(&format!("a long line: {long}"));
    }
    Ok(())
}

/// The form as a whole, once, letter by letter.
#[test]
fn a_diagnostic_looks_like_this() {
    let text =
        "name = \"demo\"\nstop.rounds = 5\n\n\n\n\n\n\n\n[server]\n\tweigting = \"fedavg\"\n";
    let error = Scenario::parse("scenarios/demo.toml", text, &[], None).unwrap_err();
    let expected = "\
error: unknown key `weigting` in [server]
  --> scenarios/demo.toml:11:2
   |
11 |     weigting = \"fedavg\"
   |     ^^^^^^^^
   = expected one of: close, late, partial, weighting, tau_eff, participation,
     sample, scheme, evaluate_every
   = help: did you mean `weighting`?";
    assert_eq!(error.to_string(), expected);
}
