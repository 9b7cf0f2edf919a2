"""Start the containers for real, and say what was seen: `make containers`.

The image is built, one node started from nothing, searched, loaded and killed; then three nodes, of which one
is killed while people search. `--rounds N` kills something at random N times instead.

Nothing is left behind but the images that were fetched. Takes some ten minutes.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import tempfile
from pathlib import Path

from tools.containers import trial
from tools.containers.daemon import NoDaemon, hold_daemon, make_images
from tools.containers.stack import IMAGE, Failed, Stack, compose_program, docker

STEPS = (
    trial.start,
    trial.load,
    trial.kill_and_restart,
    trial.down_and_up,
    trial.back_up,
    trial.grow,
    trial.lose_a_node,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=0, help="kill something at random so often")
    parser.add_argument("--seed", type=int, default=0, help="of what is killed")
    parser.add_argument("--few", action="store_true", help="first load examples/, not the example news")
    arguments = parser.parse_args()
    try:
        with hold_daemon() as address, tempfile.TemporaryDirectory(prefix="esr-containers-") as folder:
            trial.say(f"daemon {docker('version', '--format', '{{.Server.Version}}')} {address}")
            trial.say(f"compose is {' '.join(compose_program())}")
            make_images()
            stack = Stack(Path(folder), f"esr-trial-{secrets.token_hex(3)}", arguments.few)
            try_containers(stack, arguments.rounds, random.Random(arguments.seed))
    except (Failed, NoDaemon) as error:
        sys.exit(f"containers: {error}")
    trial.say("all of it went well")


def try_containers(stack: Stack, rounds: int, chance: random.Random) -> None:
    images = set(docker("images", "--all", "--quiet", "--no-trunc").split())
    try:
        trial.build(stack)
        if rounds:
            trial.start(stack)
            trial.load(stack)
            for number in range(1, rounds + 1):
                trial.run_round(stack, number, chance)
        else:
            for step in STEPS:
                step(stack)
    finally:
        clean_up(stack, images)


def clean_up(stack: Stack, images: set[str]) -> None:
    """Remove the project, and what its build made. Raises Failed if something is left."""
    stack.compose("down", "--volumes", "--remove-orphans")
    docker("rmi", IMAGE)
    dangling = docker("images", "--quiet", "--no-trunc", "--filter", "dangling=true").split()
    for image in set(dangling) - images:
        docker("rmi", image)
    remains = {kind: names for kind, names in stack.remains().items() if names}
    if remains:
        raise Failed(f"this is left behind: {remains}")
    trial.say("down: no container, volume or network is left")


if __name__ == "__main__":
    main()
