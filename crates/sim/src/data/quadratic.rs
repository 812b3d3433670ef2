//! Quadratic local objectives, the paper's case study (section 3, appendix A).

use crate::matrix::Matrix;
use crate::random::{Dist, Purpose, stream};

/// `[task] kind = "quadratic"`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticConfig {
    /// Dimension d of x.
    pub dim: usize,
    /// The vectors e_i.
    pub centers: Centers,
    /// The matrices H_i.
    pub curvature: Curvature,
    /// The weights p_i, one per client, positive and summing to 1; `None` for equal ones.
    pub weights: Option<Vec<f64>>,
    /// Standard deviation of normal noise added to every entry of every gradient.
    pub gradient_noise: f64,
}

/// The vectors e_i.
#[derive(Clone, Debug, PartialEq)]
pub enum Centers {
    /// Every entry drawn independently.
    Random(Dist),
    /// One vector per client.
    Explicit(Vec<Vec<f64>>),
}

/// The matrices H_i, symmetric and positive definite.
#[derive(Clone, Debug, PartialEq)]
pub enum Curvature {
    /// H_i = I.
    Identity,
    /// One diagonal per client.
    Diagonal(Vec<Vec<f64>>),
    /// One full matrix per client, by rows.
    Full(Vec<Vec<Vec<f64>>>),
}

/// One client's H_i.
#[derive(Clone, Copy, Debug)]
pub enum LocalCurvature<'a> {
    /// H_i = I.
    Identity,
    /// H_i = diag(h).
    Diagonal(&'a [f64]),
    /// A full matrix.
    Full(&'a Matrix),
}

impl LocalCurvature<'_> {
    /// H_i x.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        match self {
            LocalCurvature::Identity => x.to_vec(),
            LocalCurvature::Diagonal(h) => h.iter().zip(x).map(|(h, x)| h * x).collect(),
            LocalCurvature::Full(h) => h.apply(x),
        }
    }

    /// The local minimum H_i⁻¹e_i.
    fn minimum(&self, center: &[f64]) -> Vec<f64> {
        match self {
            LocalCurvature::Identity => center.to_vec(),
            LocalCurvature::Diagonal(h) => center.iter().zip(*h).map(|(e, h)| e / h).collect(),
            LocalCurvature::Full(h) => h.solve(center).expect("validated as positive definite"),
        }
    }

    fn to_matrix(self, dim: usize) -> Matrix {
        match self {
            LocalCurvature::Identity => Matrix::identity(dim),
            LocalCurvature::Diagonal(h) => Matrix::diagonal(h),
            LocalCurvature::Full(h) => h.clone(),
        }
    }
}

enum Curvatures {
    Identity,
    Diagonal(Vec<Vec<f64>>),
    Full(Vec<Matrix>),
}

/// A drawn problem, with its global minimum.
pub struct Quadratic {
    /// Standard deviation of the gradient noise.
    pub gradient_noise: f64,
    /// x* = H̄⁻¹ē, the minimum of F = Σp_iF_i.
    pub optimum: Vec<f64>,
    /// F(x*).
    pub least_loss: f64,
    dim: usize,
    p: Vec<f64>,
    centers: Vec<f64>,
    curvatures: Curvatures,
    mean_curvature: MeanCurvature,
}

/// H̄, kept as thin as the H_i are: a problem with a million parameters has no full matrix.
enum MeanCurvature {
    Diagonal(Vec<f64>),
    Full(Matrix),
}

