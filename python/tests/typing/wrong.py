"""What the types are there to find: every line with a mark is an error to both."""

import gruppetto as gp


class Odd(gp.Selector):
    def select(self, view: gp.View, rng: gp.Rng) -> object:
        return view.nothing  # wrong


gp.run(3)  # wrong
gp.run("s.toml", thread=2)  # wrong
gp.Verdict(counts="all")  # wrong
gp.plugin("x")(int)  # wrong
