"""A program of its own that runs one container: it makes the container's surroundings, starts it, and leaves nothing.

    python -I -S launcher.py run FD      told over a socket what to run; see `LaunchSpec` in launch.py
    python -I -S launcher.py enter FD    runs a command beside a container that is there
    python -I -S launcher.py check DIR   says what surroundings this system allows

    agent ──socket──▶ launcher ──▶ init (pid 1 of its namespace) ──▶ the container's program

If the socket ends, because the agent asked for it or was killed, everything ends. Where namespaces are allowed the
kernel sees to that: whatever the program has started, even if it tried to get away, dies with init. Where they are not,
the launcher adopts what is orphaned below it, and kills that.

Only the standard library is used here, and as little of it as possible: this starts once for each container.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to import than all else here
    from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x04000000, 0x10000000, 0x20000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
MS_KEPT = 2 | 4 | 8 | 1024 | 2048  # nosuid, nodev, noexec, noatime, nodiratime
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CAN_NOT_START = 128
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> None:
    """Raise what the C library says went wrong."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2)."""
    encoded = [os.fsencode(each) if each is not None else None for each in (source, target, kind, data)]
    checked(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]), f"mount {target}")


def die_with_parent() -> None:
    """Be killed when the parent ends, however it does."""
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


# Surroundings


def unshare(isolation: str) -> None:
    """Have new namespaces for the processes that are forked from now on; init itself leaves the others."""
    uid, gid = os.getuid(), os.getgid()
    checked(libc.unshare(CLONE_NEWPID | (CLONE_NEWUSER if isolation == "user" else 0)), "unshare")
    if isolation == "user":
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{uid} {uid} 1")
        write("/proc/self/gid_map", f"{gid} {gid} 1")


def join(pid: int, isolation: str) -> None:
    """Have the processes that are forked from now on be among those of another container."""
    kinds = ("user", "pid") if isolation == "user" else ("pid",)
    enter_namespaces(pid, kinds)


def enter_namespaces(pid: int, kinds: tuple[str, ...]) -> None:
    """Be in the namespaces of another process."""
    for handle in [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in kinds]:
        checked(libc.setns(handle, 0), "setns")
        os.close(handle)


def write(path: str, text: str) -> None:
    """Write a file at once."""
    with open(path, "w") as file:
        file.write(text)


def note(path: str, text: str) -> None:
    """Write a file that the next agent reads if this one is killed. It is not worth a container."""
    try:
        write(path, text)
    except OSError:
        pass


def make_root(directory: str, isolation: str) -> str:
    """A file system that looks like the system's, where whatever is written stays in `directory`.

    Each top-level directory is an overlay over the system's own, or where that is not possible the system's own itself:
    those that have other file systems below them, for a user that is not root.
    """
    root = os.path.join(directory, "root")
    os.makedirs(root, exist_ok=True)
    checked(libc.unshare(CLONE_NEWNS | CLONE_NEWUTS), "unshare")
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount("windvane", root, "tmpfs", 0, "mode=755")
    for name in os.listdir("/"):
        source, target = f"/{name}", f"{root}/{name}"
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
        elif os.path.isdir(source):
            os.mkdir(target)
            if name == "dev":
                make_devices(target)
            elif name in ("proc", "sys"):
                mount(source, target, None, MS_BIND | MS_REC)
            else:
                overlay(source, target, directory, name, isolation)
    try:
        mount("proc", f"{root}/proc", "proc")
    except OSError:
        pass  # the system's own does, too: it tells more than it should, but nothing wrong
    return root


def make_devices(target: str) -> None:
    """A /dev with what every program expects, and nothing else of the machine's."""
    mount("windvane", target, "tmpfs", 0, "mode=755")
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"):
        if os.path.exists(f"/dev/{name}"):
            write(f"{target}/{name}", "")
            mount(f"/dev/{name}", f"{target}/{name}", None, MS_BIND)
    if os.path.isdir("/dev/pts"):
        os.mkdir(f"{target}/pts")
        mount("/dev/pts", f"{target}/pts", None, MS_BIND | MS_REC)
    os.mkdir(f"{target}/shm")
    mount("windvane", f"{target}/shm", "tmpfs", 0, "mode=1777")
    for name, to in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{to}", f"{target}/{name}")


def overlay(source: str, target: str, directory: str, name: str, isolation: str) -> None:
    """Show `source` at `target`, with what is written there kept apart."""
    upper, work = f"{directory}/upper/{name}", f"{directory}/work/{name}"
    os.makedirs(upper, exist_ok=True)
    os.makedirs(work, exist_ok=True)
    there = os.stat(source)
    # A program may be below a directory that only root may enter, such as a Python in /root, and its container run as
    # another user. To enter is not to list; and what is secret in there has a mode of its own.
    os.chmod(upper, there.st_mode & 0o7777 | 0o111)  # noqa: S103 - in the container's view only
    if isolation == "root":
        os.chown(upper, there.st_uid, there.st_gid)
    options = f"lowerdir={source},upperdir={upper},workdir={work}"
    try:
        mount("overlay", target, "overlay", 0, options + (",userxattr" if isolation == "user" else ""))
    except OSError:
        mount(source, target, None, MS_BIND | MS_REC)
        shared.append(target)


