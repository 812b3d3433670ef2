//! Deep models, computed by libtorch: the only place where `tch` appears.
//!
//! libtorch brings habits of its own, and what is kept here keeps them inside. It computes with as
//! many threads as there are cores, while here every worker is a thread already: each takes
//! [`one_thread`]. It draws from a generator that all threads share: nothing here draws from it.
//! Tensors stay with the worker that made them; between workers parameters travel as plain numbers.

/// Makes libtorch compute in the thread that calls it, and in no other. To be called once in every
/// thread that uses it.
pub fn one_thread() {
    tch::set_num_threads(1);
}

/// Whether there is a GPU, and a libtorch that can use it.
///
/// ```
/// println!("{}", gruppetto::train::torch::cuda_available());
/// ```
pub fn cuda_available() -> bool {
    tch::Cuda::is_available()
}

#[cfg(test)]
mod tests {
    use super::one_thread;
    use tch::{Kind, Tensor};

    /// f = Σ (A x)², so ∇f = 2 Aᵀ A x: computed by hand, and by libtorch backwards.
    #[test]
    fn a_gradient_comes_back_through_a_product() {
        one_thread();
        let a = Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).reshape([3, 2]);
        let x = Tensor::from_slice(&[1f32, -1.0]).reshape([2, 1]).set_requires_grad(true);
        let f = a.matmul(&x).square().sum(Kind::Float);
        f.backward();
        // A x = (−1, −1, −1).
        assert_eq!(f64::try_from(&f).unwrap(), 3.0);
        assert_eq!(Vec::<f32>::try_from(x.grad().reshape(-1)).unwrap(), [-18.0, -24.0]);
        assert_eq!(tch::get_num_threads(), 1);
    }
}
