"""`windvane image`: which program of this machine runs for a pod's image. No image is ever pulled."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cluster.instance import images_file

if TYPE_CHECKING:
    from windvane.cluster.node.process.images import Images

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

ABOUT = """\
The pods of a cluster of windvane are processes of this machine: a program stands for each image. An image of
which nothing is known is simulated. What you say here holds for all clusters, from the next start of a container on."""

ADD = """\
Say which program runs for an image:

  windvane image add web:1 -- python -m http.server --bind '$(WINDVANE_POD_IP)' 8080

Its words are what an image's entrypoint is: a pod's own command takes their place, its args come after them. $(NAME) is
replaced by the pod's variables; WINDVANE_POD_IP is the address that the program should listen on. A name without a tag
means all tags, and * any text.

For an image that has several programs, name the directory that they are in:

  windvane image add quay.io/coreos/etcd:v3.4.23 --programs ~/etcd-3.4.23/usr/bin

A pod whose command is [etcd, ...] or [/usr/local/bin/etcd, ...] then runs the etcd in there, one whose command is
[etcdctl, ...] runs that, and so on. There is no entrypoint unless words after -- are one."""
USAGE = "windvane image add [-h] NAME:TAG [--programs DIRECTORY] [-- PROGRAM [ARGUMENT ...]]"


def add_to(groups: "Groups") -> None:
    """Add `image` and its subcommands."""
    parser = groups.add_parser("image", help="which program runs for an image", description=ABOUT)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    raw = argparse.RawDescriptionHelpFormatter
    add = commands.add_parser(
        "add", help="say which program runs for an image", usage=USAGE, description=ADD, formatter_class=raw
    )
    add.add_argument("image", metavar="NAME:TAG")
    words = add.add_argument("program", nargs="+", metavar="PROGRAM", help="the program and its arguments, after --")
    words.required = False  # not nargs="*": that would be done with at once, and find nothing after an option
    add.add_argument("--programs", type=Path, metavar="DIRECTORY", help="where the programs of the image are")
    add.set_defaults(run=_add)
    show = commands.add_parser("list", help="show all images that have a program, the first that fits counts")
    show.set_defaults(run=_list)
    remove = commands.add_parser("remove", help="forget what you said about an image")
    remove.add_argument("image", metavar="NAME:TAG")
    remove.set_defaults(run=_remove)


def _images() -> "Images":
    from windvane.cluster.node.process.images import Images

    return Images(images_file(os.environ))


def _add(options: argparse.Namespace) -> int:
    if options.program is None and options.programs is None:
        sys.stderr.write(f"windvane: say what runs for {options.image}: -- PROGRAM, or --programs DIRECTORY\n")
        return 2
    try:
        program = _images().add(options.image, options.program or [], options.programs)
        sys.stdout.write(f"{options.image} is {program.about}\n")
    except ValueError as error:
        return _failed(error)
    return 0


def _list(options: argparse.Namespace) -> int:
    del options
    try:
        rows = [("IMAGE", "FROM", "PROGRAM")]
        rows += [(each.image, each.source, each.about) for each in _images()]
    except ValueError as error:
        return _failed(error)
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for image, source, command in rows:
        sys.stdout.write(f"{image:{wide[0]}}   {source:{wide[1]}}   {command}\n")
    return 0


def _remove(options: argparse.Namespace) -> int:
    try:
        there = _images().remove(options.image)
    except ValueError as error:
        return _failed(error)
    if not there:
        return _failed(f"nothing was said about {options.image}: see `windvane image list`, those that are from you")
    sys.stdout.write(f"{options.image} is forgotten\n")
    return 0


def _failed(words: object) -> int:
    sys.stderr.write(f"windvane: {words}\n")
    return 1
