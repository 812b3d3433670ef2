"""What ``gruppetto.torch`` is made of."""
