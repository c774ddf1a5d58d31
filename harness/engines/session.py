"""A session: one run of one program on one engine, observed after each statement.

look       how closely a run is observed:
           FULL   every fact of every live tensor after every statement (cases; confirming a difference)
           QUICK  after a statement only what it can have changed, and at the end what shares memory
           END    nothing until the end, then everything: reading can change a program, so this is the control
"""

import builtins
import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from harness import facts
from harness.engines.groups import Groups
from harness.facts import FACTS, POSITION, SKIP, full_snapshot, plain, snapshot, with_fresh_grad
from harness.outcome import DONE, Raised, canonical_kind, clean_message, clean_text
from harness.program import Compiled, Program
from harness.trace import ABSENT

if TYPE_CHECKING:
    from harness.engines.base import Engine

FULL, QUICK, END = "full", "quick", "end"

SHARES = POSITION["shares"]
VERSION, REQUIRES_GRAD = POSITION["version"], POSITION["requires_grad"]
IS_LEAF, RETAINS_GRAD = POSITION["is_leaf"], POSITION["retains_grad"]
WIDTH = len(FACTS)
# Names that are no variables of the program; `_` holds what nobody wants to see.
HIDDEN = frozenset(
    (
        "__builtins__",
        "__name__",
        "__file__",
        "print",
        "_",
        "__warningregistry__",
        "__annotations__",
        "__doc__",
    )
)
# Variables of these types are never looked into.
OPAQUE = frozenset((ModuleType, FunctionType, BuiltinFunctionType, type))
# Where one of these words stands in a program, reading a saved tensor may call the program's own hooks.
UNPACK_WORDS = (
    "saved_tensors_hooks",
    "save_on_cpu",
    "register_hooks",
    "checkpoint",
    "allow_mutation_on_saved",
)
# Where one of these words stands in a program, its tensors may have a `__torch_function__`.
RULE_WORDS = ("__torch_function__", "Lazy", "Uninitialized")


class OutOfTime(BaseException):
    """Raised into a program that runs for too long; no program can catch it as an Exception."""


