"""What is private goes out wherever it stands, the same always as the same; what readers need stays."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from each import over
from rigup.knowledge.secrets import tokens
from rigup.machine.host import Answer, Recorded
from rigup.machine.outward import outward_text
from rigup.machine.redaction import Redactor
from rigup.machine.redaction_names import Names
from rigup.machine.snapshot import Snapshot


def redacted(body, source="", redactor=None):
    redactor = redactor or Redactor()
    redactor.learn(body, source)
    return redactor.text(body, source)


# Kind → lines in which a private thing stands, with the thing.
PLANTED = {
    "token": [(f"export X={row.example}", row.example) for row in tokens()],
    "login": [
        ("https_proxy=http://zeno:Zp9secret@proxy.house.example:3128", "Zp9secret"),
        ("Looking in indexes: https://zeno:Zp9secret@mirror.example/simple", "Zp9secret"),
        ("git+https://Zp9secretZp9secret@github.com/x/y.git", "Zp9secretZp9secret"),
    ],
    "header": [
        ("curl -H 'Authorization: Bearer Zp9.secret.aa' https://x.example", "Zp9.secret.aa"),
        ("Cookie: session=Zp9secret; theme=dark", "Zp9secret"),
        ("X-Api-Key: Zp9secretZp9", "Zp9secretZp9"),
        ("authorization: basic WnA5OnNlY3JldA==", "WnA5OnNlY3JldA=="),
    ],
    "named": [
        ("DB_PASSWORD=zp9", "zp9"),
        ('{"password": "zp9 with blanks"}', "zp9 with blanks"),
        ("api_key: 'Zp9secretZp9'", "Zp9secretZp9"),
        ("mysql --password zp9zp9 -u root", "zp9zp9"),
        ("run --token=Zp9secretZp9", "Zp9secretZp9"),
        ("https://box.example/x?token=Zp9secretZp9&page=2", "Zp9secretZp9"),
        ("<password>zp9zp9</password>", "zp9zp9"),
        ('{"auths": {"hub.example": {"auth": "WnA5OnNlY3JldA=="}}}', "WnA5OnNlY3JldA=="),
        ("machine api.house.example login zeno password zp9zp9", "zp9zp9"),
        ("psk=zp9zp9zp9", "zp9zp9zp9"),
        ("    Key Content            : zp9zp9zp9", "zp9zp9zp9"),
        ("    SSID                   : Zenos Haus", "Zenos Haus"),
        ("WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"),
    ],
    "user": [
        ("cd /home/zeno/train", "zeno"),
        ("cd /home/zeno/zeno_models", "zeno"),
        ("File /Users/zeno/x.py", "zeno"),
        (r"C:\Users\zeno\AppData\Local", "zeno"),
        (r'"C:\\Users\\Zeno Elea\\AppData"', "Zeno Elea"),
        ("/mnt/c/Users/zeno/x", "zeno"),
        ("uid=1000(zeno) gid=1000(zeno) groups=1000(zeno),44(video)", "zeno"),
        ("zeno@gpu01:~$ nvidia-smi", "zeno"),
        ("(base) zeno@gpu01:/data$ ls", "zeno"),
        ("[zeno@gpu01 ~]$ ls", "zeno"),
        ("drwxr-x--- 1 zeno zeno 0 /srv/models", "zeno"),
        ("docker:x:998:zeno", "zeno"),
        ("USER=zeno", "zeno"),
        ("ssh zeno@gpu01 nvidia-smi", "zeno"),
        ("systemd-logind[1]: New session 4 of user zeno.", "zeno"),
        ("      User Name: Zeno Elea (zeno)", "Zeno Elea"),
    ],
    "host": [
        ("root@eleatic-box:~# dmesg", "eleatic-box"),
        ("Linux eleatic-box 6.8.0-45-generic #45-Ubuntu SMP x86_64", "eleatic-box"),
        ("Nov 22 09:14:11 eleatic-box kernel: NVRM: Xid", "eleatic-box"),
        ("2024-11-22T09:14:11+00:00 eleatic-box systemd[1]: started", "eleatic-box"),
        ("HOSTNAME=eleatic-box", "eleatic-box"),
        (" Static hostname: eleatic-box", "eleatic-box"),
        ("Host Name:                 ELEATIC-BOX", "ELEATIC-BOX"),
        ("127.0.0.1 localhost\n127.0.1.1 eleatic-box.stoa.net eleatic-box", "stoa.net"),
        ("search lab.stoa.net", "stoa.net"),
        ("ssh root@eleatic-box.stoa.net", "eleatic-box.stoa.net"),
        ("MASTER_ADDR=eleatic-box.stoa.net", "stoa.net"),
        ("NodeName=eleatic-[01-08] Gres=gpu:4", "eleatic"),
        ("connecting to db1.stoa.net failed", "stoa.net"),
        ("resolved printer7.stoa.local", "stoa"),
    ],
    "serial": [
        ("    Serial Number                         : 1320221012345", "1320221012345"),
        ("<serial>1320221012345</serial>", "1320221012345"),
        ("index, serial, name\n0, 1320221012345, NVIDIA A100", "1320221012345"),
        ("unique_id 8437564812739123456", "8437564812739123456"),
        ('"IOPlatformSerialNumber" = "C02XK1ZZJGH5"', "C02XK1ZZJGH5"),
        ("GPU[0]\t\t: Unique ID: 0x5c88007c53ef4b6e", "5c88007c53ef4b6e"),
        ("lrwxrwxrwx 1 root root 0 /dev/disk/by-id/nvme-Samsung_SSD_980_S64DNX0R123456 -> ../../nvme0n1", "S64DNX0R123456"),
        ("  Machine ID: 0af1b2c3d4e5f60718293a4b5c6d7e8f", "0af1b2c3d4e5f60718293a4b5c6d7e8f"),
    ],
    "uuid": [
        ("GPU 0: NVIDIA A100 (UUID: GPU-5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513)", "5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513"),
        ("  MIG 1g.5gb Device 0: (UUID: MIG-5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513)", "5c1a0fd2-4b7e"),
        ("root=UUID=0a1b2c3d-1111-4222-8333-444455556666 ro quiet", "0a1b2c3d-1111"),
        ("root=PARTUUID=1a2b3c4d-02", "1a2b3c4d"),
        ("  Uuid:                    GPU-2c8b0a7c1f3d4e5a", "2c8b0a7c1f3d4e5a"),
    ],
    "address": [
        ("    link/ether 3c:ec:ef:12:34:56 brd ff:ff:ff:ff:ff:ff", "3c:ec:ef:12:34:56"),
        ("Physical Address. . . : 3C-EC-EF-12-34-56", "3C-EC-EF-12-34-56"),
        ("node_guid: 0x506b4b03005c1f2a", "506b4b03005c1f2a"),
        ("inet6 fe80::3eec:efff:fe12:3456/64", "3eec:efff:fe12:3456"),
        ("inet 52.14.88.201/24", "52.14.88.201"),
        ("nameserver 8.8.8.8", "8.8.8.8"),
        ("connect to 93.184.216.34 port 443", "93.184.216.34"),
        ("http://93.184.216.34:8080/", "93.184.216.34"),
        ("inet6 2606:2800:220:1:248:1893:25c8:1946/64", "2606:2800:220:1"),
        ("reply to zeno.elea@stoa.net", "zeno.elea@stoa.net"),
    ],
}
LINES = [(kind, line, thing) for kind, lines in PLANTED.items() for line, thing in lines]


@over(LINES, lambda row: f"{row[0]}: {row[1]!r}")
def test_a_private_thing_goes_out_and_is_not_taken_out_twice(row):
    (_kind, line, thing), redactor = row, Redactor()
    told = redacted(line, redactor=redactor)
    assert thing.lower() not in told.lower()
    assert told.count("\n") == line.count("\n")
    assert sum(redactor.counts.values()) > 0
    assert redacted(told) == told


@pytest.mark.parametrize(("kind", "line", "thing"), LINES[:: max(1, len(LINES) // 25)])
def test_it_goes_out_of_text_that_windows_wrote_as_wide_letters_too(kind, line, thing):
    wide = line.encode("utf-16-le").decode("latin-1")
    told = redacted("head\n" + wide)
    assert thing.encode("utf-16-le").decode("latin-1").lower() not in told.lower()


PEM = "-----BEGIN {kind}-----\nMIIEvQIBADANBgkqhkiG\n  9w0BAQEFAASCBKcwggSj\n{end}after\n"


@pytest.mark.parametrize("kind", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_key_of_many_lines_goes_out_line_by_line(kind, whole):
    body = "before\n" + PEM.format(kind=kind, end=f"-----END {kind}-----\n" if whole else "\n.")
    told = redacted(body)
    assert "MIIEvQ" not in told
    assert "9w0BAQEF" not in told
    assert told.count("\n") == body.count("\n")
    assert "after" in told


def test_a_key_inside_a_json_string_goes_out():
    assert "MIIEvQ" not in redacted(r'{"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIB\nAAAA\n-----END PRIVATE KEY-----\n"}')


SURVIVORS = [
    "torch 2.9.1+cu126 gitabc1234 3b9c5e1f7a2d4c6b8e0f1a2b3c4d5e6f7a8b9c0d",
    "NVIDIA-SMI 535.129.03   Driver Version: 535.129.03   CUDA Version: 12.2",
    "|   0  NVIDIA RTX 6000 Ada Gene...  Off | 00000000:01:00.0 Off |  Off |",
    "0000:01:00.0 VGA compatible controller [0300]: NVIDIA [10de:2204] (rev a1)",
    "gfx1103 gfx90a sm_86 compute_90a",
    "Linux version 6.8.0-45-generic (buildd@lcy02-amd64-115) (gcc 13.2.0) #45-Ubuntu SMP PREEMPT_DYNAMIC",
    "nvidia-cudnn-cu12        9.1.0.70",
    "nvidia-cublas-cu12==12.4.5.8 nvidia_cufft_cu12-11.2.1.3.dist-info libcudart.so.12.4.1.0",
    "cuda runtime version 12.4.1.0, WSL version: 2.4.13.0, VBIOS 94.02.71.40.54",
    "Windows 10.0.22621.2506 driver 31.0.15.4601",
    "--index-url https://download.pytorch.org/whl/cu126 --extra-index-url https://mirror.example/simple",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "inet 10.0.0.5/8 192.168.1.7 127.0.0.1 169.254.1.1 203.0.113.9 ::1 fe80::1 2001:db8::7",
    "09:14:11.123 c10::cuda::CUDAError std::bad_alloc at::native",
    "MODALIAS=pci:v000010DEd00002204sv00001458sd0000403Bbc03sc00i00",
    "max_tokens=512 pad_token='<pad>' num_key_value_heads: 8 tokenizer = AutoTokenizer",
    "the password must be entered; a token is required; key=value",
    "pip install tiktoken==0.14.0 detect-secret==1.5.0.post1 my-token==2.0rc1+cu126",
    "git clone git@github.com:pytorch/pytorch.git",
    "getty@tty1.service user@1000.service",
    "_ZN2at6native12_GLOBAL__N_1C2EvKKdZ2a3BcD undefined symbol",
    "undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
    "undefined symbol: _ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEE",
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
    "crw-rw---- 1 root render 0 /dev/kfd",
    "uid=0(root) gid=0(root) groups=0(root),44(video),109(render)",
    "NodeName=node[01-08] Gres=gpu:4",
    "libtorch_cuda.so libcudnn_cnn_infer.so.8 NVIDIA-Linux-x86_64-535.129.03.run",
    "Depends: libx11-6 (>= 2:1.2.99.4), libc6 (>= 2.34)",
    "torch.distributed.run pip._internal.cli torch.utils.collect_env numpy.core.multiarray",
]


@pytest.mark.parametrize("line", SURVIVORS)
def test_what_only_looks_private_stays(line):
    assert redacted(line) == line


def test_one_person_is_the_same_everywhere_and_two_are_two():
    told = redacted("zeno@eleatic-box:~$ ls /home/zeno /home/plato\nuid=1000(zeno)\nplato-notes")
    assert re.fullmatch(r"(user\d)@(host\d):~\$ ls /home/\1 /home/(?!\1)(user\d)\nuid=1000\(\1\)\n\3-notes", told)


def test_nodes_keep_their_numbers_and_two_cards_stay_two():
    told = redacted(
        "NodeName=eleatic-[01-08]\neleatic-07: down\nGPU-5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513\n"
        "GPU-5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e514\nCUDA_VISIBLE_DEVICES=GPU-5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513"
    )
    lines = told.splitlines()
    stem = lines[0].removeprefix("NodeName=").removesuffix("[01-08]")
    assert lines[1] == stem + "07: down"
    assert lines[2] != lines[3]
    assert lines[4] == "CUDA_VISIBLE_DEVICES=" + lines[2]
    assert all(re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", line) for line in lines[2:4])


def test_the_beginning_of_a_uuid_stays_the_beginning_of_its_card():
    told = redacted("GPU-5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513\nCUDA_VISIBLE_DEVICES=GPU-5c1a0fd2").splitlines()
    assert told[0].startswith(told[1].removeprefix("CUDA_VISIBLE_DEVICES="))


def test_somebody_called_like_a_word_of_the_field_goes_out_where_a_name_stands_only():
    told = redacted("ada@titan:~$ ls /home/ada\nuid=1000(ada)\nNVIDIA RTX 6000 Ada Generation, TITAN RTX, titan\n")
    assert "ada@" not in told
    assert "/home/ada" not in told
    assert "(ada)" not in told
    assert "NVIDIA RTX 6000 Ada Generation, TITAN RTX, titan" in told


def snapshot(secret):
    """A machine with one thing planted wherever something can stand."""
    return Snapshot(
        files={"/etc/x/" + secret + ".conf": "a\n" + secret + "\nb", "/etc/plain": "plain"},
        there={"/srv/" + secret},
        absent={"/no/" + secret},
        links={"/etc/link": "/srv/" + secret},
        nodes={"/srv/" + secret: {"type": "file", "mode": "0600", "owner": "root", "group": "root"}},
        who={
            "user": "zeno",
            "uid": 1000,
            "groups": ["zeno"],
            "id": "uid=1000(zeno) groups=1000(zeno)",
            "environment": {"CUDA_HOME": "/x/" + secret, "UNKNOWN": secret, "MY_TOKEN": secret},
        },
        commands={("prog", "--x", secret): Answer("said " + secret), ("late", secret): Answer(None, "refused", secret)},
        recorded=[Recorded(("other", secret), 0, secret)],
        refused={"/root/" + secret: "no " + secret},
        looked={"/y/" + secret},
        folders={"/z/" + secret},
    )


def everything(kept):
    entries = [(entry.path, entry.body, entry.target) for entry in kept.entries()]
    return repr(entries) + repr(kept.companions())


@pytest.mark.parametrize(
    "secret",
    [
        "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",
        "zeno",
        "5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513",
        "52.140.88.201",
        "3c:ec:ef:12:34:56",
        "zeno.elea@stoa.net",
        "Zk3jQ9vT2mLp8RbXy4WcN7dF1gHs6A",
    ],
)
def test_nothing_planted_is_left_anywhere_in_what_was_kept(secret):
    redactor = Redactor()
    kept = snapshot(secret)
    redactor.learn_all(kept)
    told = redactor.snapshot(kept)
    assert secret in everything(kept)
    assert secret not in everything(told)
    assert len(told.files) == len(kept.files)
    assert len(told.commands) == len(kept.commands)


def test_what_was_kept_and_redacted_is_redacted_to_itself():
    redactor, again = Redactor(), Redactor()
    kept = snapshot("zeno.elea@stoa.net")
    redactor.learn_all(kept)
    once = redactor.snapshot(kept)
    again.learn_all(once)
    assert everything(again.snapshot(once)) == everything(once)


def test_unknown_variables_keep_their_names_alone_and_needed_ones_their_values():
    redactor = Redactor()
    kept = Snapshot(
        who={
            "environment": {
                "LD_LIBRARY_PATH": "/opt/x",
                "HSA_OVERRIDE_GFX_VERSION": "11.0.0",
                "FAVOURITE_DISH": "lentils with onions",
                "DB_PASSWORD": "x1",
                "DEBUG": "1",
            }
        }
    )
    redactor.learn_all(kept)
    told = redactor.snapshot(kept).who["environment"]
    assert told["LD_LIBRARY_PATH"] == "/opt/x"
    assert told["HSA_OVERRIDE_GFX_VERSION"] == "11.0.0"
    assert told["FAVOURITE_DISH"] == "left-out"
    assert told["DB_PASSWORD"].startswith("redacted-")
    assert told["DEBUG"] == "1"


def test_variables_that_files_hand_on_are_treated_alike():
    body = 'export DISH="lentils and rice" CUDA_HOME=/usr/local/cuda\nEnvironment="DISH=many lentils" HSA_XNACK=1\nDISH=mine\n'
    told = redacted(body, "/home/x/.bashrc")
    assert "lentils" not in told
    assert "CUDA_HOME=/usr/local/cuda" in told
    assert "HSA_XNACK=1" in told
    assert "DISH=mine" in told


def test_what_no_rule_knows_is_asked_about():
    asked = []
    line = "beacon Zk3jQ9vT2mLp8RbXy4WcN7dF1gHs6A end"
    assert "_ZkQ9vT2" not in redacted("beacon _ZkQ9vT2mLp8RbXy4WcN7dF1gHs6A end")  # which is no symbol of C++, though it begins as one

    def keeps(doubt):
        asked.append(doubt)
        return True

    redactor = Redactor(keeps)
    assert redacted(line, "/etc/x", redactor) == line
    assert [(doubt.what, doubt.source) for doubt in asked] == [("string", "/etc/x")]
    assert "beacon" in asked[0].shown


def test_a_secret_that_is_known_goes_out_whatever_somebody_wants_to_keep():
    redactor = Redactor(lambda _doubt: True)
    assert "hf_Qw" not in redacted("x 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", redactor=redactor)


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
DRAWN = st.text(LETTERS, min_size=36, max_size=60)
SECRETS = st.one_of(
    DRAWN.map("hf_{}".format),
    DRAWN.map("ghp_{}".format),
    DRAWN.map("sk-{}".format),
    DRAWN.map("xoxb-{}".format),
    DRAWN.map("glpat-{}".format),
    st.uuids().filter(lambda one: str(one).count("0") < 20).map(str),
    st.binary(min_size=5, max_size=5).filter(lambda raw: len(set(raw)) > 2).map(lambda raw: "3c:" + raw.hex(":")),
)
PLACES = ["{}", "export A={}", '"{}"', "/opt/{}/x", "say {} now", "--x={}", "<{}>", "({})", "https://x.example/{}?a", "[{}]", "a,{},b"]


@given(SECRETS, st.sampled_from(PLACES), st.text(max_size=40), st.text(max_size=40))
def test_a_secret_goes_out_wherever_it_stands(secret, place, before, after):
    told = redacted(before + "\n" + place.format(secret) + "\n" + after)
    assert secret not in told


@given(st.text(max_size=400))
def test_any_text_keeps_its_lines_and_is_redacted_once(body):
    redactor = Redactor()
    told = redacted(body, redactor=redactor)
    assert told.count("\n") == body.count("\n")
    assert redacted(told, redactor=redactor) == told


@example(["export X=Private-Lines: 1\nQwErTyUiOpAsDfGhJkLzXcVbNm012345"] * 2)
@settings(max_examples=60)
@given(st.lists(st.sampled_from([line for _kind, line, _thing in LINES] + SURVIVORS), max_size=12))
def test_lines_of_all_kinds_together_are_redacted_to_themselves(lines):
    told = redacted("\n".join(lines))
    assert redacted(told) == told


@given(st.binary(max_size=300))
def test_bytes_read_as_text_do_no_harm(raw):
    redacted(raw.decode("utf-8", "replace"))
    redacted(raw.decode("latin-1"))


def test_a_longer_name_that_does_not_stand_there_hides_no_shorter_one():
    redactor = Redactor()
    redactor.learn("zeno@eleatic-box:~$ ls /home/zeno-ele")
    assert redactor.text("zeno-elements") == "user1-elements"


@pytest.mark.parametrize(
    "line",
    [
        "COMPASS=north12345",
        "bypass: enabled2025",
        "/scratch/models/llama",
        "wandb: Run data is saved locally in wandb",
        "from torch.distributed.elastic import agent",
        "host setup.py and libcuda.so.1",
        "kernel 6.8.0-45.generic.de",
        "login: prompt",
        "curl -u x",
        "/t/linux-64/repodata.json",
        "mysql -u root -p mydb",
    ],
)
def test_neighbours_of_the_newer_forms_stay(line):
    assert redacted(line) == line


def test_names_learnt_later_do_not_disturb_earlier_ones():
    redactor = Redactor()
    first = redacted("zeno@eleatic-box:~$ x", redactor=redactor)
    redactor.learn("plato@academy-box:~$ x")
    assert redactor.text("zeno@eleatic-box:~$ x") == first


def test_a_real_user1_is_not_taken_for_somebody_else():
    names = Names(Redactor().made, frozenset())
    names.add("user", "user1")
    names.add("user", "zeno")
    assert names.out_of("user1 zeno") == "user1 user2"


@pytest.mark.parametrize("between", ["\n", "\nError: ", "\nfoo: "])
def test_a_name_and_its_value_told_twice_with_a_tab_are_no_table(between):
    pair = "password\til8V9au4ipZ2g0"
    assert "il8V9au4ipZ2g0" not in outward_text(pair + between + pair)


def test_cells_below_a_head_that_says_secret_go_out():
    told = outward_text("user\tpassword\nada\tb7Qm2xW9\nbob\tk3Zt8vR1\n")
    assert ("b7Qm2xW9" in told, "k3Zt8vR1" in told, "ada" in told) == (False, False, True)
