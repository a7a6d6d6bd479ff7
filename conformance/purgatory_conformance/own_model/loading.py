"""Loading a user's model from a file: the names that the file defines, and the answers allowed.

The file defines ``COMPONENT`` and either two functions or a class ``Model`` with two methods:
``initial`` gives the state at the beginning, ``step(state, operation)`` gives an outcome with the
state after it, or a list of such pairs where several are possible. ``PROFILE`` declares the
optional operations and observables of the model. Whoever makes ``initial`` or ``Model`` take no
configuration is compared on the first small instance alone.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import msgspec

from purgatory_conformance.own_model.asking import OwnInstance, guarded
from purgatory_conformance.own_model.watch import Watching
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_judge.components import MODELLED, PROFILES
from purgatory_spec import profiles
from purgatory_spec.misspelt import suggestion


class InvalidOwnModel(ValueError):
    """The file holds no model: says what is missing and where."""


@dataclass(frozen=True)
class OwnModel:
    """The model of a file.

    ``begin`` makes an instance for a configuration; where ``for_any_configuration`` is false, it
    is the same whatever the configuration.
    """

    path: Path
    component: profiles.Component
    profile: profiles.Profile
    for_any_configuration: bool
    begin: Callable[[profiles.Configuration], OwnInstance]


def load(path: Path, component: str, watch: Watching) -> OwnModel:
    """Load the model of a file.

    Args:
        path: The file.
        component: What it is a model of; empty where the file says so itself.
        watch: Watchinges over the file's code.

    Raises:
        InvalidOwnModel: the file holds no model.
        OwnModelFailure: the file's code fails during loading.
    """
    module = _imported(path, watch)
    of = _component(path, module, component)
    profile = _profile(path, module, of)
    maker = getattr(module, "Model", None)
    if maker is None:
        initial, step = _function(path, module, "initial"), _function(path, module, "step")
        _check_parameters(path, "step", step, (2,))
        takes = _check_parameters(path, "initial", initial, (0, 1))

        def begin(configuration: profiles.Configuration) -> OwnInstance:
            return OwnInstance(path, watch, initial, (configuration,)[:takes], step, profile)

        return OwnModel(path, of, profile, takes == 1, begin)
    if not callable(maker):
        raise InvalidOwnModel(f"{path}: Model is no class")
    takes = _check_parameters(path, "Model", maker, (0, 1))

    def begin_class(configuration: profiles.Configuration) -> OwnInstance:
        with guarded(path, watch, lambda: "Model()"):
            made: object = maker(*(configuration,)[:takes])
        start, go = _function(path, made, "initial"), _function(path, made, "step")
        return OwnInstance(path, watch, start, (), go, profile)

    return OwnModel(path, of, profile, takes == 1, begin_class)


def _imported(path: Path, watch: Watching) -> ModuleType:
    if not path.is_file():
        raise InvalidOwnModel(f"{path}: no such file")
    try:
        compile(path.read_bytes(), str(path), "exec")
    except SyntaxError as error:
        place = "" if error.lineno is None else f":{error.lineno}"  # none for a null byte
        raise InvalidOwnModel(f"{path}{place}: {error.msg}") from error
    except ValueError as error:
        raise InvalidOwnModel(f"{path} is no Python: {error}") from error
    specification = importlib.util.spec_from_file_location("own_model", path.resolve())
    if specification is None or specification.loader is None:
        raise InvalidOwnModel(f"{path} is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["own_model"] = module  # where dataclasses look for the names in annotations
    sys.path.append(str(path.resolve().parent))  # last, so that nothing of ours is hidden by it
    with guarded(path, watch, lambda: "the file"):
        specification.loader.exec_module(module)
    return module


def _component(path: Path, module: ModuleType, wanted: str) -> profiles.Component:
    """Return the component that the file models; the option goes before the file's own word."""
    word = wanted or getattr(module, "COMPONENT", "")
    known = [each.value for each in MODELLED]
    if not word:
        raise InvalidOwnModel(
            f"{path} does not say what it is a model of: define COMPONENT, or give --component, "
            f"one of {', '.join(known)}"
        )
    if not isinstance(word, str) or word.replace("-", "_") not in known:
        raise InvalidOwnModel(
            f"{path}: COMPONENT is {word!r}; it must be one of {', '.join(known)}"
        )
    return profiles.Component(word.replace("-", "_"))


def _profile(path: Path, module: ModuleType, component: profiles.Component) -> profiles.Profile:
    """Return the profile that the file declares; a timer's executor is stepped."""
    declared: object = getattr(module, "PROFILE", {})
    kind = PROFILES[component]
    if isinstance(declared, dict) and component is profiles.Component.TIMER:
        declared = {"executor": "stepped", **declared}
    try:
        profile: profiles.Profile = msgspec.convert(declared, kind)
    except msgspec.ValidationError as error:
        raise InvalidOwnModel(f"{path}: PROFILE: {error}{suggestion(error, kind)}") from error
    if isinstance(profile, profiles.TimerProfile):
        if (
            profile.executor is not profiles.Executor.STEPPED
            or profile.clock is not profiles.Clock.MANUAL
        ):
            raise InvalidOwnModel(
                f"{path}: PROFILE: a model of a timer has the executor 'stepped' and the clock "
                "'manual': expiring a task and running it are two steps"
            )
    elif problem := problem_of(profile):
        raise InvalidOwnModel(f"{path}: PROFILE: {problem}")
    return profile


def _function(path: Path, owner: object, name: str) -> Callable[..., object]:
    found: object = getattr(owner, name, None)
    if found is None:
        where = "" if isinstance(owner, ModuleType) else "Model has no "
        missing = f"{where}{name}" if where else f"there is no function {name}, and no class Model"
        raise InvalidOwnModel(f"{path}: {missing}; see: purgatory model template")
    if not callable(found):
        raise InvalidOwnModel(f"{path}: {name} is no function")
    return found


def _check_parameters(
    path: Path, name: str, function: Callable[..., object], allowed: tuple[int, ...]
) -> int:
    """Return the greatest allowed number of arguments that the function takes."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return max(allowed)
    for count in sorted(allowed, reverse=True):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count
    wanted = " or ".join(str(count) for count in allowed)
    raise InvalidOwnModel(f"{path}: {name}{signature} must take {wanted} arguments")
