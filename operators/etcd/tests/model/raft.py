"""An etcd cluster without processes: who has a vote, who is up, and how much of the log is on whose disk.

There is one log, of what has been committed, and each data directory has a beginning of it. A member acts on the
list of members in the part that it has. So a vote that is given without a memory does here what it does in life:
members elect a leader that never heard of what was acknowledged, and it is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from etcd_operator.etcd import EtcdError, Member
from etcd_operator.world import quorum

CONNECTED_FOR = 5.0
"""Members are added only if all voters have been connected for so many seconds."""
REMOVED = '{"level":"warn","msg":"server error","error":"the member has been permanently removed from the cluster"}'
NOT_NAMED = '{"level":"fatal","msg":"discovery failed","error":"couldn\'t find local name in the initial cluster"}'
UNEQUAL = '{"level":"fatal","msg":"discovery failed","error":"error validating peerURLs: member count is unequal"}'
DAMAGED = '{"level":"fatal","msg":"failed to read WAL","error":"walpb: crc mismatch"}'
FORGETFUL = '{"level":"panic","msg":"tocommit(9) is out of range [lastIndex(0)]. Was the raft log corrupted?"}'


@dataclass
class Data:
    """What is in a data directory."""

    member: str
    index: int = 0
    """How many entries of the log."""
    damaged: bool = False


@dataclass(eq=False)
class Process:
    """A member that runs."""

    data: Data
    url: str
    name: str
    version: str
    since: float
    last_words: str = ""
    """Not empty if it has ended."""
    frozen: bool = False
    """Whether it hangs, with all its data: it says nothing, hears nothing, and has no vote meanwhile."""
    follows: str = ""
    """The id of who leads, as far as it has heard."""
    term: int = 0
    """And in which term."""


@dataclass(frozen=True)
class Write:
    """Something that was acknowledged to a client."""

    value: int


Config = tuple[Member, ...]


@dataclass
class Raft:
    """All members, and what they agreed upon."""

    now: float = 0.0
    log: list[Config | Write] = field(default_factory=list)
    up: list[Process] = field(default_factory=list)
    leader: str = ""
    term: int = 1
    lost: list[int] = field(default_factory=list)
    """Writes that were acknowledged and are gone."""
    rejoined: list[str] = field(default_factory=list)
    """Voters that came back as who they were, without their memory."""
    progress: dict[str, int] = field(default_factory=dict)
    """How far the leader believes each member to be."""
    missed: dict[str, float] = field(default_factory=dict)
    """Since when a member does not follow the leader that is there. Nobody is in it while nobody leads."""
    made: int = 0

    def config(self, index: int | None = None) -> Config:
        """The members, as of an entry; the newest, if nothing is said."""
        entries = self.log if index is None else self.log[:index]
        return next((each for each in reversed(entries) if not isinstance(each, Write)), ())

    def voters(self) -> list[Member]:
        """Those that have a vote."""
        return [each for each in self.config() if not each.learner]

    def at_work(self, member: str) -> Process | None:
        """A member's process, if it is up and does not hang."""
        return next((each for each in self.awake() if each.data.member == member), None)

    def awake(self) -> list[Process]:
        """The processes that do something."""
        return [each for each in self.up if not each.frozen]

    # How members start and end

    def start(self, data: Data | None, name: str, url: str, version: str, told: tuple[str, str]) -> Data | str:
        """Start a member on a data directory; returns the directory, or what it said when it gave up."""
        if data is not None and data.damaged:
            return DAMAGED
        if data is None:
            begun = self._begin(name, url, told)
            if isinstance(begun, str):
                return begun
            data = begun
        self.up.append(Process(data, url, name, version, self.now))
        return data

    def _begin(self, name: str, url: str, told: tuple[str, str]) -> Data | str:
        state, initial = told
        urls = dict(each.split("=") for each in initial.split(","))
        if urls.get(name) != url:
            return NOT_NAMED
        if state == "new":
            self.lost += [each.value for each in self.log if isinstance(each, Write)]
            self.log, self.leader, self.up = [(Member(self._identity(), name, url, learner=False),)], "", []
            return Data(self.config()[0].id, 1)
        if set(urls.values()) != {each.peer_url for each in self.config()}:
            return UNEQUAL
        mine = next(each for each in self.config() if each.peer_url == url)
        if self.progress.get(mine.id):
            if mine.learner:
                return FORGETFUL
            self.rejoined.append(mine.id)
        return Data(mine.id, 0)

    def _identity(self) -> str:
        self.made += 1
        return f"{0xA000 + self.made:x}"

    def end(self, process: Process, words: str) -> None:
        """A process ends."""
        process.last_words = words
        self.up = [each for each in self.up if each is not process]
        if self.leader == process.data.member:
            self.leader = ""
        self._note_who_follows()

    def freeze(self, process: Process) -> None:
        """A process hangs from now on. The others find that out."""
        process.frozen = True
        self.elect()

    def thaw(self, process: Process) -> None:
        """It goes on, and finds that it has not heard of a leader for long. If it makes a quorum, there is one now."""
        process.frozen, process.follows = False, ""
        self.elect()

    def pause(self, seconds: float, *, unseen: float) -> None:
        """Everything hangs, whoever looks on included. Nobody can be missed meanwhile but for what nobody can see."""
        self.now += seconds
        for member in self.missed:
            self.missed[member] += max(seconds - unseen, 0)

    # How they agree

    def turn(self) -> None:
        """Time for the members to elect, to catch up, to tell their names, and to hear that they were removed."""
        self.elect()
        if not self.leader:
            return
        for process in self.awake():
            self._catch_up(process)
        for each in self.config():
            running = self.at_work(each.id)
            if running is not None and each.name != running.name:
                self._commit(_changed(self.config(), replace(each, name=running.name)))
        members = {each.id for each in self.config()}
        for process in [each for each in self.awake() if each.data.member not in members]:
            self.end(process, REMOVED)
        for process in self.awake():
            process.follows, process.term = self.leader, self.term
        self._note_who_follows()

    def _note_who_follows(self) -> None:
        following = {each.data.member for each in self.awake() if each.follows == self.leader}
        for member in [each for each in self.missed if not self.leader or each in following]:
            del self.missed[member]
        if self.leader:
            for each in self.config():
                if each.id not in following:
                    self.missed.setdefault(each.id, self.now)

    def elect(self) -> None:
        """Have a leader, if there can be one."""
        now = self.at_work(self.leader)
        if now is None or not self._can_lead(now):
            self._elect_another()
        self._note_who_follows()

    def _elect_another(self) -> None:
        self.leader = ""
        for process in self.awake():
            process.follows = ""
        able = [each for each in self.awake() if self._can_lead(each)]
        if not able:
            return
        best = max(able, key=lambda each: each.data.index)
        self.lost += [each.value for each in self.log[best.data.index :] if isinstance(each, Write)]
        del self.log[best.data.index :]
        self.leader, self.term = best.data.member, self.term + 1
        for process in self._granted(best):
            process.follows, process.term = self.leader, self.term

    def _can_lead(self, candidate: Process) -> bool:
        voters = [each.id for each in self.config(candidate.data.index) if not each.learner]
        return candidate.data.member in voters and len(self._granted(candidate)) >= quorum(len(voters))

    def _granted(self, candidate: Process) -> list[Process]:
        voters = [each.id for each in self.config(candidate.data.index) if not each.learner]
        able = [each for each in self.awake() if each.data.index <= candidate.data.index]
        return [each for each in able if each.data.member in voters]

    def _catch_up(self, process: Process) -> None:
        if process.data.member in {each.id for each in self.config()}:
            process.data.index = self.progress[process.data.member] = len(self.log)

    def _commit(self, entry: Config | Write, *, first: int = 0) -> None:
        """Have an entry on the disks of a quorum, and of no more; `first` turns the order in which they are chosen."""
        voters = self.voters()
        chosen = [each for each in map(self.at_work, (each.id for each in voters)) if each is not None]
        if len(chosen) < quorum(len(voters)):
            raise EtcdError("request timed out")
        turned = chosen[first % len(chosen) :] + chosen[: first % len(chosen)]
        leading = sorted(turned, key=lambda each: each.data.member != self.leader)
        for process in leading[: quorum(len(voters))]:
            self._catch_up(process)
            process.data.index = self.progress[process.data.member] = len(self.log) + 1
        self.log.append(entry)

    # What members can be asked for

    def need_leader(self) -> None:
        """Refuse if nobody leads."""
        self.elect()
        if not self.leader:
            raise EtcdError("no leader")

    def write(self, value: int, *, first: int) -> None:
        """Acknowledge something to a client."""
        self.need_leader()
        self._commit(Write(value), first=first)

    def add_learner(self, url: str) -> None:
        """Have a member join without a vote."""
        self.need_leader()
        if any(each.peer_url == url for each in self.config()):
            raise EtcdError("Peer URLs already exists")
        if any(each.learner for each in self.config()):
            raise EtcdError("too many learner members in cluster")
        for voter in self.voters():
            process = self.at_work(voter.id)
            if process is None or self.now - process.since < CONNECTED_FOR:
                raise EtcdError("unhealthy cluster")
        self._commit((*self.config(), Member(self._identity(), "", url, learner=True)))

    def promote(self, member: str) -> None:
        """Give a learner its vote."""
        self.need_leader()
        learner = self._listed(member)
        if not learner.learner:
            raise EtcdError("can only promote a learner member")
        if self.progress.get(member) != len(self.log):  # whether it is up is not asked
            raise EtcdError("can only promote a learner member which is in sync with leader")
        self._commit(_changed(self.config(), replace(learner, learner=False)))

    def remove(self, member: str) -> None:
        """Have a member leave."""
        self.need_leader()
        leaving, voters = self._listed(member), self.voters()
        up = [each for each in voters if self.at_work(each.id) is not None]
        if not leaving.learner and len(voters) == 1:
            raise EtcdError("re-configuration failed due to not enough started members")
        if leaving in up and not leaving.learner and len(up) - 1 < quorum(len(voters) - 1):
            raise EtcdError("unhealthy cluster")
        self._commit(tuple(each for each in self.config() if each.id != member))
        if self.leader == member:
            self.leader = ""
        self._note_who_follows()

    def move_leadership(self, member: str) -> None:
        """Have another voter lead."""
        self.need_leader()
        heir = self.at_work(member)
        if heir is None or self._listed(member).learner:
            raise EtcdError("request timed out, leader transfer took too long")
        self._catch_up(heir)
        self.leader, self.term = member, self.term + 1
        for process in self.awake():
            process.follows, process.term = self.leader, self.term
        self._note_who_follows()

    def _listed(self, member: str) -> Member:
        for each in self.config():
            if each.id == member:
                return each
        raise EtcdError("member not found")


def _changed(config: Sequence[Member], new: Member) -> Config:
    return tuple(new if each.id == new.id else each for each in config)
