"""`rigup train port`: what is changed, what is told and left, and that the ported scripts train as one process does."""

import ast
import difflib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.cli import run
from rigup.train.check.python.modules import UnreadableError
from rigup.train.port.port import ported
from rigup.train.port.texts import CHANGES, REMARKS
from rigup.workflows.train_checking import checked
from rigup.workflows.train_porting import porting

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SCRIPTS = {path.stem: path.read_text() for path in sorted((HERE / "scripts").glob("*.txt"))}
HEAD = """\
import logging, os
import numpy as np
import torch
import torch.nn as nn
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm
"""
TRAINING = (
    HEAD
    + """
model = nn.Linear(4, 2).cuda()
data = TensorDataset(torch.randn(8, 4), torch.randn(8, 2))
train_loader = DataLoader(data, batch_size=4, shuffle=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = (model(x.cuda()) - y.cuda()).pow(2).mean()
        loss.backward()
        optimizer.step()
"""
)

LINES = [
    ("x = x.cuda()", "x = x.to(ranks.device)"),
    ("x = (a + b).cuda( )  # there", "x = (a + b).to(ranks.device )  # there"),
    ("x = x.cuda(0, True)", "x = x.to(ranks.device, non_blocking=True)"),
    ("x = x.cuda(device=gpu, non_blocking=True)", "x = x.to(device=ranks.device, non_blocking=True)"),
    ("net.to('cuda:0')", "net.to(ranks.device)"),
    ("net.to(0)", "net.to(ranks.device)"),
    ("x = x.to(args.gpu)", "x = x.to(ranks.device)"),
    ("x = torch.ones(2, device='cuda')", "x = torch.ones(2, device=ranks.device)"),
    ("device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')", "device = ranks.device"),
    ("device = torch.device('cpu') if not torch.cuda.is_available() else torch.device('cuda')", "device = ranks.device"),
    ("device = torch.device('cuda' if use_cuda else 'cpu')", "device = torch.device(ranks.device if use_cuda else 'cpu')"),
    ("device = 'cuda' if torch.cuda.is_available() else 'cpu'", "device = ranks.device.type"),
    ("device = torch.device(f'cuda:{gpu}')", "device = ranks.device"),
    ("device = torch.device('cuda:' + str(gpu))", "device = ranks.device"),
    ("device = torch.device('cuda:{}'.format(gpu))", "device = ranks.device"),
    ("parser.add_argument('--device', default='cuda')", "parser.add_argument('--device', default=ranks.device.type)"),
    ("tagger = load('x', device='cuda')", "tagger = load('x', device=ranks.device.type)"),
    ("config = {'device': 'cuda', 'n': 1}", "config = {'device': ranks.device.type, 'n': 1}"),
    ("use = flag and torch.cuda.is_available()", 'use = flag and ranks.device.type != "cpu"'),
    ("use = torch.cuda.is_available() == True", 'use = (ranks.device.type != "cpu") == True'),
    ("torch.cuda.synchronize(device)", "ranks.synchronize()"),
    ("name = torch.cuda.get_device_name(0)", "name = ranks.device_name()"),
    ("with autocast(): pass", "with ranks.autocast(): pass"),
    ("with torch.autocast('cuda', torch.float16, enabled=on): pass", "with ranks.autocast(enabled=on): pass"),
    ("with torch.autocast('cuda', dtype=torch.bfloat16): pass", "with torch.autocast(ranks.device.type, dtype=torch.bfloat16): pass"),
    ("with torch.cuda.amp.autocast(dtype=kind): pass", "with torch.autocast(ranks.device.type, dtype=kind): pass"),
    ("scaler = torch.amp.GradScaler('cuda', enabled=on)", "scaler = ranks.scaler(enabled=on)"),
    ("state = torch.load(path)", "state = torch.load(path, map_location=ranks.device)"),
    ("state = torch.load(path, 'cuda:0')", "state = torch.load(path, ranks.device)"),
    ("torch.save(model, path)", "ranks.save(model, path)"),
    ("if loss < best: torch.save(model, path)", "if loss < best: ranks.save(model, path, wait=False)"),
    ("if epoch % args.every == 0: torch.save(model, path)", "if epoch % args.every == 0: ranks.save(model, path)"),
    ("print('a', b, sep='')", "ranks.print('a', b, sep='')"),
    ("for x in tqdm(things, total=3,): pass", "for x in tqdm(things, total=3, disable=not ranks.first,): pass"),
    ("writer = SummaryWriter('runs')", "writer = ranks.on_first(SummaryWriter)('runs')"),
    ("logging.basicConfig(level=logging.INFO)", "logging.basicConfig(level=logging.INFO if ranks.first else logging.ERROR)"),
    ("os.makedirs('out')", "os.makedirs('out', exist_ok=True)"),
    ("os.mkdir(out)", "os.makedirs(out, exist_ok=True)"),
]
SILENT = [
    "x = x.to(torch.float16)",
    "x = x.to(other)",
    "if device == 'cuda': pass",
    "y = x.to(device)",
    "torch.manual_seed(0)",
    "torch.cuda.manual_seed_all(0)",
    "print(torch.__version__, file=err)",
    "state = torch.load(path, map_location='cpu')",
    "state = torch.load(path, **options)",
    "name = f'{torch.cuda.is_available()}'",
    "choices = ['cuda', 'cpu']",
    "torch.backends.cudnn.benchmark = True",
    "with torch.autocast(kind, dtype=half): pass",
    "os.makedirs('out', exist_ok=True)",
    "for x in tqdm(a for a in b): pass",
    "x = self.cuda",
]
TOLD = [
    ("Tensor = torch.cuda.FloatTensor", "tensor-type"),
    ("stream = torch.cuda.Stream()", "cuda-only"),
    ("f('cuda')", "cuda-text"),
    ("os.environ['CUDA_VISIBLE_DEVICES'] = args.gpu", "visible-devices"),
    ("import cupy", "kernels"),
    ("from torch.utils.cpp_extension import load", "kernels"),
    ("os.system('nvidia-smi')", "nvidia-smi"),
    ("llm = AutoModel.from_pretrained(n, device_map='auto')", "device-map"),
    ("norm = nn.BatchNorm2d(3)", "batchnorm"),
    ("scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)", "plateau"),
    ("json.dump(x, f)", "silent"),
    ("f = open('log', 'w')", "files"),
]
MADE = "train_loader = DataLoader(data, batch_size=4, shuffle=True)"
DICTS = [
    (
        "words = {'batch_size': 4, 'shuffle': True}\ntrain_loader = DataLoader(stream, **words)",
        "words = {'batch_size': ranks.share(4), 'shuffle': True}\ntrain_loader = ResumableLoader(stream, **words)",
    ),
    (
        "words = dict(batch_size=4)\nwords.update(num_workers=2)\ntrain_loader = DataLoader(data, **words)",
        "words = dict(batch_size=ranks.share(4))\nwords.update(num_workers=2)\ntrain_loader = ResumableLoader(data, **words)",
    ),
    (
        "words = {'num_workers': 2} if big else {}\nwords['pin_memory'] = True\ntrain_loader = DataLoader(data, 4, True, **words)",
        "words = {'num_workers': 2} if big else {}\nwords['pin_memory'] = True\ntrain_loader = ResumableLoader(data, ranks.share(4), shuffle=True, **words)",
    ),
    (
        "base = {'batch_size': 4}\nwords = {**base, 'num_workers': 2} | dict(drop_last=True)\ntrain_loader = DataLoader(data, **words)",
        "base = {'batch_size': ranks.share(4)}\nwords = {**base, 'num_workers': 2} | dict(drop_last=True)\ntrain_loader = ResumableLoader(data, **words)",
    ),
    (
        "words = {'batch_size': 4}\ntest_loader = DataLoader(data, **words)\ntrain_loader = DataLoader(data, **words)",
        'words = {\'batch_size\': 4}\ntest_loader = DataLoader(data, **words)\ntrain_loader = ResumableLoader(data, **{**words, "batch_size": ranks.share(words["batch_size"])})',
    ),
    (
        "sets = {x: DataLoader(data, 4, True) for x in ('train', 'val')}\ntrain_loader = sets['train']",
        "sets = {x: ResumableLoader(data, ranks.share(4), shuffle=True) if x == 'train' else DataLoader(data, 4, True) for x in ('train', 'val')}\ntrain_loader = sets['train']",
    ),
]
STOPS = [
    (
        "train_loader = DataLoader(data, batch_size=4, shuffle=True)",
        "train_loader = DataLoader(data, batch_size=4, sampler=WeightedRandomSampler(w, 8))",
        "sampler",
    ),
    ("train_loader = DataLoader(data, batch_size=4, shuffle=True)", "train_loader = DataLoader(data, **options)", "loader-words"),
    ("train_loader = DataLoader(data, batch_size=4, shuffle=True)", "train_loader = DataLoader(data, 4, shuffle=is_train)", "loader-both"),
    ("train_loader = DataLoader(data, batch_size=4, shuffle=True)", "train_loader = DataLoader(stream, 4)", "loader-stream"),
    ("train_loader = DataLoader(data, batch_size=4, shuffle=True)", "train_loader = batches(data)", "no-loader"),
    *(
        (MADE, new, kind)
        for new, kind in [
            ("words = {'batch_size': 4}\nchanged(words)\ntrain_loader = DataLoader(data, **words)", "loader-words"),
            ("words = {}\nif big:\n    words['batch_size'] = 4\ntrain_loader = DataLoader(data, **words)", "loader-words"),
            ("words = {'batch_size': 4}\nif big:\n    del words['batch_size']\ntrain_loader = DataLoader(data, **words)", "loader-words"),
            ("words = {'batch_size': 4}\nparts = {'a': words}\ntrain_loader = DataLoader(data, **words)", "loader-words"),
            ("words = {'batch_size': 4, key: 1}\ntrain_loader = DataLoader(data, **words)", "loader-words"),
            ("words = {'batch_size': 4} if big else {'batch_size': 8}\ntrain_loader = DataLoader(data, **words)", "loader-words"),
            ("words = {'batch_size': 4}\ndef make(**words):\n    return DataLoader(data, **words)\ntrain_loader = make()", "loader-words"),
            ("words = {'batch_size': 4, 'sampler': mine}\ntrain_loader = DataLoader(data, **words)", "sampler"),
            ("words = {'shuffle': True} if big else {}\ntrain_loader = DataLoader(stream, 4, **words)", "loader-stream"),
            ("loaders = {x: DataLoader(data, 4, shuffle=True) for x in phases}\ntrain_loader = loaders['train']", "loader-both"),
            (
                "loaders = {x: DataLoader(data, 4, shuffle=True) for x in ['train', 'train_b']}\ntrain_loader = loaders['train']",
                "loader-both",
            ),
            ("loaders = {x: DataLoader(data, 4, shuffle=True) for x in ['train', 'x']}\ntrain_loader = loaders['train']", "loader-both"),
        ]
    ),
    ("model(x.cuda())", "model.score(x.cuda())", "model-method"),
    ("optimizer = torch", "other = Wrapper(model)\noptimizer = torch", "model-held"),
    ("optimizer = torch", "network = model\noptimizer = torch", "model-held"),
    ("model.parameters()", "things()", "model-unknown"),
    ("optimizer.step()", "optimizer.step()\n        optimizer_2.step()", "model-unknown"),
    ("optimizer = torch", "model = nn.DataParallel(model)\noptimizer = torch", "data-parallel"),
    ("loss.backward()", "torch.autograd.grad(loss, x)\n        loss.backward()", "second-derivative"),
    ("batch_size=4, shuffle=True)", "batch_size=args.batch, shuffle=True)", "batch-size"),
]


