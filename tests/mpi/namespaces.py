"""Two network namespaces that stand for two machines, with a slow and lossy link between them.

The link is a process that carries packets from one to the other, 20 ms later, and loses one in a hundred: few kernels
have `tc netem`, most have TUN devices.
"""

import fcntl
import heapq
import multiprocessing
import os
import random
import select
import shutil
import struct
import subprocess
import time

import jobs
from kills import difference

NAMES = ("gruppetto-a", "gruppetto-b")
ADDRESSES = ("10.83.7.1", "10.83.7.2")
NETWORK = "10.83.7.0/24"
DELAY = 0.02
LOSS = 0.01
# Instead of ssh.
AGENT = f"""#!/bin/sh
host=$1
shift
case $host in
{ADDRESSES[0]}) name={NAMES[0]} ;;
*) name={NAMES[1]} ;;
esac
exec ip netns exec $name sh -c "$*"
"""


def run(program, folder):
    """What is wrong, if anything is; nothing where there are no namespaces to be had."""
    if os.geteuid() != 0 or not shutil.which("ip") or not os.path.exists("/dev/net/tun"):
        print("two machines: left out; it needs root, iproute2 and /dev/net/tun")
        return None
    link = None
    try:
        for name in NAMES:
            call(f"ip netns add {name}")
        ends = [device(name, f"tun-{name[-1]}", address) for name, address in zip(NAMES, ADDRESSES)]
        link = multiprocessing.get_context("fork").Process(target=carry, args=(ends,), daemon=True)
        link.start()
        return compare(program, folder)
    except subprocess.CalledProcessError as error:
        return f"{error}: {error.stderr}"
    finally:
        if link:
            link.kill()
        for name in NAMES:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def call(words):
    subprocess.run(words.split(), check=True, capture_output=True, text=True)


def device(namespace, name, address):
    """A TUN device of a namespace: what it sends is read here."""
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    # TUNSETIFF with IFF_TUN and IFF_NO_PI.
    fcntl.ioctl(file, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1001))
    call(f"ip link set {name} netns {namespace}")
    call(f"ip -n {namespace} address add {address}/24 dev {name}")
    call(f"ip -n {namespace} link set lo up")
    call(f"ip -n {namespace} link set {name} up")
    return file


def carry(ends):
    """Carries packets for ever."""
    draws, waiting, number = random.Random(1), [], 0
    while True:
        pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for file in select.select(ends, [], [], pause)[0]:
            packet = os.read(file, 65536)
            if draws.random() >= LOSS:
                number += 1
                heapq.heappush(waiting, (time.monotonic() + DELAY, number, ends[1 - ends.index(file)], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, file, packet = heapq.heappop(waiting)
            try:
                os.write(file, packet)
            except OSError:
                pass  # Lost: the other side is not up yet, or has no room.


def compare(program, folder):
    path, out = folder / "small.toml", folder / "small-far"
    agent = folder / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    # The link alone, for Open MPI's own messages as well.
    net = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", NETWORK, "--mca", "oob_tcp_if_include", NETWORK]
    hosts = ["--host", f"{ADDRESSES[0]}:1,{ADDRESSES[1]}:2", "--mca", "plm_rsh_agent", agent]
    words = [*jobs.mpirun(), *hosts, *net, "-n", "3", program, "--quiet", "run", path, "--out", out]
    code, said = jobs.finish(["ip", "netns", "exec", NAMES[0], *words])
    return f"exit code {code}\n{said}" if code else difference(folder / "small", out)
