"""Subjects grouped by what they have in common: the memory they use, or the object that they are."""

from collections.abc import Callable, Iterator

from harness.trace import is_transient


class Groups:
    """Which subjects were seen at which key."""

    __slots__ = ("key_of", "members")

    def __init__(self) -> None:
        self.members: dict[int, list[str]] = {}  # key: the subjects that were seen there
        self.key_of: dict[str, int] = {}  # subject: where it was seen last

    def others(self, key: int, subject: str, is_there: Callable[[int, str], bool]) -> tuple[str, ...]:
        """The other subjects that are at this key, if they still are; the subject is noted to be there."""
        before = self.key_of.get(subject)
        if before != key:
            if before is not None:
                self.leave(subject)
            group = self.members.get(key)
            if is_transient(subject):
                if group is None:
                    return ()
            elif group is None:
                self.key_of[subject], self.members[key] = key, [subject]
                return ()
            else:
                self.key_of[subject] = key
                group.append(subject)
        else:
            group = self.members[key]
            if len(group) == 1:
                return ()
        for other in tuple(group):
            if other != subject and not is_there(key, other):
                self.leave(other)
        return tuple(sorted([other for other in group if other != subject]))

    def leave(self, subject: str) -> None:
        """Note that a subject is no longer where it was."""
        self.members[self.key_of.pop(subject)].remove(subject)

    def at(self, key: int) -> tuple[str, ...]:
        """The subjects that were seen at this key."""
        return tuple(self.members.get(key, ()))

    def shared(self) -> Iterator[tuple[str, ...]]:
        """The groups of more than one subject."""
        return (tuple(group) for group in list(self.members.values()) if len(group) > 1)

    def clear(self) -> None:
        self.members.clear()
        self.key_of.clear()
