//! When the model is measured, and what of it.

use super::{Server, ServerError};
use crate::metric::{Metric, Metrics};
use crate::train::{Measured, Model, Training, evaluate};
use std::sync::Arc;

impl Server {
    /// Measures the model before the first round; divergence is judged against it.
    pub fn begin(&mut self) -> Result<Option<Metrics>, ServerError> {
        let metrics = self.measure(true, false)?.map(|measured| measured.metrics);
        self.moved_on()?;
        self.start_loss = metrics.as_ref().and_then(|metrics| metrics.get(Metric::TrainLoss));
        Ok(metrics)
    }

    /// Measures the model if that is `due`, and how far the clients' gradients are apart if
    /// `spread`; nothing in runs that do not train.
    pub(super) fn measure(
        &mut self,
        due: bool,
        spread: bool,
    ) -> Result<Option<Measured>, ServerError> {
        let Some(Training { trainer, pool }) = self.training.clone().filter(|_| due) else {
            return Ok(None);
        };
        let heard = self.meter.read().missing_mass < 1.0 && !self.optimizer.collects();
        let weights = (spread && heard).then(|| {
            self.spread.done();
            Arc::new(self.meter.effective_weights())
        });
        let measured = match self.replayed_evaluation()? {
            Some(measured) => measured,
            None => {
                self.position.before_evaluation = true;
                let model = Arc::new(Model::new(self.x.clone()));
                let measured = evaluate(&trainer, &pool, &model, weights);
                let measured = measured.map_err(ServerError::Evaluation)?;
                let measured = measured.ok_or(ServerError::Interrupted)?;
                if let Some(log) = &mut self.log {
                    log.measured.push(measured);
                }
                measured
            }
        };
        self.position.before_evaluation = false;
        self.position.evaluations += 1;
        self.is_measured = true;
        Ok(Some(measured))
    }

    /// Whether the model was measured as it is now; never in runs that do not train.
    pub fn is_measured(&self) -> bool {
        self.is_measured
    }

    /// Measures the model as it is at the end of a run; `None` in runs that do not train.
    pub fn evaluate(&mut self) -> Result<Option<Measured>, ServerError> {
        let measured = self.measure(true, true)?;
        self.moved_on()?;
        Ok(measured)
    }
}