impl QuadraticConfig {
    /// Draws the problem for clients with shares `p`.
    pub fn init(&self, seed: u64, p: &[f64]) -> Quadratic {
        let centers = match &self.centers {
            Centers::Explicit(centers) => centers.concat(),
            Centers::Random(dist) => {
                // Reserved at once: a vector that grows takes up to three times as much.
                let mut centers = Vec::with_capacity(p.len() * self.dim);
                for client in 0..p.len() as u64 {
                    let mut rng = stream(seed, Purpose::Data, client, 0);
                    centers.extend((0..self.dim).map(|_| dist.sample(&mut rng)));
                }
                centers
            }
        };
        let curvatures = match &self.curvature {
            Curvature::Identity => Curvatures::Identity,
            Curvature::Diagonal(h) => Curvatures::Diagonal(h.clone()),
            Curvature::Full(h) => {
                Curvatures::Full(h.iter().map(|rows| Matrix::from_rows(rows)).collect())
            }
        };
        let mut problem = Quadratic {
            gradient_noise: self.gradient_noise,
            optimum: vec![0.0; self.dim],
            least_loss: 0.0,
            dim: self.dim,
            p: p.to_vec(),
            centers,
            curvatures,
            mean_curvature: MeanCurvature::Diagonal(Vec::new()),
        };
        problem.find_optimum(p);
        problem
    }
}

impl Quadratic {
    /// Dimension d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// p_i.
    pub fn shares(&self) -> &[f64] {
        &self.p
    }

    /// Floating-point operations of a gradient: a multiplication and an addition for every entry of
    /// H_i.
    pub fn flops(&self) -> f64 {
        match self.curvatures {
            Curvatures::Full(_) => 2.0 * (self.dim * self.dim) as f64,
            Curvatures::Identity | Curvatures::Diagonal(_) => 2.0 * self.dim as f64,
        }
    }

    /// e_i.
    pub fn center(&self, client: usize) -> &[f64] {
        &self.centers[client * self.dim..(client + 1) * self.dim]
    }

