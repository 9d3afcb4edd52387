"""`rigup chat`: talk to a model at a terminal, or ask it one thing from a script."""

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.engine_options import engine_options
from rigup.language import _, choose, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rigup.cli.chat_engine import Engines
    from rigup.llm.chat.conversation import Conversation
    from rigup.llm.chat.endpoint import Endpoint
    from rigup.llm.chat.parameters import Kind
    from rigup.llm.chat.stream import EndpointError

_KINDS = ("llama", "vllm", "ollama", "openai")
_NEEDED = ("httpx", "prompt_toolkit", "rich")
_STOPPED = 130


def _parameters(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Print the table of parameters, and end."""
    if not value or ctx.resilient_parsing:
        return
    from rigup.llm.chat.parameters import parameters

    if "--json" in sys.argv:
        from rigup.cli.data import data_text
        from rigup.schemas.chat import ChatParameter, ChatParameters

        rows = [
            ChatParameter(
                name=parameter.name, range=parameter.range_text(), usual=parameter.usual, effect=parameter.effect, names=parameter.names
            )
            for parameter in parameters()
        ]
        click.echo(data_text(ChatParameters(parameters=rows)))
    else:
        from rigup.cli.chat_talk import parameter_lines

        click.echo(parameter_lines({}))
    ctx.exit()


@click.command("chat")
@click.argument("model", default="", required=False)
@click.argument("message", nargs=-1)
@click.option("--api", metavar="URL", help="An endpoint of OpenAI's form, in place of an engine that is started here.")
@click.option("--key-env", metavar="NAME", help="The variable in which the endpoint's key stands. The key is never stored or shown.")
@click.option("--kind", type=click.Choice(_KINDS), help="Whose names the endpoint's parameters have, where it does not tell.")
@click.option("-m", "--message", "asked", default="", metavar="TEXT", help="Ask this and end, where no MODEL is named.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter of the answer. May be given several times.")
@click.option("--system", metavar="TEXT", help="What the model is told about its task; @FILE reads it from a file.")
@click.option("--image", "images", multiple=True, metavar="PATH", help="An image with the message, for models that see.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file whose text comes behind the message.")
@click.option("--load", "loaded", metavar="FILE", help="Go on with a talk that /save kept.")
@engine_options
@click.option(
    "--patience", type=click.FloatRange(1, 86400), default=600.0, metavar="SECONDS", help="How long the endpoint may say nothing."
)
@click.option("--plain", is_flag=True, help="Show answers as they come, without Markdown.")
@click.option("--no-history", is_flag=True, help="Keep nothing of what is typed.")
@click.option(
    "--help-parameters",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_parameters,
    help="Tell of each parameter its range and its effect; with --json as data (schema rigup.chat-parameters/1).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one answer as data (schema rigup.chat/1).")
def command(model: str, message: tuple[str, ...], asked: str, **form: Any) -> int:
    """Talk to a model; with MESSAGE, or where standard input is no terminal, ask it one thing and end.

    MODEL is what runs on this machine; with --api the name that the endpoint has for it, by default its first. What stands on
    standard input comes behind the message: `rigup chat MODEL "what is wrong?" < log.txt`. The exit status is 1 where no
    whole answer came.
    """
    if form["as_json"]:
        choose("en")  # data is the same in every language
    _has_parts()
    from rigup.cli.chat_aside import unseen_keys
    from rigup.llm.chat.conversation import ConversationError
    from rigup.llm.chat.parameters import ParameterError
    from rigup.llm.chat.stream import EndpointError

    text = " ".join(message) or asked
    alone = bool(text) or form["as_json"] or not sys.stdin.isatty()
    try:
        conversation = _conversation(model, form)
        if alone:
            return _once(conversation, _whole_text(text, form["files"]), form)
        with unseen_keys():
            return _talk(conversation, form)
    except (ParameterError, ConversationError) as error:
        raise click.UsageError(str(error)) from error
    except EndpointError as error:
        raise _failure(error) from error


def _has_parts() -> None:
    """Raise UsageError where what it stands on is not installed."""
    from importlib.util import find_spec

    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        template = _("`rigup chat` needs {missing}: install it with `pip install 'rigup[llm]'`.")
        raise click.UsageError(template.format(missing=", ".join(missing)))


def _failure(error: "EndpointError") -> click.ClickException:
    """No answer: the work failed, or where the address itself is wrong the request is."""
    shown = click.ClickException(str(error))
    shown.status = 1  # type: ignore[attr-defined]
    return shown


def _conversation(model: str, form: dict[str, Any]) -> "Conversation":
    """What was said before, and what is set."""
    from rigup.llm.chat.conversation import Conversation, load
    from rigup.llm.chat.parameters import SYSTEM, named, value_of

    conversation = load(form["loaded"]) if form["loaded"] else Conversation()
    conversation.model = model or conversation.model
    pairs = [(name, sign, value) for name, sign, value in (pair.partition("=") for pair in form["pairs"])]
    if odd := [name for name, sign, _value in pairs if not sign]:
        raise click.UsageError(_("{pair} is not NAME=VALUE.").format(pair=repr(odd[0][:80])))
    for name, _sign, value in pairs:
        row = named(name)
        conversation.settings[row.name] = value_of(row, value)
    if form["system"]:
        conversation.settings[SYSTEM] = value_of(named(SYSTEM), form["system"])
    return conversation


def _whole_text(text: str, files: tuple[str, ...]) -> str:
    """The message with what stands on standard input and in files. Raises UsageError for nothing, ConversationError."""
    from rigup.llm.chat.conversation import MOST_TEXT, ConversationError, text_of, with_files

    piped = "" if sys.stdin.isatty() else _piped(MOST_TEXT)
    if len(piped) > MOST_TEXT:  # characters are at most as many as bytes
        raise ConversationError(_("{path} is larger than {size} bytes.").format(path=_("Standard input"), size=MOST_TEXT))
    files_read = [text_of(path) for path in files]
    if piped.strip() and text:
        files_read.append((_("standard input"), piped))
    whole = with_files(text or piped.strip(), files_read)
    if not whole.strip():
        raise click.UsageError(_("There is nothing to ask: give a message, or something on standard input."))
    return whole


def _piped(most: int) -> str:
    from rigup.llm.chat.conversation import ConversationError

    try:
        return sys.stdin.buffer.read(most + 1).decode("utf-8", "replace")
    except OSError as error:  # a folder, a disk that fails
        sentence = _("{path}: {why}.").format(path=_("Standard input"), why=error.strerror or str(error))
        raise ConversationError(sentence) from error


@contextmanager
def _opened(conversation: "Conversation", form: dict[str, Any]) -> "Iterator[tuple[Endpoint, Engines | None]]":
    """Where the model answers: an endpoint that is named, or an engine that is started and ended here."""
    if form["api"]:
        if form["draft"]:
            raise click.UsageError(_("A draft model goes with one model that is started here."))
        endpoint = _endpoint(form)
        try:
            yield endpoint, None
        finally:
            endpoint.close()
        return
    if not conversation.model:
        raise click.UsageError(_("Name a model (`rigup models` lists those that are here), or an endpoint with --api."))
    from rigup.cli.chat_engine import Engines, say_aside

    engines = Engines(form, conversation.settings, say_aside if sys.stderr.isatty() and not form["as_json"] else lambda _text: None)
    try:
        endpoint = engines.start(conversation.model)
        conversation.model = endpoint.called
        yield endpoint, engines
    finally:
        engines.stop()


def _endpoint(form: dict[str, Any]) -> "Endpoint":
    """The endpoint that is named. Raises EndpointError, UsageError."""
    import os

    from rigup.llm.chat.endpoint import Endpoint

    key = ""
    if name := form["key_env"]:
        key = os.environ.get(name, "").strip()
        if not key:
            raise click.UsageError(_("The variable {name} is not set, or empty.").format(name=name[:80]))
    kind: Kind | None = form["kind"]
    endpoint = Endpoint(form["api"], key, form["patience"], kind)
    if endpoint.unprotected:
        click.echo(_("The key goes to {api} without encryption: whoever is on the way can read it.").format(api=endpoint.base), err=True)
    return endpoint


# -- a talk --------------------------------------------------------------------------------------------


def _talk(conversation: "Conversation", form: dict[str, Any]) -> int:
    """A talk at the terminal; the exit status."""
    from rigup.cli.guard import style
    from rigup.cli.lasting import lasts
    from rigup.machine.outward import outward_text

    lasts()
    peer = outward_text(form["api"] or conversation.model)
    if peer:
        click.echo(style(_("rigup chat with {who}; /help tells what can be typed, Ctrl-D leaves.").format(who=peer), dim=True))
    sys.stdout.flush()
    from rigup.cli.chat_aside import Aside
    from rigup.cli.chat_talk import Options, Talk
    from rigup.llm.chat.conversation import picture_of, text_of

    files = [text_of(path) for path in form["files"]]
    images = [picture_of(path) for path in form["images"]]
    with _opened(conversation, form) as (endpoint, engines):
        look = Aside(lambda: _prepare(endpoint, conversation, form["plain"]))  # keys are taken first
        if engines is not None:
            look.wait()  # it answers already
        talk = Talk(endpoint, conversation, Options(not form["plain"], not form["no_history"], engines), look)
        talk.attach(files, images)
        talk.run()
    return 0


def _prepare(endpoint: "Endpoint", conversation: "Conversation", plain: bool) -> None:
    """What an answer needs, while the first question is typed."""
    _examine_endpoint(endpoint, conversation)
    if not plain:
        import rich.live
        import rich.markdown  # noqa: F401  (loaded before it is needed)


def _examine_endpoint(endpoint: "Endpoint", conversation: "Conversation") -> None:
    """Ask the endpoint what it is; one that lists nothing may answer all the same. Raises EndpointError where nobody answers."""
    from rigup.llm.chat.stream import EndpointError

    try:
        about = endpoint.look()
    except EndpointError as error:
        if error.kind in ("unreachable", "key") or not conversation.model:
            raise
        return
    if not conversation.model and about.models:
        conversation.model = about.models[0]


# -- one answer ----------------------------------------------------------------------------------------


def _once(conversation: "Conversation", text: str, form: dict[str, Any]) -> int:
    """One question and its answer; the exit status."""
    from rigup.llm.chat.conversation import Message, picture_of

    conversation.messages.append(Message(role="user", text=text, images=[picture_of(path) for path in form["images"]]))
    with _opened(conversation, form) as (endpoint, engines):
        return _answer_once(endpoint, engines, conversation, form)


def _answer_once(endpoint: "Endpoint", engines: "Engines | None", conversation: "Conversation", form: dict[str, Any]) -> int:
    from rigup.llm.chat.stream import EndpointError, Piece

    got: list[Piece] = []
    shown = None
    because, verdict = None, "whole"
    try:
        _examine_endpoint(endpoint, conversation)
        if not form["as_json"]:
            from rigup.cli.chat_screen import screen

            shown = screen(not form["plain"] and sys.stdout.isatty())
        for piece in endpoint.answer(conversation.model, conversation.sent(), conversation.settings):
            got.append(piece)
            if shown:
                shown.piece(piece)
    except EndpointError as error:
        because, verdict = sentences(str(error), engines.why() if engines else ""), "broken-off" if got else "failed"
    except KeyboardInterrupt:
        because, verdict = _("Stopped."), "stopped"
    finally:
        if shown:
            shown.end()
    if verdict == "whole" and endpoint.measure.end.finish == "length":
        verdict = "cut"
        because = _("The answer was cut at its longest: max-tokens, or the end of the context.")
    if form["as_json"]:
        _data(endpoint, conversation, got, verdict, because)
    else:
        _print_end(endpoint, conversation, because)
    return _STOPPED if verdict == "stopped" else int(verdict not in ("whole", "cut"))


def _print_end(endpoint: "Endpoint", conversation: "Conversation", because: str | None) -> None:
    """What went wrong, and what was not sent, beside the answer."""
    from rigup.llm.chat.parameters import request_of

    _body, left = request_of(conversation.settings, endpoint.about.kind)
    if left:
        sentence = _("This endpoint does not take {names}; they were not sent.").format(names=", ".join(left))
        because = sentences(because or "", sentence)
    if because:
        from rigup.cli.layout import wrapped

        click.echo("\n".join(wrapped(because)), err=True)


def _data(endpoint: "Endpoint", conversation: "Conversation", got: list[Any], verdict: Any, because: str | None) -> None:
    from rigup.cli.data import data_text
    from rigup.llm.chat.parameters import request_of
    from rigup.schemas.chat import Chat, Used

    measure = endpoint.measure
    used = measure.end.usage
    answer = Chat(
        verdict=verdict,
        because=because,
        model=conversation.model,
        api=endpoint.base,
        answer="".join(piece.text for piece in got if not piece.thought),
        thought="".join(piece.text for piece in got if piece.thought),
        finish=measure.end.finish,
        usage=Used(prompt=used.prompt, completion=used.completion, cached=used.cached),
        context=endpoint.about.context,
        first=measure.first,
        seconds=round(measure.seconds, 4),
        speed=measure.speed,
        not_sent=request_of(conversation.settings, endpoint.about.kind)[1],
    )
    click.echo(data_text(answer, with_values=True))
