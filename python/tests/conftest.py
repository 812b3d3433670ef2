"""What is left to `make torture`: pytest --all."""


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="every shipped scenario that takes up to half a minute")