def kinds(result):
    return [remark.kind for remark in result.remarks]


@pytest.mark.parametrize(("before", "after"), LINES)
def test_a_line_becomes(before, after):
    result = ported("x.py", TRAINING + before + "\n")
    assert result.text.splitlines()[-1] == after
    assert result.many
    assert ported("x.py", result.text).text == result.text


def test_a_long_receiver_is_named_by_what_is_called():
    layers = ", ".join(["nn.Linear(4, 4)"] * 12)
    result = ported("x.py", TRAINING + f"net = nn.Sequential({layers}).cuda()\nnet[0].weight.cuda()\n")
    names = [change.name for change in result.changes if change.kind == "to-device"]
    assert names[-2:] == ["nn.Sequential(…)", "net[0].weight"]


@pytest.mark.parametrize("line", SILENT)
def test_a_line_is_left_and_nothing_is_told(line):
    plain, result = ported("x.py", TRAINING), ported("x.py", TRAINING + line + "\n")
    assert result.text.splitlines()[-1] == line
    assert kinds(result) == kinds(plain)


@pytest.mark.parametrize(("line", "kind"), TOLD)
def test_a_line_is_told_and_left(line, kind):
    if kind == "silent":
        line, kind = "import json\n" + line, "files"
    result = ported("x.py", TRAINING + line + "\n")
    assert result.text.splitlines()[-1] == line.splitlines()[-1]
    assert kind in kinds(result)
    assert next(remark.line for remark in result.remarks if remark.kind == kind) > TRAINING.count("\n")
    assert kind not in kinds(ported("x.py", TRAINING))


