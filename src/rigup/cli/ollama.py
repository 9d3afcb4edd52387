"""`rigup ollama`: what ollama's service really runs with, and its settings, given where the service sees them."""

from typing import TYPE_CHECKING

import click

from rigup.cli.data import data_text
from rigup.cli.groups import CommandGroup
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.llm.ollama.configuring import Wanted
    from rigup.machine.host import Host
    from rigup.machine.store import Facts

SCHEMA = "rigup.ollama-configure/1"
_BAD = ("broken", "degraded", "absent")
_OPTIONS = {
    "override": "HSA_OVERRIDE_GFX_VERSION",
    "max_loaded_models": "OLLAMA_MAX_LOADED_MODELS",
    "parallel": "OLLAMA_NUM_PARALLEL",
    "host": "OLLAMA_HOST",
    "models": "OLLAMA_MODELS",
    "context": "OLLAMA_CONTEXT_LENGTH",
    "keep_alive": "OLLAMA_KEEP_ALIVE",
    "flash_attention": "OLLAMA_FLASH_ATTENTION",
    "kv": "OLLAMA_KV_CACHE_TYPE",
    "vulkan": "OLLAMA_VULKAN",
    "proxy": "HTTPS_PROXY",
}
_ON = {"on": "1", "off": "0"}


@click.group("ollama", cls=CommandGroup)
def command() -> None:
    """Tell what ollama runs with here, and give its service what it needs.

    A service does not see what a shell sets: `doctor` shows what it really has, `configure` writes it where it is read.
    """


@command.command("doctor")
@click.option("--from", "source", metavar="PATH", help="A log of ollama, a report or a captured tree; - reads standard input.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.ollama-doctor/1).")
@click.option("-v", "--verbose", count=True, help="All evidence with its sources.")
def doctor(source: str | None, as_json: bool, verbose: int) -> int:
    """Read ollama's service, its log and its environment, and tell what keeps it from the GPU.

    Nothing is changed. The exit status is 1 where something is wrong, or where there is no ollama.
    """
    from rigup.cli.ollama_report import text
    from rigup.cli.progress import Waiting
    from rigup.llm.ollama.examining import examined
    from rigup.machine.outward import outward
    from rigup.machine.sources import SourceError

    if as_json:
        choose("en")  # data is the same in every language
    try:
        with Waiting(_("Reading ollama's service, log and environment …")):
            answer = examined(source)
    except SourceError as error:
        raise click.ClickException(str(error)) from error
    click.echo(data_text(answer) if as_json else text(outward(answer), verbose))
    return int(answer.verdict in _BAD)


@command.command("configure")
@click.option("--override", metavar="X.Y.Z|auto", help="HSA_OVERRIDE_GFX_VERSION for an AMD GPU; auto takes it from the tables.")
@click.option("--vulkan", type=click.Choice(["on", "off"]), help="Whether Vulkan may compute (OLLAMA_VULKAN).")
@click.option("--max-loaded-models", metavar="N", help="Models in memory at once (OLLAMA_MAX_LOADED_MODELS).")
@click.option("--parallel", metavar="N", help="Answers at once of each model (OLLAMA_NUM_PARALLEL).")
@click.option("--context", metavar="N", help="Tokens of context where nobody asks for others (OLLAMA_CONTEXT_LENGTH).")
@click.option("--keep-alive", metavar="TIME", help="How long a model stays in memory: 10m, 24h, -1 (OLLAMA_KEEP_ALIVE).")
@click.option("--flash-attention", type=click.Choice(["on", "off"]), help="Attention without a table of scores (OLLAMA_FLASH_ATTENTION).")
@click.option("--kv", type=click.Choice(["f16", "q8_0", "q4_0"]), help="Type of the cache (OLLAMA_KV_CACHE_TYPE).")
@click.option("--host", metavar="ADDRESS", help="Where it listens (OLLAMA_HOST).")
@click.option("--models", metavar="FOLDER", help="Where models lie (OLLAMA_MODELS).")
@click.option("--proxy", metavar="URL", help="Through what models are downloaded (HTTPS_PROXY).")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Another variable. May be given several times.")
@click.option("--unset", multiple=True, metavar="NAME", help="Take back a variable that rigup gave. May be given several times.")
@click.option("--apply", "really", is_flag=True, help="Take the step, after asking; without it nothing is changed.")
@click.option("-y", "--yes", is_flag=True, help="With --apply: do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.ollama-configure/1).")
def configure(pairs: tuple[str, ...], unset: tuple[str, ...], really: bool, yes: bool, as_json: bool, **options: str | None) -> int:
    """Give ollama's service variables, in a file beside its unit that is rigup's own.

    What stands in that file and is not named stays. Without --apply it is shown what would be done; what was done is taken
    back by `rigup undo`. Where no systemd starts ollama, it is told what to type instead. ollama knows no mirror by a
    variable: `ollama pull modelscope.cn/…` takes a model from one.
    """
    from rigup.cli.taking import RunOptions, go
    from rigup.llm.ollama.configuring import SettingsError, by_hand, steps, wanted
    from rigup.plan.applying.journal import Intent

    if as_json:
        choose("en")  # data is the same in every language
    facts, host = _looked_at()
    try:
        given = _assignments(options, pairs, facts)
        if not given and not unset:
            raise click.UsageError(_("Name at least one variable to give or to take back; `rigup ollama doctor` shows what is set."))
        wish = wanted(given, unset, facts, host)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    if lines := by_hand(given, facts):
        return _without_steps("by-hand", wish, lines, as_json)
    if wish.same:
        return _without_steps("nothing", wish, [], as_json)
    if not as_json:
        _say(wish.notes)
    run = RunOptions(yes=yes, dry_run=not really, quiet=False, as_json=as_json, schema=SCHEMA)
    status = go(Intent(title=_("settings of ollama"), steps=steps(wish.variables)), run)
    if not really and not as_json:
        _say([_("With --apply it is done.")])
    return status


def _looked_at() -> "tuple[Facts, Host]":
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import close_sources, open_source

    try:
        sources = open_source(None)
        return look(sources), next(source.host for source in sources if source.host is not None)
    finally:
        close_sources()


def _assignments(options: dict[str, str | None], pairs: tuple[str, ...], facts: "Facts") -> dict[str, str]:
    """The variables of options and of --set, by name."""
    from rigup.llm.ollama.configuring import override_for_this

    given = {_OPTIONS[name]: _ON.get(value, value) for name, value in options.items() if value is not None}
    if given.get("HSA_OVERRIDE_GFX_VERSION") == "auto":
        given["HSA_OVERRIDE_GFX_VERSION"] = override_for_this(facts)
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise click.UsageError(_("{pair} is not NAME=VALUE.").format(pair=repr(pair[:80])))
        given[name] = value
    return given


def _without_steps(verdict: str, wish: "Wanted", lines: list[str], as_json: bool) -> int:
    """Nothing is rigup's to do here: it is there already, or a person does it."""
    if as_json:
        variables = {} if verdict == "by-hand" else wish.variables
        click.echo(data_text({"schema": SCHEMA, "verdict": verdict, "variables": variables, "by_hand": lines}))
    elif verdict == "nothing":
        _say([_("The service is given all of that already; nothing was changed."), *wish.notes])
    else:
        _say([*wish.notes, *lines])
    return int(verdict == "by-hand")


def _say(lines: list[str]) -> None:
    from rigup.cli.layout import wrapped

    for line in lines:
        click.echo("\n".join(wrapped(line)))