    /// H_i.
    pub fn curvature(&self, client: usize) -> LocalCurvature<'_> {
        match &self.curvatures {
            Curvatures::Identity => LocalCurvature::Identity,
            Curvatures::Diagonal(h) => LocalCurvature::Diagonal(&h[client]),
            Curvatures::Full(h) => LocalCurvature::Full(&h[client]),
        }
    }

    /// F_i(x) = ½(x − x_i*)ᵀH_i(x − x_i*): the paper's form, without its cancellations.
    pub fn local_loss(&self, client: usize, x: &[f64]) -> f64 {
        let h = self.curvature(client);
        let away: Vec<f64> =
            x.iter().zip(h.minimum(self.center(client))).map(|(x, min)| x - min).collect();
        0.5 * dot(&away, &h.apply(&away))
    }

    /// ∇F_i(x) = H_i x − e_i.
    pub fn local_gradient(&self, client: usize, x: &[f64]) -> Vec<f64> {
        let mut gradient = self.curvature(client).apply(x);
        gradient.iter_mut().zip(self.center(client)).for_each(|(g, e)| *g -= e);
        gradient
    }

    /// F(x) and ∇F(x), from F(x) = F(x*) + ½(x − x*)ᵀH̄(x − x*): exact near the minimum, and as
    /// cheap as one local gradient however many clients there are.
    pub fn global(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let away: Vec<f64> = x.iter().zip(&self.optimum).map(|(x, min)| x - min).collect();
        let gradient = match &self.mean_curvature {
            MeanCurvature::Diagonal(h) => LocalCurvature::Diagonal(h).apply(&away),
            MeanCurvature::Full(h) => h.apply(&away),
        };
        (self.least_loss + 0.5 * dot(&away, &gradient), gradient)
    }

    fn find_optimum(&mut self, p: &[f64]) {
        let mut mean_center = vec![0.0; self.dim];
        for (client, p) in p.iter().enumerate() {
            for (sum, e) in mean_center.iter_mut().zip(self.center(client)) {
                *sum += p * e;
            }
        }
        self.mean_curvature = match &self.curvatures {
            Curvatures::Full(_) => {
                let mut mean = Matrix::zero(self.dim);
                for (client, p) in p.iter().enumerate() {
                    mean.add_scaled(*p, &self.curvature(client).to_matrix(self.dim));
                }
                MeanCurvature::Full(mean)
            }
            Curvatures::Diagonal(h) => {
                let mut mean = vec![0.0; self.dim];
                for (p, h) in p.iter().zip(h) {
                    mean.iter_mut().zip(h).for_each(|(sum, h)| *sum += p * h);
                }
                MeanCurvature::Diagonal(mean)
            }
            Curvatures::Identity => MeanCurvature::Diagonal(vec![1.0; self.dim]),
        };
        self.optimum = match &self.mean_curvature {
            MeanCurvature::Diagonal(h) => LocalCurvature::Diagonal(h).minimum(&mean_center),
            MeanCurvature::Full(h) => LocalCurvature::Full(h).minimum(&mean_center),
        };
        self.least_loss =
            p.iter().enumerate().map(|(i, p)| p * self.local_loss(i, &self.optimum)).sum();
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(curvature: Curvature) -> (Quadratic, Vec<f64>) {
        let p = vec![0.2, 0.5, 0.3];
        let config = QuadraticConfig {
            dim: 2,
            centers: Centers::Explicit(vec![vec![1.0, 2.0], vec![-3.0, 0.5], vec![4.0, -1.0]]),
            curvature,
            weights: Some(p.clone()),
            gradient_noise: 0.0,
        };
        (config.init(1, &p), p)
    }

    fn curvatures() -> [Curvature; 3] {
        [
            Curvature::Identity,
            Curvature::Diagonal(vec![vec![1.0, 2.0], vec![0.5, 3.0], vec![2.0, 2.5]]),
            Curvature::Full(vec![
                vec![vec![2.0, 0.3], vec![0.3, 1.0]],
                vec![vec![1.0, -0.2], vec![-0.2, 3.0]],
                vec![vec![1.5, 0.0], vec![0.0, 0.7]],
            ]),
        ]
    }

    #[test]
    fn global_loss_is_the_weighted_sum_of_the_papers_local_losses() {
        for curvature in curvatures() {
            let (problem, p) = problem(curvature);
            let x = [0.7, -1.3];
            let mut sum = 0.0;
            for (client, p) in p.iter().enumerate() {
                let (h, e) = (problem.curvature(client), problem.center(client));
                // ½xᵀHx − eᵀx + ½eᵀH⁻¹e as the appendix writes it.
                let paper = 0.5 * dot(&x, &h.apply(&x)) - dot(e, &x) + 0.5 * dot(e, &h.minimum(e));
                assert!((paper - problem.local_loss(client, &x)).abs() < 1e-12);
                sum += p * paper;
            }
            assert!((problem.global(&x).0 - sum).abs() < 1e-12);
        }
    }

    #[test]
    fn the_gradient_is_the_slope_and_vanishes_at_the_optimum() {
        for curvature in curvatures() {
            let (problem, _) = problem(curvature);
            let (x, step) = ([0.7, -1.3], 1e-6);
            let (_, gradient) = problem.global(&x);
            for j in 0..2 {
                let (mut ahead, mut behind) = (x, x);
                ahead[j] += step;
                behind[j] -= step;
                let slope = (problem.global(&ahead).0 - problem.global(&behind).0) / (2.0 * step);
                assert!((slope - gradient[j]).abs() < 1e-7);
            }
            assert!(problem.global(&problem.optimum).1.iter().all(|g| g.abs() < 1e-12));
        }
    }

    #[test]
    fn a_clients_centre_does_not_depend_on_how_many_there_are() {
        let config = QuadraticConfig {
            dim: 3,
            centers: Centers::Random(Dist::fixed(0.0)),
            curvature: Curvature::Identity,
            weights: None,
            gradient_noise: 0.0,
        };
        let shape = crate::random::Shape::Normal { mean: 0.0, std: 0.1 };
        let config = QuadraticConfig {
            centers: Centers::Random(Dist { shape, ..Dist::fixed(0.0) }),
            ..config
        };
        let few = config.init(9, &[0.5; 2]);
        let many = config.init(9, &[0.1; 10]);
        assert_eq!(few.center(1), many.center(1));
        assert_ne!(few.center(0), few.center(1));
    }
}