@pytest.mark.parametrize(("old", "new", "kind"), STOPS)
def test_what_cannot_be_seen_stops_what_serves_many_and_devices_are_ported_all_the_same(old, new, kind):
    text = TRAINING.replace(old, new)
    if kind == "batch-size":
        text = text.replace("mean()", "sum() / args.batch")
    assert text != TRAINING
    result = ported("x.py", text)
    assert {remark.kind for remark in result.remarks if remark.stops == "ranks"} == {kind}
    assert not result.many
    assert "y.to(ranks.device)" in result.text
    assert not any(word in result.text for word in ("ranks.parallel", "ResumableLoader", "ranks.share"))


@pytest.mark.parametrize(("before", "after"), DICTS)
def test_words_of_a_dict_and_loaders_of_a_dict_are_followed(before, after):
    result = ported("x.py", TRAINING.replace(MADE, before))
    assert after in result.text, result.text
    assert result.many
    assert ported("x.py", result.text).text == result.text


def test_each_of_several_loaders_keeps_an_order_of_its_own():
    text = TRAINING.replace("optimizer = torch", "other = DataLoader(data, batch_size=2, shuffle=True,)\noptimizer = torch")
    text = text.replace("for x, y in train_loader:", "for (x, y), _ in zip(train_loader, other):")
    result = ported("x.py", text)
    assert "other = ResumableLoader(data, batch_size=ranks.share(2), shuffle=True, seed=1,)" in result.text
    assert "train_loader = ResumableLoader(data, batch_size=ranks.share(4), shuffle=True)\n" in result.text


