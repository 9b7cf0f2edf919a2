"""Start the containers, and report what they do: `make containers`.

The image is built. One node is started without data, searched, loaded and killed; then three nodes, one of
which is killed during searches. `--quick` starts three nodes at once, with few articles. `--rounds N` kills a
random container N times instead.

Only fetched images are left behind. Takes some ten minutes, with `--quick` four.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.containers import trial
from tools.containers.daemon import NoDaemon, hold_daemon, make_images
from tools.containers.stack import Failed, Stack, compose_program, docker

Step = Callable[[Stack], None]
NO_DAEMON = 3
"""The exit status if no containers can be started."""
STEPS: tuple[Step, ...] = (
    trial.start,
    trial.load,
    trial.kill_page,
    trial.kill_elasticsearch,
    trial.down_and_up,
    trial.back_up,
    trial.grow,
    trial.lose_a_node,
)
QUICK_STEPS: tuple[Step, ...] = (
    trial.start_three,
    trial.load_with_copies,
    trial.kill_page,
    trial.lose_a_node,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=0, help="kill something at random so often")
    parser.add_argument("--seed", type=int, default=0, help="of what is killed")
    parser.add_argument("--few", action="store_true", help="small nodes, and first examples/ for news")
    parser.add_argument("--quick", action="store_true", help="three nodes at once, with few articles")
    arguments = parser.parse_args()
    steps = QUICK_STEPS if arguments.quick else STEPS
    few = arguments.few or arguments.quick
    try:
        with hold_daemon() as address, tempfile.TemporaryDirectory(prefix="esr-containers-") as folder:
            trial.say(f"daemon {docker('version', '--format', '{{.Server.Version}}')} {address}")
            trial.say(f"compose is {' '.join(compose_program())}")
            make_images()
            stack = Stack(Path(folder), f"esr-trial-{secrets.token_hex(3)}", few)
            try_containers(stack, steps, arguments.rounds, random.Random(arguments.seed))
    except NoDaemon as error:
        print(f"containers: {error}", file=sys.stderr)
        sys.exit(NO_DAEMON)
    except Failed as error:
        sys.exit(f"containers: {error}")
    trial.say("all of it went well")


def try_containers(stack: Stack, steps: Sequence[Step], rounds: int, chance: random.Random) -> None:
    images = set(docker("images", "--all", "--quiet", "--no-trunc").split())
    try:
        trial.build(stack)
        if rounds:
            trial.start(stack)
            trial.load(stack)
            for number in range(1, rounds + 1):
                trial.run_round(stack, number, chance)
        else:
            for step in steps:
                step(stack)
    except Failed as error:
        trial.say(f"failed: {error}\n{stack.last_lines()}")
        raise
    finally:
        clean_up(stack, images)


def clean_up(stack: Stack, images: set[str]) -> None:
    """Remove the project and its new images. Raises Failed if something is left."""
    stack.compose("down", "--volumes", "--remove-orphans")
    docker("rmi", stack.image)
    dangling = docker("images", "--quiet", "--no-trunc", "--filter", "dangling=true").split()
    for image in set(dangling) - images:
        docker("rmi", "--force", image)  # another build may have removed it
    remains = {kind: names for kind, names in stack.remains().items() if names}
    if remains:
        raise Failed(f"this is left behind: {remains}")
    trial.say("down: no container, volume or network is left")


if __name__ == "__main__":
    main()
