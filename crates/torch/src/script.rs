//! Networks that somebody exported from PyTorch as TorchScript.

use super::TorchError;
use gruppetto_sim::data::{Law, Parameter};
use std::path::Path;
use tch::{CModule, Device, Kind, Tensor};

/// A module on a device, with its trainable parameters.
pub(super) struct Script {
    module: CModule,
    /// The parameters themselves: what is written to them the module computes with.
    pub(super) leaves: Vec<Tensor>,
    pub(super) parameters: Vec<Parameter>,
}

impl Script {
    pub(super) fn load(path: &Path, device: Device) -> Result<Self, TorchError> {
        still();
        let wrong = |what: String| TorchError::Script { path: path.into(), what };
        if let Err(error) = std::fs::File::open(path) {
            return Err(wrong(format!("cannot read it: {error}")));
        }
        let mut module = CModule::load_on_device(path, device).map_err(|error| {
            wrong(format!("it is no TorchScript file: {}", reason(&error.to_string())))
        })?;
        // Dropout would draw from a generator that all threads share, and batch norm would keep
        // statistics that no update carries: both are as when a model is used.
        module.set_eval();
        let named = module
            .named_parameters()
            .map_err(|error| wrong(format!("its parameters: {}", reason(&error.to_string()))))?;
        let mut trainable: Vec<(String, Tensor)> = Vec::new();
        for (name, leaf) in named.into_iter().filter(|(_, leaf)| leaf.requires_grad()) {
            // Layers may share a parameter: it is one all the same, under its first name.
            if !trainable.iter().any(|(_, known)| known.data_ptr() == leaf.data_ptr()) {
                trainable.push((name, leaf));
            }
        }
        if trainable.is_empty() {
            return Err(wrong("it has no trainable parameters".into()));
        }
        if let Some((name, leaf)) = trainable.iter().find(|(_, leaf)| leaf.kind() != Kind::Float) {
            return Err(wrong(format!("parameter `{name}` is {:?}, not Float", leaf.kind())));
        }
        let (names, leaves): (Vec<_>, Vec<_>) = trainable.into_iter().unzip();
        let parameter = |(name, leaf): (String, &Tensor)| Parameter {
            name,
            shape: leaf.size().into_iter().map(|side| side as usize).collect(),
            // It comes with its own starting point.
            law: Law::Constant(0.0),
        };
        let parameters = names.into_iter().zip(&leaves).map(parameter).collect();
        Ok(Script { module, leaves, parameters })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor, tch::TchError> {
        self.module.forward_ts(&[x])
    }
}

/// Keeps the executor from rewriting a module after its first calls, which would make a result
/// depend on how often a worker has been used. Some of it belongs to the calling thread.
pub(super) fn still() {
    let _ = tch::jit::f_set_profiling_mode(false);
    let _ = tch::jit::f_set_tensor_expr_fuser_enabled(false);
    let _ = tch::jit::f_set_graph_executor_optimize(false);
}

/// What an error of libtorch says: what was raised, at the end of a traceback of TorchScript, or else
/// what stands before its traces of the stack.
pub(super) fn reason(text: &str) -> String {
    let text = text.trim_start_matches("Internal torch error: ");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let raised = |line: &&str| {
        let kind = line.split(':').next().unwrap_or_default();
        line.contains(": ") && (kind.ends_with("Error") || kind.ends_with("Exception"))
    };
    let line = lines().rfind(raised).or_else(|| lines().next()).unwrap_or("no reason given");
    line.chars().filter(|c| !c.is_control()).take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_reason_is_what_was_raised() {
        let traced = "Internal torch error: The following operation failed in the TorchScript \
                      interpreter.\nTraceback of TorchScript, original code (most recent call last):\n  \
                      File \"gen.py\", line 3\n    raise RuntimeError(\"no\")\n    ~~~ <--- HERE\n\
                      RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x8 and 5x2)\n";
        assert!(reason(traced).starts_with("RuntimeError: mat1 and mat2"), "{}", reason(traced));
        assert_eq!(reason("Internal torch error: open failed\nframe #0: x"), "open failed");
        assert_eq!(reason("\n"), "no reason given");
    }
}