def test_what_only_judges_does_not_stop_anything():
    text = TRAINING + "with torch.no_grad():\n    print(model.score(x))\n"
    result = ported("x.py", text)
    assert result.many
    assert "model-method" in kinds(result)


def test_several_cards_are_left_alone():
    result = ported("x.py", HEAD + "a = b.to('cuda:0')\nc = d.cuda(1)\n")
    assert result.text == HEAD + "a = b.to('cuda:0')\nc = d.cuda(1)\n"
    assert kinds(result) == ["several-devices"]


def test_a_method_of_that_name_is_left():
    result = ported("x.py", HEAD + "class Box:\n    def cuda(self): pass\nBox().cuda()\n")
    assert (kinds(result), result.changes) == (["own-cuda"], [])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import lightning as L", "Lightning"),
        ("from pytorch_lightning import Trainer", "Lightning"),
        ("from accelerate import Accelerator", "accelerate"),
        ("from transformers import Seq2SeqTrainer", "transformers.Seq2SeqTrainer"),
        ("import torch.distributed as dist", "torch.distributed"),
        ("from rigup.train import join", "rigup.train"),
    ],
)
def test_what_places_its_work_already_is_told_so(line, name):
    result = ported("x.py", line + "\n" + TRAINING)
    assert (result.framework, result.changes, result.remarks) == (name, [], [])