class Missing(ImportError):
    """A module of torch that the engine lacks."""


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect cycles between programs, not in the middle of one: what dies when is the same each time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Session:
    """One run of one program: its variables, what was seen of them, and what is new after each statement."""

    def __init__(self, engine: "Engine", program: Program, look: str, warned: list[Any]):
        self.engine, self.look = engine, look
        self.tensor_type = engine.tensor_type
        self.memory_of: Callable[[Any], int] = engine.memory_of
        self.variables: dict[str, Any] = {
            "__builtins__": engine.builtins,
            "__name__": "__main__",
            "print": self.record_print,
        }
        if program.file:
            self.variables["__file__"] = program.file
        self.hidden = HIDDEN
        self.printed: list[str] = []
        self.warned = warned  # warnings put themselves here
        self.records: list[tuple[tuple, dict[str, tuple]]] = []
        self.known: dict[str, tuple] = {}  # subject: its last record
        self.paths: dict[str, tuple] = {}  # subject inside a container: variable, keys
        self.inside: dict[str, list[str]] = {}  # variable that holds tensors: the subjects in it
        self.storages = Groups()
        self.objects = Groups()
        self.missing: tuple[int, str] | None = None
        self.is_observing = False
        self.filename = f"{program.id}.py" if program.path is not None else "<program>"
        self.reads_saved = look != QUICK and not program.mentions(*UNPACK_WORDS)
        # The program's own classes are not to be called when its tensors are looked at.
        self.unseen = engine.unseen if program.mentions(*RULE_WORDS) else nullcontext

    # One statement ---------------------------------------------------------------------------------

    def run(self, steps: Iterable[Compiled], phases: Iterable[str]) -> None:
        """Execute every statement, whatever raises, and look after each as closely as wanted."""
        variables, warned, printed, records = self.variables, self.warned, self.printed, self.records
        is_quick, is_full = self.look == QUICK, self.look == FULL
        for step, phase in zip(steps, phases, strict=True):
            value = raised = None
            try:
                if step.is_expression:
                    value = eval(step.code, variables)  # type: ignore[arg-type]
                elif step.error is None:
                    exec(step.code, variables)  # type: ignore[arg-type]
                else:
                    raise step.error
            except (KeyboardInterrupt, OutOfTime):
                raise
            except BaseException as error:
                raised = self.raised(error, phase)
            seen: dict[str, tuple] = {}
            records.append(
                (DONE if raised is None and not warned and not printed else self.outcome(raised), seen)
            )
            with self.unseen():
                if is_full:
                    self.look_fully(seen)
                elif is_quick and raised is None:
                    self.look_quickly(step, seen)
                elif is_quick:
                    self.look_at_all(seen)
                if value is not None:
                    self.look_at_value(value, seen)
            if warned or printed:  # by looking, not by the program
                warned.clear()
                printed.clear()
        with self.unseen():
            self.finish()

    def raised(self, error: BaseException, phase: str) -> tuple:
        """The record of an exception; notes a name that the engine lacks."""
        if self.missing is None and (name := self.missing_name(error)):
            self.missing = (len(self.records), name)
        try:
            message = clean_message(str(error), self.filename)
        except Exception as second:  # an exception whose own __str__ raises
            message = f"<{type(second).__name__} while reading the message>"
        kind = type(error).__name__
        return tuple(Raised(canonical_kind(kind, message), phase, kind, message))

    def missing_name(self, error: BaseException) -> str | None:
        """What of torch's surface the engine lacks, if that is what this error says."""
        if isinstance(error, Missing):
            return error.name
        if isinstance(error, ImportError):
            root = getattr(self.engine.module, "__name__", "torch").partition(".")[0]
            ours = (error.name or "").partition(".")[0] in (root, "torch")
            return str(error).partition(" (")[0] if ours else None
        if isinstance(error, AttributeError):
            owner = error.obj
            if isinstance(owner, self.tensor_type):
                return f"Tensor.{error.name}"
            module = getattr(self.engine.module, "__name__", "torch")
            path = getattr(owner, "__name__", "") if owner is not None else ""
            if owner is self.engine.module or (isinstance(path, str) and path.startswith(f"{module}.")):
                return f"torch{path.removeprefix(module)}.{error.name}"
            return None
        if isinstance(error, NotImplementedError):
            return str(error) or "NotImplementedError"
        return None

    def outcome(self, raised: tuple | None) -> tuple:
        warned = tuple(
            (w.category.__name__, clean_message(str(w.message), self.filename))
            for w in self.warned
            if not issubclass(w.category, DeprecationWarning) or w.filename == self.filename
        )  # Python, too, shows a deprecation only to the script that can mend it
        printed = tuple(self.printed)
        self.warned.clear()
        self.printed.clear()
        return raised, warned, printed

    def record_print(
        self, *values: Any, sep: str | None = " ", end: str | None = "\n", file=None, flush=False
    ):
        """`print` of the program: keeps the text of a line instead of showing it."""
        if self.is_observing:
            return
        if file is not None:
            builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
            return
        text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
        self.printed.append(clean_text(text.removesuffix("\n")))

    # What to look at -------------------------------------------------------------------------------

    def look_quickly(self, step: Compiled, seen: dict[str, tuple]) -> None:
        """Look at what the statement binds; if it may write, at what it mentions and whose version moved."""
        variables, tensor_type, known, inside = self.variables, self.tensor_type, self.known, self.inside
        for name in step.binds:
            value = variables.get(name)
            if isinstance(value, tensor_type) and name not in inside and name != "_":
                known[name] = seen[name] = snapshot(value, self, name)
            else:
                self.observe(name, seen)
        if not step.has_effect:
            return
        if step.writes:
            for name in step.loads:
                if name in known or name in inside:
                    self.observe(name, seen)
        if step.reaches_anything:
            self.look_for_changes(seen)
            for name in list(inside):
                self.observe(name, seen)
        else:
            for record in list(seen.values()):
                if len(record) == WIDTH and record[SHARES]:
                    self.look_at_sharers(record[SHARES], seen)

    def look_at_sharers(self, subjects: tuple[str, ...], seen: dict[str, tuple]) -> None:
        """Look at the variables that may have been written through another one."""
        for subject in subjects:
            name = subject.partition(".")[0].partition("[")[0]
            if name not in seen:
                self.observe(name, seen)

    def look_for_changes(self, seen: dict[str, tuple]) -> None:
        """Look at variables whose version moved, and at the grads of those that can have one."""
        variables, known, paths = self.variables, self.known, self.paths
        for subject, record in list(known.items()):
            if len(record) != WIDTH or subject in seen or subject in paths:
                continue
            tensor: Any = variables.get(subject)
            try:
                is_changed = tensor._version != record[VERSION]
            except Exception:
                is_changed = True
            if is_changed:
                self.observe(subject, seen)
            elif record[REQUIRES_GRAD] and (record[IS_LEAF] or record[RETAINS_GRAD]):
                known[subject] = seen[subject] = with_fresh_grad(record, tensor, self, subject)

    def look_at_all(self, seen: dict[str, tuple]) -> None:
        for name in [*self.variables]:
            if name not in self.hidden:
                self.observe(name, seen)
        for name in [*self.known]:
            if name not in self.variables and name not in self.paths:
                self.observe(name, seen)

    def look_fully(self, seen: dict[str, tuple]) -> None:
        """Every fact of every variable; memory is registered first, so sharing is seen from both sides."""
        self.storages.clear()
        self.objects.clear()
        for subject, tensor in self.tensors():
            self.register(subject, tensor)
        self.is_observing = True
        fresh: dict[str, tuple] = {}
        before = dict(self.known)
        self.look_at_all(fresh)
        self.is_observing = False
        seen.update((k, v) for k, v in fresh.items() if k not in before or not identical(before[k], v))

    def finish(self) -> None:
        """The look at the end, kept as one more record."""
        seen: dict[str, tuple] = {}
        if self.look == END:
            self.look = FULL
            self.look_fully(seen)
            self.look = END
        elif self.look == QUICK:
            self.look_at_shared(seen)
        self.records.append((self.outcome(None) if self.printed or self.warned else DONE, seen))

    def look_at_shared(self, seen: dict[str, tuple]) -> None:
        """Look again at what shares its memory: only that can have changed without a sign."""
        for group in self.storages.shared():
            self.look_at_sharers(group, seen)

    # Looking ---------------------------------------------------------------------------------------

    def observe(self, name: str, seen: dict[str, tuple]) -> None:
        """Look at one variable; what it holds is looked at with it."""
        if name in self.hidden:
            return
        if name not in self.variables:
            if self.known.pop(name, None) is not None:
                seen[name] = ABSENT
            self.drop_inside(name, seen)
            return
        value = self.variables[name]
        if isinstance(value, self.tensor_type):
            if name in self.inside:
                self.drop_inside(name, seen)
            self.note(name, self.snapshot(value, name), seen)
            return
        self.observe_others(name, value, seen)

    def observe_others(self, name: str, value: Any, seen: dict[str, tuple]) -> None:
        """Look at a variable that is no tensor: a plain value, or something that holds tensors."""
        if type(value) in OPAQUE and name not in self.known and name not in self.inside:
            return
        data = plain(value)
        if data is not SKIP:
            self.drop_inside(name, seen)
            self.note(name, ("value", data), seen)
            return
        if self.known.pop(name, None) is not None:
            seen[name] = ABSENT
        parts = list(tensors_inside(value, self.tensor_type))
        if not parts and name not in self.inside:
            return
        subjects = [name + suffix for suffix, _, _ in parts]
        self.drop_inside(name, seen, keep=subjects)
        if parts:
            self.inside[name] = subjects
        for subject, (_, keys, tensor) in zip(subjects, parts, strict=True):
            self.paths[subject] = (name, *keys)
            self.note(subject, self.snapshot(tensor, subject), seen)

    def drop_inside(self, name: str, seen: dict[str, tuple], keep: list[str] | tuple = ()) -> None:
        """Forget the tensors that a variable no longer holds."""
        for subject in self.inside.pop(name, ()):
            if subject not in keep:
                self.known.pop(subject, None)
                self.paths.pop(subject, None)
                seen[subject] = ABSENT

    def note(self, subject: str, record: tuple, seen: dict[str, tuple]) -> None:
        self.known[subject] = seen[subject] = record

    def snapshot(self, tensor: Any, subject: str) -> tuple:
        if self.look == FULL:
            return full_snapshot(tensor, self, subject, self.reads_saved)
        return snapshot(tensor, self, subject)

    def look_at_value(self, value: Any, seen: dict[str, tuple]) -> None:
        """The value of a bare expression, as a prompt would show it."""
        if isinstance(value, self.tensor_type):
            name = self.name_of(value)
            seen["_"] = ("is", name) if name is not None else self.snapshot(value, "_")
            return
        data = plain(value)
        if data is not SKIP:
            seen["_"] = ("value", data)
            return
        for suffix, _, tensor in tensors_inside(value, self.tensor_type):
            seen["_" + suffix] = self.snapshot(tensor, "_" + suffix)

    # The scope of facts ----------------------------------------------------------------------------

    def resolve(self, subject: str) -> Any:
        """The live tensor behind a subject, or None."""
        if subject.endswith(".grad") and subject not in self.known:
            owner = self.resolve(subject[:-5])
            return owner.grad if owner is not None and (owner.is_leaf or owner.retains_grad) else None
        if subject in self.paths:
            name, *keys = self.paths[subject]
            found = self.variables.get(name)
            for key in keys:
                found = key(found) if found is not None else None
            return found
        found = self.variables.get(subject)
        return found if isinstance(found, self.tensor_type) else None

    def register(self, subject: str, tensor: Any) -> None:
        """Note a tensor's memory and identity before anything is read."""
        self.same(tensor, subject)
        try:
            self.sharing(self.memory_of(tensor), subject)
            if (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None:
                self.sharing(self.memory_of(tensor.grad), subject + ".grad")
        except Exception:
            pass  # the fact that asks again will say why

    def tensors(self) -> Iterator[tuple[str, Any]]:
        """Every live tensor with its subject."""
        self.paths.clear()
        for name, value in list(self.variables.items()):
            if name in self.hidden:
                continue
            if isinstance(value, self.tensor_type):
                yield name, value
            elif type(value) not in OPAQUE and plain(value) is SKIP:
                for suffix, keys, tensor in tensors_inside(value, self.tensor_type):
                    self.paths[name + suffix] = (name, *keys)
                    yield name + suffix, tensor

    def sharing(self, memory: int, subject: str) -> tuple[str, ...]:
        return self.storages.others(memory, subject, self.uses) if memory else ()

    def same(self, tensor: Any, subject: str) -> tuple[str, ...]:
        return self.objects.others(id(tensor), subject, self.is_object)

    def uses(self, memory: int, subject: str) -> bool:
        try:
            tensor = self.resolve(subject)
            return tensor is not None and self.memory_of(tensor) == memory
        except Exception:
            return False

    def is_object(self, identity: int, subject: str) -> bool:
        return id(self.resolve(subject)) == identity

    def name_of(self, tensor: Any) -> str | None:
        if tensor is None:
            return None
        for subject in self.objects.at(id(tensor)):
            if self.resolve(subject) is tensor:
                return subject
        for name, value in self.variables.items():
            if value is tensor and name not in self.hidden:
                return name
        return None


def identical(before: tuple, after: tuple) -> bool:
    """Whether two records are the same to the bit: signed zeros differ, NaN is itself."""
    return facts.exact_form(before) == facts.exact_form(after)


def tensors_inside(value: Any, tensor_type: type, depth: int = 2) -> Iterator[tuple[str, tuple, Any]]:
    """The tensors in a list, tuple, dictionary or module: (suffix of the name, getters, tensor)."""
    for suffix, getter, item in parts_of(value):
        if isinstance(item, tensor_type):
            yield suffix, (getter,), item
        elif depth > 1:
            for deeper, getters, tensor in tensors_inside(item, tensor_type, depth - 1):
                yield suffix + deeper, (getter, *getters), tensor


def parts_of(value: Any) -> Iterator[tuple[str, Any, Any]]:
    """What a container holds, with how it is written and fetched."""
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(list(value)[:100]):
            yield f"[{index}]", item_getter(index), item
    elif isinstance(value, dict):
        for key, item in list(value.items())[:100]:
            yield f"[{key!r}]", item_getter(key), item
    elif hasattr(type(value), "named_parameters"):
        for name, item in value.named_parameters():
            yield f".{name}", parameter_getter(name), item
        for name, item in value.named_buffers():
            yield f".{name}", parameter_getter(name), item


def item_getter(key: Any) -> Any:
    def get(container: Any) -> Any:
        try:
            return container[key]
        except (LookupError, TypeError):
            return None

    return get


def parameter_getter(path: str) -> Any:
    def get(module: Any) -> Any:
        for part in path.split("."):
            module = getattr(module, part, None)
        return module

    return get
