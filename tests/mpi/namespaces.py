"""Two network namespaces that stand for two machines, with a slow and lossy link between them."""

import os
import pathlib
import shutil
import subprocess

import jobs
from kills import difference

NAMES = ("gruppetto-a", "gruppetto-b")
ADDRESSES = ("10.83.7.1", "10.83.7.2")
# Instead of ssh: the second word is the host.
AGENT = """#!/bin/sh
host=$1
shift
case $host in
10.83.7.1) name=gruppetto-a ;;
*) name=gruppetto-b ;;
esac
exec ip netns exec $name sh -c "$*"
"""


def run(program, folder):
    """What is wrong, if anything is; nothing where there are no namespaces to be had."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
        print("two machines: left out; it needs root, and ip and tc of iproute2")
        return None
    try:
        make()
        return compare(program, folder)
    except subprocess.CalledProcessError as error:
        return f"{error}: {error.stderr}"
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def make():
    def call(words):
        subprocess.run(words.split(), check=True, capture_output=True, text=True)

    for name in NAMES:
        call(f"ip netns add {name}")
    call(f"ip link add veth-a netns {NAMES[0]} type veth peer name veth-b netns {NAMES[1]}")
    for name, address, link in zip(NAMES, ADDRESSES, ("veth-a", "veth-b")):
        call(f"ip -n {name} address add {address}/24 dev {link}")
        call(f"ip -n {name} link set lo up")
        call(f"ip -n {name} link set {link} up")
        call(f"ip netns exec {name} tc qdisc add dev {link} root netem delay 20ms loss 1%")


def compare(program, folder):
    path, out = folder / "small.toml", folder / "small-far"
    agent = folder / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    # The network of the link alone, for Open MPI's own messages as well.
    net = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "10.83.7.0/24", "--mca", "oob_tcp_if_include"]
    hosts = ["--host", f"{ADDRESSES[0]}:1,{ADDRESSES[1]}:2", "--mca", "plm_rsh_agent", agent]
    words = [*jobs.mpirun(), *hosts, *net, "10.83.7.0/24", "-n", "3", program, "--quiet", "run", path, "--out", out]
    code, said = jobs.finish(["ip", "netns", "exec", NAMES[0], *words])
    if code:
        return f"exit code {code}\n{said}"
    return difference(pathlib.Path(folder / "small"), out)