def test_a_sampler_that_is_never_told_the_epoch_is_told():
    text = """\
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
sampler = DistributedSampler(data)
for epoch in range(3):
    for x in DataLoader(data, sampler=sampler):
        pass
"""
    result = ported("x.py", text)
    assert result.text == text.replace("3):\n", "3):\n    sampler.set_epoch(epoch)\n")
    assert ported("x.py", result.text).changes == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_ported_once_and_the_check_has_nothing_to_say(tmp_path, name):
    result = ported(name, SCRIPTS[name])
    assert result.many, kinds(result)
    again = ported(name, result.text)
    assert (again.text, again.changes, again.framework) == (result.text, [], "rigup.train")
    path = tmp_path / "script.py"
    path.write_text(result.text)
    assert [finding.cause for finding in checked(str(path), None, None).answer.findings] == []
    assert _comments(result.text) == _comments(SCRIPTS[name])


def _comments(text):
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


@pytest.mark.parametrize("name", SCRIPTS)
def test_other_lines_are_the_same(name):
    """What is not changed is the same letter for letter, and each change of a line has its reason."""
    result = ported(name, SCRIPTS[name])
    lines = SCRIPTS[name].splitlines()
    touched = {change.line for change in result.changes}
    matcher = difflib.SequenceMatcher(None, lines, result.text.splitlines(), autojunk=False)
    for word, first, last, _new, _end in matcher.get_opcodes():
        for number in range(first + 1, last + 1) if word != "equal" else ():
            assert any(abs(number - line) <= 5 for line in touched) or lines[number - 1].startswith(("import", "from")), lines[number - 1]


@pytest.fixture(scope="session")
def python():
    named = os.environ.get("RIGUP_TORCH_PYTHON") or os.environ.get("RIGUP_TRAIN_PYTHON")
    if not named:
        pytest.skip("RIGUP_TORCH_PYTHON names no interpreter with torch")
    return named


@pytest.mark.torch
@pytest.mark.slow
def test_ported_scripts_train_on_two_processes_as_on_one(python, tmp_path):
    """On the CPU alone and as two ranks by gloo: the weights are those of one process with the same batch, to 1e-6."""
    (tmp_path / "scripts").mkdir()
    for name, text in SCRIPTS.items():
        (tmp_path / "scripts" / f"{name}.py").write_text(ported(name, text).text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    texts = {}
    for folder, launcher in (("one", []), ("two", ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"])):
        words = [python, *launcher, HERE / "runs_all.py", tmp_path / "scripts", tmp_path / folder]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        texts[folder] = done.stdout.splitlines()
    done = subprocess.run(
        [python, HERE / "compares.py", tmp_path / "one", tmp_path / "two"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    differences = json.loads(done.stdout)
    assert differences.keys() == SCRIPTS.keys()
    assert {name: value for name, value in differences.items() if value > 1e-6} == {}
    assert len(texts["one"]) == len(texts["two"]), "one process prints, and not each"


# -- any text ------------------------------------------------------------------------------------------

_PIECES = (
    [line for text in SCRIPTS.values() for line in text.splitlines()]
    + [before for before, _after in LINES]
    + [line for line, _kind in TOLD]
)


def _whole(text):
    """Port a text: no error but one, and what is changed is Python."""
    try:
        result = ported("x.py", text)
    except UnreadableError:
        return
    ast.parse(result.text)
    assert (result.text == text) == (result.changes == [])


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    _whole(text)
    _whole("import torch\n" + text)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(_PIECES), max_size=40), st.lists(st.integers(0, 39)))
def test_any_lines_of_scripts_are_ported_to_python(lines, indented):
    """Lines in any order, some in blocks of their own, so that much of it is Python though none of it makes sense."""
    found = []
    for at, line in enumerate(lines):
        each = line.strip()
        each += " pass" if each.endswith(":") else ""
        try:
            ast.parse(each)
        except SyntaxError:
            continue
        found.append(f"for n{at} in loader:\n    {each}\n    loss.backward()" if at in indented else each)
    _whole(HEAD + "\n".join(found))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(SCRIPTS)), st.data())
def test_a_script_with_a_part_taken_out_is_ported_to_python(name, data):
    lines = SCRIPTS[name].splitlines(keepends=True)
    first = data.draw(st.integers(0, len(lines)))
    _whole("".join(lines[:first] + lines[data.draw(st.integers(first, len(lines))) :]))


# -- the command ---------------------------------------------------------------------------------------


def test_the_diff_is_shown_and_written_when_it_is_agreed_to(tmp_path, capsys):
    path = tmp_path / "train.py"
    path.write_bytes(SCRIPTS["flat"].replace("\n", "\r\n").encode())
    path.chmod(0o750)
    assert run(["train", "port", str(path)]) == 0
    out = capsys.readouterr().out
    assert "+net = ranks.parallel(net)" in out
    assert path.read_bytes().count(b"\r\n") == SCRIPTS["flat"].count("\n"), "nothing is written unasked"
    assert run(["train", "port", str(path), "--write"]) == 0, "nobody can be asked here"
    assert b"ranks" not in path.read_bytes()
    assert run(["train", "port", str(path), "--write", "--yes"]) == 0
    written = path.read_bytes()
    assert written.count(b"\r\n") == written.count(b"\n") > 20
    assert written.decode().replace("\r\n", "\n") == ported("x", SCRIPTS["flat"]).text
    assert path.stat().st_mode & 0o777 == 0o750
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]


