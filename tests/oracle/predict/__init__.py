"""A second derivation of what the simulator computes, for quadratics: written from the documentation and the
FedNova paper, without a look at the program's source."""