shared: list[str] = []
"""The directories that are the system's own: nothing may be made there."""


def put(root: str, each: Any) -> None:
    """Show a file or a directory at its place in the container."""
    source, target = each["source"], resolved(root, each["target"])
    if each.get("part"):
        source = f"/proc/self/fd/{opened(source, each['part'])}"
    try:
        if not os.path.exists(target) and any(target.startswith(f"{place}/") for place in shared):
            raise PermissionError
        make_place(target, os.path.isdir(source))
    except OSError:
        reproduce(existing_above(target))
        make_place(target, os.path.isdir(source))
    mount(source, target, None, MS_BIND | MS_REC)
    if each.get("read_only"):
        kept = os.statvfs(target).f_flag & MS_KEPT  # in a user namespace, these can't be taken back
        mount(source, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | kept)


def opened(source: str, part: str) -> int:
    """A handle of a part of a volume. No link is followed: a container may have put one on the way."""
    handle = os.open(source, os.O_PATH)
    for name in part.split("/"):
        inner = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=handle)
        os.close(handle)
        handle = inner
        if os.fstat(handle).st_mode & 0o170000 == 0o120000:
            raise OSError(f"{part} has become a link")
    return handle


def make_place(target: str, directory: bool) -> None:
    """Have something at `target` that can be mounted over."""
    if directory:
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write(target, "")


def existing_above(path: str) -> str:
    """The nearest directory above `path` that is there."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def reproduce(directory: str) -> None:
    """Put a writable likeness in place of a directory that belongs to another user, with all that is in it."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    names = os.listdir(handle)
    mount("windvane", directory, "tmpfs", 0, "mode=755")
    for name in names:
        source, target = f"/proc/self/fd/{handle}/{name}", f"{directory}/{name}"
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
            continue
        make_place(target, os.path.isdir(source))
        try:
            mount(source, target, None, MS_BIND | MS_REC)
        except OSError:
            pass  # what can't even be shown was of no use to this user before
    os.close(handle)


def resolved(root: str, path: str) -> str:
    """Where a path of the container is, with the links on the way followed inside of it."""
    parts, place = [each for each in path.split("/") if each], root
    for _ in range(1000):
        if not parts:
            break
        step = f"{place}/{parts.pop(0)}"
        if os.path.islink(step):
            to = os.readlink(step)
            parts = [each for each in to.split("/") if each] + parts
            place = root if to.startswith("/") else place
        elif step.endswith("/.."):
            place = root if place == root else os.path.dirname(place)
        else:
            place = step
    return place