def test_the_answer_as_data(tmp_path, capsys):
    path = tmp_path / "train.py"
    path.write_text("import helpers\n" + SCRIPTS["functions"].replace("from __future__ import print_function\n", ""))
    (tmp_path / "helpers.py").write_text("def f(x): return x.cuda()\n")
    assert run(["train", "port", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["verdict"], answer["written"], answer["framework"]) == ("rigup.train-port/1", "many", False, "")
    assert ("helper", 1) in {(remark["kind"], remark["line"]) for remark in answer["remarks"]}
    assert "+from rigup.train import ResumableLoader, join" in answer["diff"].splitlines()
    shutil.copy(path, tmp_path / "again.py")
    assert run(["train", "port", str(tmp_path / "again.py"), "--write", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is True
    assert run(["train", "port", str(tmp_path / "again.py"), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["verdict"], again["framework"], again["diff"]) == ("already", "rigup.train", "")


def test_what_stays_cudas_alone_is_no_part_of_the_verdict(tmp_path, capsys):
    path = tmp_path / "train.py"
    stream, model = "stream = torch.cuda.Stream()\n", "model.parameters()"
    for text, words in [
        (TRAINING + stream, "would train on many: `rigup launch {} --gpus 2`; on other devices than CUDA's once you have seen to line 20."),
        (
            TRAINING.replace(model, "f()") + stream,
            "would run on other devices than CUDA's once you have seen to line 20; it would not train",
        ),
        (TRAINING, "would train on any device, and on many"),
        (TRAINING.replace(model, "f()"), "would run on any device; it"),
        ("import torch\n" + stream, "is changed: what is told below is yours to decide."),
        ("import torch\n", "is to be changed, as far as can be seen."),
    ]:
        path.write_text(text)
        assert run(["train", "port", str(path)]) == 0
        assert "".join(words.format(path).split()) in "".join(capsys.readouterr().out.split())
    path.write_text(TRAINING + stream)
    assert [remark.stops for remark in porting(str(path)).answer(False).remarks if remark.kind == "cuda-only"] == ["devices"]


def test_what_cannot_be_read_is_told(tmp_path, capsys):
    (tmp_path / "bad.py").write_text("import torch\ndef (:\n")
    assert run(["train", "port", str(tmp_path / "bad.py")]) == 2
    assert "bad.py:2" in capsys.readouterr().err
    (tmp_path / "latin.py").write_bytes("# -*- coding: latin-1 -*-\n# é\nimport torch\n".encode("latin-1"))
    assert run(["train", "port", str(tmp_path / "latin.py")]) == 2
    assert "UTF-8" in capsys.readouterr().err
    assert run(["train", "port", str(tmp_path / "none.py")]) == 2


def test_each_kind_has_its_sentence_and_no_other():
    """Every kind that the sources name has a sentence, and each sentence a kind."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "src/rigup/train/port").glob("*.py")) if path.name != "texts.py")
    for table in (CHANGES, REMARKS):
        assert [kind for kind in table if f'"{kind}"' not in sources and kind != "helper"] == []
    assert porting(str(HERE / "runs_all.py")).answer(False).verdict == "unchanged"
