# SPDX-License-Identifier: Apache-2.0
"""The environments in which tests start processes of a job."""
import os
import re
import socket


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1] - 1  # rank 0 listens from MASTER_PORT + 1 on


def environment(variables=()):
    """Returns the environment without the variables of any launcher, with the given ones."""
    prefixes = ("OMPI_", "PMI", "SLURM_", "TORCHELASTIC_", "MASTER_", "GC3_")
    own = {name: value for name, value in os.environ.items()
           if not name.startswith(prefixes) and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")}
    return own | dict(variables)


def torchrun(rank, ranks, port):
    return {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": ranks,
            "MASTER_ADDR": "localhost", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": f"test-{port}"}


def names_rank(text, rank):
    """Returns whether an error names a rank, alone or in a list."""
    return re.search(rf"\branks? (?:\d+, )*{rank}\b|these ranks have not made: (?:.*, )?{rank} \(", text) is not None


# The errors of a rank that waits for others while ranks join: each names a missing or lost rank.
JOINING = re.compile(r"ranks? \d+(, \d+)*( and \d+ more)? ha(s|ve) not (joined|taken part)|"
                     r"rank \d+ did not reach rank 0|rank 0 does not answer|there is no connection to rank \d+|"
                     r"rank \d+, whose process has ended")


def explains_loss(text, victim):
    """Returns whether an error of a rank is due to the loss of another one."""
    return names_rank(text, victim) or JOINING.search(text) is not None