def move_in(root: str) -> None:
    """Make `root` the root of this process, and forget the old one."""
    os.chdir(root)
    checked(libc.pivot_root(b".", b"."), "pivot_root")
    checked(libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")


# Running


def become(spec: Any) -> str:
    """Become the program; returns only if that is not possible, with the reason."""
    try:
        for number in (*FORWARDED, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.setsid()
        if spec.get("tty"):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C and a change of size reach the foreground process
        if spec.get("groups") is not None:
            os.setgroups(spec["groups"])
        if spec.get("gid") is not None:
            os.setgid(spec["gid"])
        if spec.get("uid") is not None:
            os.setuid(spec["uid"])
        die_with_parent()  # after the above, which undo it
        os.umask(0o022)
        os.chdir(spec.get("cwd") or "/")
        os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
    except FileNotFoundError as error:
        if error.filename == spec.get("cwd"):
            return f"the working directory {spec['cwd']} is not there"
        return f'exec: "{spec["argv"][0]}": executable file not found in $PATH'
    except OSError as error:
        return f'exec: "{spec["argv"][0]}": {error.strerror}'
    except ValueError as error:  # a null byte in a word or a variable
        return f'exec: "{spec["argv"][0]}": {error}'


def spawn(spec: Any, told: int) -> int:
    """Start the program; its pid. Why it could not be started is written to `told`."""
    pid = os.fork()
    if pid == 0:
        words = become(spec)
        os.write(told, words.encode())
        os._exit(CAN_NOT_START)
    return pid


def be_init(spec: Any, told: int) -> NoReturn:
    """Be pid 1 of the container: make its surroundings, start its program, and end with it.

    A container that is among the processes of another has one, too, with another pid: whatever it orphans comes here.
    """
    die_with_parent()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        root = make_root(spec["directory"], spec["isolation"])
        for each in spec["mounts"]:
            put(root, each)
        move_in(root)
        name = os.fsencode(spec["hostname"])
        libc.sethostname(name, len(name))
    except OSError as error:
        os.write(told, f"surroundings: {error}".encode())
        os._exit(CAN_NOT_START)
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)  # until we can pass them on: the kernel would drop them
    program = spawn(spec, told)
    os.close(told)
    for number in FORWARDED:
        signal.signal(number, lambda number, _: os.kill(program, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    while True:
        pid, status = os.wait()
        if pid == program:
            # Among the processes of another container, nothing else ends what is left. It is found in /proc, if that
            # shows the same processes as we see.
            if os.getpid() != 1 and os.readlink("/proc/self") == str(os.getpid()):
                sweep()
            os._exit(exit_code(status))  # the kernel kills whatever else is in a namespace of its own


def exit_code(status: int) -> int:
    """How shells and container runtimes tell it: 128 and the signal, if there was one."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def children(pid: int) -> list[int]:
    """All processes that descend from one."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def sweep() -> None:
    """Kill everything below this process, and wait until it is gone."""
    while True:
        for pid in children(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.wait()
        except ChildProcessError:
            return


def supervise(control: socket.socket) -> None:
    """Run a container until it ends, or the agent does."""
    spec, rest = read_spec(control)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    heard, told = os.pipe()
    try:
        for cgroup in spec.get("cgroups", ()):
            write(f"{cgroup}/cgroup.procs", str(os.getpid()))
        if spec["isolation"] != "none":
            if spec.get("among"):
                join(spec["among"], spec["isolation"])
            else:
                unshare(spec["isolation"])
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                be_init(spec, told)
        else:
            child = spawn(spec, told)
    except OSError as error:
        say(control, f"failed {error}")
        return
    os.close(told)
    if words := read_all(heard):
        say(control, "failed " + words.replace("\n", " "))
        sweep()
        return
    note(f"{spec['directory']}/begun", "")
    say(control, f"started {child}")
    follow(control, child, wake, rest, spec)


def follow(control: socket.socket, child: int, wake: int, rest: bytes, spec: Any) -> None:
    """Pass on what the agent says, until the container has ended. How it did, by itself, is written to a file."""
    asked = False
    while True:
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            asked = True
            # Among the processes of another container, what one that is killed has started would outlive it.
            below = children(child) if spec.get("among") and int(line) == signal.SIGKILL else []
            for pid in (child, *below):
                try:
                    os.kill(pid, int(line))
                except ProcessLookupError:
                    pass
        ready, _, _ = select.select([control.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            code = reap(child)
            if code is not None:
                sweep()
                if not asked:
                    note(f"{spec['directory']}/ended", str(code))
                say(control, f"exited {code}")
                return
        if control.fileno() in ready:
            said = control.recv(4096)
            if not said:  # the agent is gone
                sweep()
                return
            rest += said


def reap(child: int) -> int | None:
    """Take note of what has ended; the exit code of the container, if it has."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return CAN_NOT_START
        if pid == child:
            return exit_code(status)
        if pid == 0:
            return None


def say(control: socket.socket, words: str) -> None:
    """Tell the agent, if it is there."""
    try:
        control.sendall(words.encode() + b"\n")
    except OSError:
        pass


def read_spec(control: socket.socket) -> tuple[Any, bytes]:
    """What to run, and what else was said already."""
    said = b""
    while b"\n" not in said:
        more = control.recv(65536)
        if not more:
            sys.exit(0)
        said += more
    line, rest = said.split(b"\n", 1)
    return json.loads(line), rest


def read_all(heard: int) -> str:
    """Everything that comes until the other end is closed."""
    said = b""
    while more := os.read(heard, 65536):
        said += more
    return said.decode(errors="replace")


def enter(control: socket.socket) -> NoReturn:
    """Run a command beside a container, in its surroundings."""
    spec, _ = read_spec(control)
    die_with_parent()
    if spec["isolation"] != "none":
        kinds = ("mnt", "uts", "pid")
        enter_namespaces(spec["pid"], ("user", *kinds) if spec["isolation"] == "user" else kinds)
    elif hasattr(libc, "prctl"):
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # no namespace holds what the command leaves behind, so we do
    child = os.fork()
    if child == 0:
        words = become(spec)
        os.write(2, words.encode() + b"\n")
        os._exit(126)
    _, status = os.waitpid(child, 0)
    if spec["isolation"] == "none":
        sweep()
    sys.exit(exit_code(status))


def check(directory: str) -> str:
    """Say which of the ways to isolate a container this system allows: root, user or none."""
    for isolation in ("root", "user") if os.getuid() == 0 else ("user",):
        pid = os.fork()
        if pid == 0:
            try:
                unshare(isolation)
                inner = os.fork()
                if inner == 0:
                    move_in(make_root(directory, isolation))
                    os._exit(0)
                os._exit(exit_code(os.waitpid(inner, 0)[1]))
            except (OSError, AttributeError):
                os._exit(1)
        if os.waitpid(pid, 0)[1] == 0:
            return isolation
    return "none"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", directory]:
            sys.stdout.write(check(directory))
        case [verb, handle]:
            control = socket.socket(fileno=int(handle))
            control.set_inheritable(False)
            os.setsid()  # Ctrl-C is for the agent, which asks containers to end before they are made to
            if verb == "enter":
                enter(control)
            supervise(control)
