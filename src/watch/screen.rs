//! The terminal: keys in, pictures out. Whatever happens, it is left as it was found.

use super::draw::draw;
use super::follow::{Follower, WatchError};
use super::view::{View, Wish};
use crate::report::TextStyle;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// How often is looked for something new: as often as runs write.
const PERIOD: Duration = Duration::from_millis(200);

/// Gives the terminal back when it goes out of scope; a panic does so before it tells of itself.
struct Screen(DefaultTerminal);

impl Screen {
    fn open() -> Result<Self, WatchError> {
        ratatui::try_init().map(Screen).map_err(|error| {
            // It may have got halfway.
            let _ = ratatui::try_restore();
            WatchError::Terminal(error)
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nobody left to tell if this fails.
        let _ = self.0.show_cursor();
        let _ = ratatui::try_restore();
    }
}

/// Shows the dashboard until the user has seen enough.
pub(super) fn show(follower: &mut Follower, style: TextStyle) -> Result<(), WatchError> {
    listen_for_signals();
    follower.tick()?;
    let mut screen = Screen::open()?;
    let mut view = View::default();
    while !view.is_over {
        if !view.is_paused {
            follower.tick()?;
        }
        let state = follower.state();
        let drawn = screen.0.draw(|frame| draw(frame, state, &view, style));
        drawn.map_err(WatchError::Terminal)?;
        let is_behind = state.is_behind && !view.is_paused;
        let patience = if is_behind { Duration::ZERO } else { PERIOD };
        let mut is_due = event::poll(patience).map_err(WatchError::Terminal)?;
        while is_due {
            let event = event::read().map_err(WatchError::Terminal)?;
            if let Some(wish) = wish(&event) {
                view.grant(wish, state);
            }
            is_due = event::poll(Duration::ZERO).map_err(WatchError::Terminal)?;
        }
    }
    Ok(())
}

/// What a key asks for.
fn wish(event: &Event) -> Option<Wish> {
    let Event::Key(KeyEvent { code, modifiers, kind, .. }) = event else {
        return None;
    };
    if *kind == KeyEventKind::Release {
        return None;
    }
    Some(match code {
        KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Wish::Quit,
        KeyCode::Char('q') => Wish::Quit,
        KeyCode::Esc => Wish::Leave,
        KeyCode::Char('v') | KeyCode::Tab => Wish::NextRun,
        KeyCode::Char('V') | KeyCode::BackTab => Wish::PreviousRun,
        KeyCode::Char('m') => Wish::NextMeasure,
        KeyCode::Char('l') => Wish::SwitchScale,
        KeyCode::Char(' ') => Wish::Pause,
        KeyCode::Char('?') => Wish::Help,
        _ => return None,
    })
}

/// A signal must not leave the terminal in disorder either. It ends the program from here: where the
/// terminal itself has gone away, waiting for keys never ends.
fn listen_for_signals() {
    let heard = ctrlc::set_handler(|| {
        let _ = ratatui::try_restore();
        std::process::exit(130);
    });
    if let Err(error) = heard {
        tracing::debug!(%error, "signals are not heard");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_the_help_says() {
        let key = |code, modifiers| wish(&Event::Key(KeyEvent::new(code, modifiers)));
        for (code, expected) in [
            (KeyCode::Char('q'), Some(Wish::Quit)),
            (KeyCode::Esc, Some(Wish::Leave)),
            (KeyCode::Tab, Some(Wish::NextRun)),
            (KeyCode::Char('v'), Some(Wish::NextRun)),
            (KeyCode::Char('m'), Some(Wish::NextMeasure)),
            (KeyCode::Char('l'), Some(Wish::SwitchScale)),
            (KeyCode::Char(' '), Some(Wish::Pause)),
            (KeyCode::Char('?'), Some(Wish::Help)),
            (KeyCode::Char('c'), None),
        ] {
            assert_eq!(key(code, KeyModifiers::NONE), expected, "{code:?}");
        }
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Wish::Quit));
        assert_eq!(wish(&Event::Resize(80, 24)), None);
    }
}
