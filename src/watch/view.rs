//! What the user wants to see.

use super::measure::Measure;
use super::run::WatchedRun;
use super::state::State;

/// Which run is shown in detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ShownRun {
    /// The one that is being run, or was run last.
    #[default]
    Newest,
    /// This one.
    Number(usize),
}

/// How values are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Scale {
    #[default]
    Linear,
    Log,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Wish {
    NextRun,
    PreviousRun,
    NextMeasure,
    SwitchScale,
    Pause,
    Help,
    /// Away with the help, or the end of it all.
    Leave,
    Quit,
}

/// What the user has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Which run.
    pub choice: ShownRun,
    /// Which measure; `None`: the first that anything is known of.
    measure: Option<Measure>,
    /// How it is drawn.
    pub scale: Scale,
    /// Whether nothing new is read.
    pub is_paused: bool,
    /// Whether the keys are explained.
    pub shows_help: bool,
    /// Whether that was all.
    pub is_over: bool,
}

impl View {
    /// Does what the user wishes.
    pub(super) fn grant(&mut self, wish: Wish, state: &State) {
        let runs = state.runs.len();
        match wish {
            Wish::NextRun => {
                self.choice = match self.choice {
                    ShownRun::Newest if runs > 0 => ShownRun::Number(0),
                    ShownRun::Number(run) if run + 1 < runs => ShownRun::Number(run + 1),
                    _ => ShownRun::Newest,
                }
            }
            Wish::PreviousRun => {
                self.choice = match self.choice {
                    ShownRun::Newest if runs > 0 => ShownRun::Number(runs - 1),
                    ShownRun::Number(run) if run > 0 => ShownRun::Number(run.min(runs) - 1),
                    _ => ShownRun::Newest,
                }
            }
            Wish::NextMeasure => {
                let known = state.measures();
                let now = self.measure(state);
                let place = known.iter().position(|measure| Some(*measure) == now);
                self.measure = place.map(|place| known[(place + 1) % known.len()]);
            }
            Wish::SwitchScale => {
                self.scale = match self.scale {
                    Scale::Linear => Scale::Log,
                    Scale::Log => Scale::Linear,
                }
            }
            Wish::Pause => self.is_paused = !self.is_paused,
            Wish::Help => self.shows_help = !self.shows_help,
            Wish::Leave if self.shows_help => self.shows_help = false,
            Wish::Leave | Wish::Quit => self.is_over = true,
        }
    }

    /// The run to look at, if there is one; another run in the folder may have fewer.
    pub(super) fn run<'a>(&self, state: &'a State) -> Option<&'a WatchedRun> {
        let chosen = match self.choice {
            ShownRun::Newest => None,
            ShownRun::Number(run) => state.runs.get(run),
        };
        chosen.or(state.runs.last())
    }

    /// The measure to draw, if there is one.
    pub(super) fn measure(&self, state: &State) -> Option<Measure> {
        let known = state.measures();
        self.measure.filter(|measure| known.contains(measure)).or(known.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(variants: &[&str]) -> State {
        let runs = variants.iter().map(|variant| WatchedRun::new(variant, 1)).collect();
        State { runs, ..State::default() }
    }

    #[test]
    fn runs_are_gone_through_and_the_newest_is_followed_at_first() {
        let (mut view, two) = (View::default(), state(&["a", "b"]));
        let name = |view: &View, state: &State| view.run(state).map(|run| run.variant.clone());
        let mut names = Vec::new();
        for _ in 0..4 {
            names.push(name(&view, &two).unwrap());
            view.grant(Wish::NextRun, &two);
        }
        assert_eq!(names, ["b", "a", "b", "b"]);
        assert_eq!(view.choice, ShownRun::Number(0));
        view.grant(Wish::PreviousRun, &two);
        view.grant(Wish::PreviousRun, &two);
        assert_eq!(view.choice, ShownRun::Number(1));
        assert_eq!(name(&view, &state(&["c"])).unwrap(), "c", "there are fewer now");
        assert_eq!(name(&view, &State::default()), None);
        for wish in [Wish::NextRun, Wish::PreviousRun, Wish::NextMeasure] {
            view.grant(wish, &State::default());
        }
        assert_eq!(view.measure(&State::default()), None);
    }

    #[test]
    fn escape_leaves_the_help_first() {
        let (mut view, none) = (View::default(), State::default());
        view.grant(Wish::Help, &none);
        view.grant(Wish::Leave, &none);
        assert!(!view.shows_help && !view.is_over);
        view.grant(Wish::Leave, &none);
        assert!(view.is_over);
    }
}
