"""What is asked of machines that are in order is answered for what the text shows, and beside a fault only what belongs to it."""

import re

import pytest

from answer_data import diagnose, typed
from rigup.cli.report import text as report
from rigup.fit import training
from rigup.knowledge.abilities import abilities_named, has_ability
from rigup.knowledge.model_shapes import file_types
from rigup.knowledge.questions import Question, questions
from rigup.knowledge.torch_builds import newest_build

SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI {driver}              Driver Version: {driver}      CUDA Version: {cuda}     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  {name:<26} Off  |   00000000:01:00.0 On  |                  N/A |
| 30%   {celsius}C    {state}             {draws:>4}W /  {limit}W | {used:>7}MiB / {whole:>6}MiB | {load:>6}%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
"""
IDLE = {
    "driver": "570.133.07",
    "cuda": "12.8",
    "name": "NVIDIA GeForce RTX 4090",
    "celsius": 41,
    "state": "P8",
    "draws": 18,
    "limit": 450,
    "used": 611,
    "whole": 24564,
    "load": 2,
}
BUSY = {**IDLE, "celsius": 74, "state": "P2", "draws": 390, "used": 20012, "load": 99}
SMALL = {**IDLE, "name": "NVIDIA GeForce RTX 3060", "limit": 170, "whole": 12288}
TWO = """\
$ nvidia-smi -L
GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-3d5e0f0a-8a57-2c10-9d35-cc1a4b0d5a5e)
GPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-4d5e0f0a-8a57-2c10-9d35-cc1a4b0d5a5f)
"""
PENDING = "$ squeue --me\n   JOBID PARTITION  NAME  USER ST  TIME  NODES NODELIST(REASON)\n  918211       gpu train  anna PD  0:00      1 ({reason})\n"


def shown(values=IDLE, **others):
    return SMI.format(**{**values, **others})


def torch(name, version="2.9.0+cu128"):
    return f">>> torch.__version__\n'{version}'\n>>> torch.cuda.is_available()\nTrue\n>>> torch.cuda.get_device_name()\n'{name}'\n"


@pytest.fixture
def answered(tmp_path):
    """The verdict, and the answers with their commands by the id of their question."""

    def answers(question, outputs=""):
        (tmp_path / "said.txt").write_text(f"{question}\n\n{outputs}", "utf-8")
        told = diagnose(str(tmp_path))
        return told["verdict"], {one["id"]: " ".join([one["answer"], *one["commands"]]) for one in told["answers"]}

    return answers


CPU_BUILD = ">>> torch.__version__\n'2.9.0+cpu'\n>>> torch.cuda.is_available()\nFalse\n" + shown()


SOUND = [
    ("Which version of PyTorch do I need for this driver?", shown(), "torch-for-a-card-and-driver", r"RTX 4090 with driver 570"),
    ("Какую версию torch ставить под этот драйвер?", shown(SMALL), "torch-for-a-card-and-driver", r"RTX 3060"),
    ("请问我的驱动应该装哪个版本的 pytorch？", shown(), "torch-for-a-card-and-driver", r"--index-url|pip install torch"),
    ("Which Python version should I use with torch?", TWO, "python-for-torch", r"wheels for Python 3\.\d+, 3"),
    ("Does my 3060 support bf16 and fp8?", torch("NVIDIA GeForce RTX 3060"), "what-a-chip-can", r"\(sm_86\) has bfloat16\.(?=.*no float8)"),
    ("4090 支持 fp8 吗？", torch("NVIDIA GeForce RTX 4090"), "what-a-chip-can", r"has float8"),
    ("Поддерживает ли RTX 2080 Ti flash attention?", "", "what-a-chip-can", r"no FlashAttention 2"),
    ("Can my RX 7900 XTX train in bf16?", torch("AMD Radeon RX 7900 XTX", "2.8.0+rocm6.4"), "what-a-chip-can", r"gfx1100\) has bfloat16"),
    ("What is the compute capability of my card?", TWO, "compute-capability", r"8\.6 \(sm_86\)"),
    (
        "How much VRAM do I need for a 13B model in 4 bit?",
        shown(SMALL),
        "memory-for-a-model",
        r"7\.4 GiB in Q4_K_M.*12\.0 GiB.*leaves 4\.6 GiB",
    ),
    ("Will a 70B model in Q4 run on my card?", shown(), "memory-for-a-model", r"15\.\d GiB too little"),
    ("RTX 3070: is it enough for an 8B model in 8-bit?", "", "memory-for-a-model", r"leaves only 0\.\d GiB"),
    ("Сколько видеопамяти нужно для модели 7B?", "", "memory-for-a-model", r"4\.0 GiB in 4 bits.*13\.0 GiB in 16 bits"),
    ("Can I fine-tune a 7B model on this card?", shown(SMALL), "memory-to-train-a-model", r"104 GiB for all.*12\.0 GiB"),
    ("How can I use both GPUs to run a large model?", TWO, "all-cards-for-one-model", r"48\.0 GiB together, 24\.0 GiB each"),
    ("Do two 24 GB cards count as 48 GB of memory?", TWO, "memory-of-cards-adds-up", r"24\.0 GiB each"),
    ("3090 和 4070 两张不同的显卡可以混用吗？", "", "cards-of-different-models", r"slowest"),
    ("Is 80 °C normal while training for hours?", shown(BUSY, celsius=80), "temperature-under-load", r"^80 °C is usual"),
    ("Is this temperature ok?", shown(BUSY, celsius=89), "temperature-under-load", r"^89 °C is close"),
    ("温度 78 度正常吗？", shown(BUSY, celsius=78), "temperature-under-load", r"^78 °C"),
    ("What do P8 and P0 mean, is my card stuck?", shown(), "performance-states", r"nothing to do"),
    ("What is persistence mode, do I need it?", shown(), "persistence-mode", r"nothing compute faster"),
    (
        "Why is 611 MiB memory used although nothing runs?",
        shown(),
        "memory-that-nobody-uses",
        r"^611 MiB are what the driver and a desktop",
    ),
    ("What does N/A mean in nvidia-smi under ECC?", shown(), "ecc-that-is-not-told", r"no fault"),
    ("GPU utilization is 100 % but power is low: is the card really used?", shown(BUSY), "what-utilization-means", r"share of time"),
    ("How do I limit the power of my card to 280 W?", shown(), "power-of-a-card-limited", r"-pl 280"),
    ("How do I reduce the power draw of this card?", shown(), "power-of-a-card-limited", r"-pl 360"),
    (
        "Why does torch say cuda on my AMD card?",
        torch("AMD Radeon RX 7900 XTX", "2.8.0+rocm6.4"),
        "cuda-names-on-amd",
        r"torch\.version\.hip",
    ),
    ("Should I update my driver? Everything works.", shown(), "update-of-what-works", r"Driver 570\.133\.07 carries CUDA 12\.8"),
    ("Do I need the CUDA toolkit when I only use PyTorch?", torch("NVIDIA GeForce RTX 4090"), "toolkit-for-wheels", r"brings CUDA 12\.8"),
    ("Is this a problem? nvidia-smi shows CUDA 12.8 but nvcc says 12.4.", shown(), "versions-of-cuda-differ", r"three things"),
    (
        "Does everything look right?",
        torch("NVIDIA GeForce RTX 4090"),
        "is-all-well",
        r"torch 2\.9\.0\+cu128 reaches NVIDIA GeForce RTX 4090",
    ),
    (
        "Will Qwen3-32B in Q4_K_M fit with 16k context?",
        shown(),
        "memory-for-a-model",
        r"16 384 tokens of context take 4\.0 GiB of it \(qwen3-32b: 256 KiB a token\)",
    ),
    (
        "How much context can I set with llama3.1:8b?",
        shown(SMALL),
        "context-for-a-model",
        r"128 KiB a token in a cache of 16 bits: .* about \d\d 000 tokens",
    ),
    (
        "Welches ist das größte Modell, das hier läuft?",
        shown(SMALL),
        "largest-model",
        r"12\.0 GiB of NVIDIA GeForce RTX 3060 hold a model of up to about 17 B",
    ),
    ("qwen2.5 32b writes 36 tokens/s, is that normal?", shown(), "tokens-a-second", r"^36 tokens/s are what .* gives: .* 32 to 46"),
    ("qwen2.5 32b writes 9 tokens/s, is that normal?", shown(), "tokens-a-second", r"^9 tokens/s are less than"),
    (
        "Can I use an image of CUDA 12.9 on this driver?",
        shown(driver="550.144.03", cuda="12.4"),
        "newer-cuda-than-the-driver",
        r"built for CUDA 12\.9 runs on it",
    ),
    ("Can I use an image of CUDA 13.0 on this driver?", shown(), "newer-cuda-than-the-driver", r"CUDA 13\.0 wants driver 580"),
    ("Is one 5090 better than two 3090?", TWO, "one-card-or-two", r"RTX 5090: 32\.0 GiB, 1790 GB/s"),
    ("Reicht mein Netzteil mit 850 W?", shown(), "power-supply-for-cards", r"supply of 850 W"),
    ("Est-ce normal que la carte consomme seulement 18 W ?", shown(), "card-at-rest", r"at rest \(P8, 18 of 450 W\)"),
    ("バッチサイズはどのくらいにすべきですか？", shown(BUSY, used=7000), "size-of-a-batch", r"^Here 7000 of 24564 MiB"),
    ("Qual a melhor quantização, Q4_K_M ou Q6_K?", shown(), "which-type-of-weights", r"usual compromise"),
    ("Is the GTX 1080 Ti still supported?", shown(name="NVIDIA GeForce GTX 1080 Ti"), "how-long-a-card-is-served", r"up to branch 580"),
    (
        "What colour should the case of my workstation have?",
        torch("NVIDIA GeForce RTX 4090"),
        "no-answer-kept",
        r"not answered here: no answer to it is kept",
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("question", "outputs", "expected", "says"), SOUND, ids=[row[0][:40] for row in SOUND])
def test_it_is_answered_with_what_the_text_shows(answered, question, outputs, expected, says):
    verdict, answers = answered(question, outputs)
    assert expected in answers
    assert re.search(says, answers[expected])
    assert verdict == ("healthy" if outputs else verdict)
    assert verdict in ("healthy", "unknown")


@pytest.mark.parametrize(
    ("question", "outputs", "silent"),
    [
        ("What batch size should I use?", shown(BUSY), "there is room for a larger one"),  # it is nearly full
        ("Is the backplate held by screws of M2 or M2.5?", shown(), "GB/s"),  # no chip of Apple's
        ("Ist eine 4090 schneller?", "", "GB/s"),  # nothing to compare it with
    ],
)
def test_what_nobody_knows_is_not_said(answered, question, outputs, silent):
    answers = answered(question, outputs)[1]
    assert not any(silent in answer for answer in answers.values())


def test_answers_stand_in_the_order_of_the_questions(answered):
    first, second = "Do I need NVLink?", "Should I turn ECC on?"
    assert list(answered(f"{first} {second}", TWO)[1]) == ["nvlink-or-not", "ecc-on-or-off"]
    assert list(answered(f"{second} {first}", TWO)[1]) == ["ecc-on-or-off", "nvlink-or-not"]


def test_nothing_is_told_twice(answered):
    answers = answered("Will Qwen3-32B Q4_K_M fit, and what context can I set?", shown())[1]
    assert list(answers) == ["memory-for-a-model"]


def test_beside_a_fault_only_a_question_that_says_what_it_means_is_answered(answered):
    assert answered("I read of NVLink. Do I need it?", CPU_BUILD)[1] == {}


def test_who_says_that_it_is_slow_is_told_what_would_tell_why(answered):
    verdict, answers = answered("Why is it so slow? 2 it/s seems low for this card.", shown(BUSY))
    assert verdict in ("healthy", "unknown")
    assert "does not tell why it is slow" in answers["why-it-is-slow"]


FAULTY = [
    ("Which temperature is right for a card?", CPU_BUILD),
    (
        "Is it normal that nvidia-smi says this?",
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133",
    ),
    (
        "How do I free memory in the notebook?",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.78 GiB of which 1.00 GiB is free.",
    ),
    (
        "How do I make PyTorch use the GPU of my Mac?",
        ">>> platform.machine()\n'x86_64'\n>>> torch.backends.mps.is_available()\nFalse\n$ sysctl -n machdep.cpu.brand_string\nVirtualApple @ 2.50GHz",
    ),
]


@pytest.mark.parametrize(("question", "outputs"), FAULTY, ids=[row[0][:40] for row in FAULTY])
def test_beside_a_fault_nothing_is_answered(answered, question, outputs):
    verdict, answers = answered(question, outputs)
    assert verdict in ("broken", "degraded")
    assert answers == {}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Do I need the CUDA toolkit when I only use PyTorch?", "toolkit-for-wheels"),
        ("And will a 13B model in 4 bit fit later?", "memory-for-a-model"),
        ("Do I need NVLink for a second card?", "nvlink-or-not"),
    ],
)
def test_what_holds_whatever_is_wrong_is_answered_beside_a_fault(answered, question, expected):
    verdict, answers = answered(question, CPU_BUILD)
    assert verdict == "broken"
    assert expected in answers


def test_what_belongs_to_a_fault_is_answered_beside_it(answered):
    verdict, answers = answered(
        "What does 48%/52% CPU/GPU mean in ollama ps?",
        "$ ollama ps\nNAME         ID              SIZE     PROCESSOR          CONTEXT    UNTIL\n"
        "qwen3:32b    030ee887880f    24 GB    48%/52% CPU/GPU    8192       4 minutes from now\n",
    )
    assert verdict == "degraded"
    assert answers["shares-of-ollama-ps"].startswith("48 % of the model lie in main memory")


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("Priority", "not stuck"),
        ("QOSMaxGRESPerUser", "limit of its quality"),
        ("PartitionTimeLimit", "never gives"),
        ("JobHeldUser", "scontrol release 918211"),
    ],
)
def test_a_job_that_waits_is_answered_by_its_reason(answered, reason, says):
    _verdict, answers = answered("My job is pending, is that normal?", PENDING.format(reason=reason))
    assert says in answers["job-that-waits"]


@pytest.mark.parametrize(
    ("question", "outputs", "absent"),
    [
        (
            "Is 70 °C normal?",
            "GPU[0] : Temperature (Sensor edge) (C): 70.0\n" + torch("AMD Radeon RX 7900 XTX", "2.8.0+rocm6.4"),
            "nvidia-smi",
        ),
        ("Do I have to install CUDA separately for torch?", torch("AMD Radeon RX 7900 XTX", "2.8.0+rocm6.4"), "bring CUDA"),
        ("Which torch should I install?", ">>> torch.backends.mps.is_available()\nTrue\n>>> torch.__version__\n'2.5.1'\n", "cu1"),
    ],
)
def test_it_is_true_of_that_maker(answered, question, outputs, absent):
    _verdict, answers = answered(question, outputs)
    assert answers
    assert not any(absent in answer for answer in answers.values())


@pytest.mark.long
@pytest.mark.parametrize(
    "question",
    [
        "What is wrong? Training crashes after an hour.",
        "Why is it broken? Nothing works.",
        "Does everything look right? torch fails to load the model.",
    ],
)
def test_who_complains_is_not_told_that_all_is_well(answered, question):
    _verdict, answers = answered(question, shown())
    assert answers == {}


def test_a_question_that_is_answered_is_no_complaint(answered):
    assert answered("Why is 611 MiB memory used although nothing runs?", shown())[0] == "healthy"
    assert answered("Why does it fail?", shown())[0] == "unknown"


def test_a_question_beside_a_harmless_message_gets_both(tmp_path):
    said = "You are using the default legacy behaviour of the <class 'transformers.models.t5.tokenization_t5.T5Tokenizer'>."
    (tmp_path / "said.txt").write_text(f"Should I update my driver?\n\n{said}\n\n{shown()}", "utf-8")
    answer = diagnose(str(tmp_path))
    assert [one["id"] for one in answer["answers"]] == ["update-of-what-works"]
    assert [one["symptom"] for one in answer["harmless"]] == ["tokenizer-keeps-its-old-way"]
    told = " ".join(report(typed(answer)).split())
    assert "What works needs no update" in told
    assert "as it always did" in told


def test_the_figures_are_those_of_the_tables():
    bits = {row.name: row.bits for row in file_types()}
    assert round(13e9 * bits["Q4_K_M"] / 8 / 2**30, 1) == 7.4
    assert newest_build("sm_89", driver="570.133.07")


def test_bytes_of_training_are_those_that_fit_reckons():
    from rigup.diagnosis.capacity_asked import Training
    from rigup.knowledge import tables

    rows = {row.id: row.bytes for row in tables.rows("questions", "training", Training)}
    single, half = 4, 2
    assert rows["full"] == single + single + training.OPTIMIZERS["adamw"] * single
    assert rows["lora"] == half
    assert rows["qlora"] == pytest.approx(training._FOUR_BITS, abs=0.001)


def test_abilities_are_named_as_people_do():
    (float8,) = abilities_named("does it support FP8 ?")
    assert (has_ability(float8, "nvidia", "sm_89"), has_ability(float8, "nvidia", "sm_86")) == (True, False)


def test_a_hole_has_somebody_who_fills_it():
    from rigup.diagnosis.shown import KNOWN
    from rigup.diagnosis.wording import holes

    def unfilled(row: Question) -> set[str]:
        said = {name for form in row.fills for name in re.compile(form).groupindex}
        sentences = [row.answer, *(one.answer for one in row.by), *(said for group in row.shows for said in group)]
        lines = [line for lines in (row.lines, *(one.lines or [] for one in row.by)) for line in lines]
        wanted = {name for text in (*sentences, *lines) for name, _field in holes(text)}
        return wanted - said - set(KNOWN) - set(row.usual)

    assert {row.id: unfilled(row) for row in questions() if unfilled(row)} == {}


def test_what_a_token_passes_of_experts_is_near_what_their_names_say():
    from rigup.diagnosis.model_asked import _active
    from rigup.knowledge import tables
    from rigup.knowledge.model_shapes import Shape

    named = {row.name: _active(row) for row in tables.rows("model_shapes", "shape", Shape)}
    assert named["qwen3-30b-a3b"] == pytest.approx(3.3, rel=0.15)
    assert named["gpt-oss-120b"] == pytest.approx(5.1, rel=0.05)
    assert named["deepseek-v3"] == 0.0  # layers of other kinds are not reckoned


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Can I fine-tune a 14B model with QLoRA on one of them?", r"14 B in QLoRA: yes, on one card"),
        ("Can I fine-tune a 32B model with QLoRA on one of them?", r"32 B in QLoRA: yes, but only just, on one card"),
        ("Can I fine-tune a 70B model with QLoRA?", r"70 B in QLoRA: not on one card"),
        ("Can I fine-tune a 405B model with QLoRA?", r"405 B in QLoRA: no"),
    ],
)
def test_training_has_room_on_one_card_or_over_several(answered, asked, told):
    _verdict, answers = answered(asked, TWO)
    assert re.search(told, answers["memory-to-train-a-model"])
    assert "Each of the 2 × NVIDIA GeForce RTX 3090 has 24.0 GiB" in answers["memory-to-train-a-model"]
