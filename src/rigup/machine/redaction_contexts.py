"""Forms in which a name stands in a text, and where in a long text they are worth trying."""

import functools
import heapq
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rigup.knowledge.patterns import lazy_regex

_FQDN = r"[A-Za-z0-9](?:[\w-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){0,6}"
_DOTTED = r"[A-Za-z0-9](?:[\w-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){0,5}\.(?!(?i:{files})\b)[A-Za-z][A-Za-z-]{1,23}"
# Ends of names of files and units, which are no top-level domains where they stand without an address.
_FILES = "py|so|txt|log|json|ya?ml|conf|cfg|sh|h|hpp|cpp|cc|cu|ko|service|socket|target|slice|scope|mount|timer|whl|gz|xz|zip|tar|md|rst|toml|exe|dll|bin|run|rpm|deb|onnx|pt|pth|rs|js|ts|pl|lock|list|sources|d|import"
_STORES = "scratch\\d?|data\\d{0,2}|work\\d?|projects?|gpfs|lustre|beegfs|nfs|ceph|fsx|efs|export|storage|netscratch|nobackup|raid|run/media|media|var/mail|var/spool/mail|u|ptmp|hdd\\d?|ssd\\d?|users?|homes?"
_CCTLDS = "de|fr|uk|ch|nl|es|se|fi|dk|cz|ie|gr|ru|ua|cn|jp|kr|br|au|ca|mx|ar|eu|hk|tw|sg|il|za|nz|lu|hu|ro|ee|lv|lt|si|hr|ai|io|cloud|tech|science|systems|online|xyz|hpc|cluster|biz|arpa"


_WINDOW, _OVERLAP = (200_000, 5_000)  # characters that are looked through at once; more than the longest name that is learnt


class Context(NamedTuple):
    """A form in which `x` is a name. One of `hints` occurs where it does."""

    kind: str
    form: re.Pattern[str]
    hints: tuple[str, ...]


def _context(kind: str, form: str, hints: str) -> Context:
    """`hints` stand with `|` between them."""
    holes = {"fqdn": _FQDN, "dotted": _DOTTED, "files": _FILES, "stores": _STORES, "tlds": _CCTLDS}
    for name, pattern in holes.items():
        form = form.replace("{" + name + "}", pattern)
    return Context(kind, lazy_regex(form, re.MULTILINE), tuple(hints.split("|")))


CONTEXTS = (
    _context(
        "user",
        r"(?:/home\d?|/homefs|/homes|/rds/user|/Users|/users|/mnt/[a-z]/Users|%2[Ff](?:home|Users)%2[Ff])/?(?<=[/Ff])(?P<x>\w(?:[\w.-]{0,40}[\w-])?)",
        "/home|/users|/rds/user|%2fhome|%2fusers",
    ),
    _context("user", r"\\{1,4}Users\\{1,4}(?P<x>[^\\/:*?\"<>|\r\n]{1,40})\\", "\\users"),
    _context("user", r"\\{1,4}Users\\{1,4}(?P<x>[\w.-]{1,40})", "\\users"),
    _context("user", r"\b(?:e?uid)=\d{1,10}\((?P<x>[^)\s]{1,64})\)", "uid="),
    _context("known user", r"(?<=[=,])\d{1,10}\((?P<x>[^)\s]{1,64})\)", "gid=|groups="),
    _context("user", r"(?<=[=,])[1-9]\d{3,9}\((?P<x>[^)\s]{1,64})\)", "gid=|groups="),
    _context("user", r"^(?P<x>[^\W\d][\w.-]{0,31}\$?):[x*!]{0,2}:[1-9]\d{3,9}:", ":x:|:*:|:!:"),
    _context("users", r"^[A-Za-z_][\w.-]{0,31}:[x*!]{0,2}:\d{1,10}:(?P<x>[\w.,$-]{1,2000})$", ":x:|:*:|:!:"),
    _context("user", r"^[-dlcbps][-rwxsStT]{9}[.+@]?[ \t]+\d+[ \t]+(?P<x>[^\W\d][\w.-]{0,31})[ \t]", "rwx|rw-|r--|r-x"),
    _context("user", r"^[-dlcbps][-rwxsStT]{9}[.+@]?[ \t]+\d+[ \t]+\S{1,32}[ \t]+(?P<x>[^\W\d][\w.-]{0,31})[ \t]", "rwx|rw-|r--|r-x"),
    _context(
        "user",
        r"^[ \t(>]{0,4}(?:\([\w. -]{1,40}\)[ \t]?)?\[?(?P<x>[^\W\d][\w.-]{0,31})@[A-Za-z0-9][\w.-]{0,62}[: ][^\n$#%>@]{0,120}[$#%>]",
        "@",
    ),
    _context(
        "host",
        r"^[ \t(>]{0,4}(?:\([\w. -]{1,40}\)[ \t]?)?\[?[A-Za-z_][\w.-]{0,31}@(?P<x>[A-Za-z0-9][\w.-]{0,62}?)[: ][^\n$#%>@]{0,120}[$#%>]",
        "@",
    ),
    _context(
        "user",
        r"(?:\b(?:ssh|scp|sftp|rsync|sshfs|mosh)[ \t][^\n@]{0,120}?|ssh://)(?<![\w.-])(?P<x>[^\W\d][\w.-]{0,31})@",
        "ssh |ssh://|scp |sftp |rsync |mosh |sshfs ",
    ),
    _context(
        "host",
        r"(?:\b(?:ssh|scp|sftp|rsync|sshfs|mosh)[ \t][^\n@]{0,120}?|ssh://)[A-Za-z_][\w.-]{0,31}@(?P<x>{fqdn})",
        "ssh |ssh://|scp |sftp |rsync |mosh |sshfs ",
    ),
    _context("host", r"://[^\s/@'\"<>]{1,300}@(?P<x>{fqdn})", "@"),
    _context("unique id", r"\b(?P<x>[0-9a-f]{16}): UUID\b", ": uuid"),
    _context("unique id", r"(?i)\buuid[\"' \t]{0,30}[:=][\"' \t]{0,20}(?:0x)?(?P<x>[0-9a-f]{16})\b", "uuid"),
    _context(
        "user",
        r"(?:^|[\s;\"'])(?:USER|LOGNAME|USERNAME|SUDO_USER|SLURM_JOB_USER|NB_USER|LOGIN|User|Group|SYSTEMD_USER)=\"?(?P<x>[^\W\d][\w.-]{0,40})",
        "user=|username=|group=|login=|logname=",
    ),
    _context(
        "user",
        r"\b(?:session opened for|session closed for|for user|as user|for invalid user|Accepted \w{1,20} for|New session \d{1,8} of user)[ \t](?:user[ \t])?(?P<x>[^\W\d][\w.-]{0,31})",
        "session opened for|session closed for|for user|as user|invalid user|accepted |of user",
    ),
    _context(
        "user",
        r"(?i)^[ \t]{0,12}(?:user ?name|registered owner|registered organization|owner|full name)[ \t]{0,20}:[ \t]{1,20}(?P<x>[^\W\d_][^\r\n:]{0,60}?)[ \t]{0,8}$",
        "user name|username|owner|full name|registered o",
    ),
    _context("user", r"\((?P<x>[^\W\d][\w.-]{1,31})\)[ \t]{0,8}$", "user name:"),
    _context(
        "host",
        r"(?:^|[\s;\"'])(?:HOSTNAME|HOST|COMPUTERNAME|USERDOMAIN|USERDNSDOMAIN|SLURMD_NODENAME|SLURM_SUBMIT_HOST|SLURM_TOPOLOGY_ADDR|SLURM_JOB_NODELIST|SLURM_NODELIST|SLURM_STEP_NODELIST|MASTER_ADDR|NAME_OF_HOST)=\"?\\{0,4}(?P<x>[A-Za-z][\w.-]{0,80})",
        "host=|hostname=|computername=|domain=|nodename=|nodelist=|master_addr=|topology_addr=|name_of_host=",
    ),
    _context(
        "host",
        r"^(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT[\d:.,+Z-]{8,30})[ \t](?P<x>{fqdn})[ \t](?:[\w@./-]{1,60}\[\d{1,8}\]|kernel|systemd|[\w-]{1,30}):",
        "kernel:|]:",
    ),
    _context("host", r"\bLinux[ \t](?P<x>{fqdn})[ \t]\d{1,2}\.\d{1,3}[\w.+-]{0,60}[ \t]#", "linux "),
    _context("host", r"\bDarwin[ \t](?P<x>{fqdn})[ \t]\d{2}\.\d", "darwin "),
    _context(
        "host",
        r"(?i)\b(?:static hostname|transient hostname|pretty hostname|icon hostname|hostname|host ?name|machine name|computer name|local host name|localhostname|system name|dns hostname|logon server|node name|nodename)[\"' \t]{0,30}[:=][\"' \t]{0,20}\\{0,4}(?P<x>[A-Za-z0-9][\w.'’-]{0,80})",
        "hostname|host name|machine name|computer name|system name|node name|nodename|logon server|localhostname",
    ),
    _context(
        "host",
        r"\b(?:NodeName|NodeHostName|NodeAddr|Nodes|NodeList|SlurmctldHost|SlurmdHost|ControlMachine|BackupController|BatchHost|ReqNodeList|AccountingStorageHost|DbdHost|ControlAddr)=(?P<x>[A-Za-z][\w.-]{0,80})",
        "nodename=|nodehostname=|nodeaddr=|nodes=|nodelist=|host=|controlmachine=|controller=|controladdr=",
    ),
    _context(
        "domain",
        r"^[ \t]{0,4}(?:search|domain)[ \t]{1,8}(?P<x>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6})[ \t]{0,4}$",
        "search|domain",
    ),
    _context(
        "host",
        r"(?<![\w./@-])(?P<x>[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,5}\.(?:local|lan|internal|corp|intranet|localdomain|home\.arpa))(?![\w-]|\.\w)",
        ".local|.lan|.internal|.corp|.intranet|.home.arpa",
    ),
    _context(
        "host",
        r"(?<![\w./@\\-])(?P<x>[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){1,5}\.(?:com|net|org|edu|gov|mil|(?:ac|co|edu|gov|com|org)\.[a-z]{2}))(?![\w./-]|\.\w)",
        ".com|.net|.org|.edu|.gov|.mil|.ac.|.co.",
    ),
    _context(
        "serial number",
        r"(?i)\b(?:serial(?: ?(?:number|num|no\.?|nr\.?))?(?: \(system\))?|serialnumber|serial_number|ioplatformserialnumber|(?:product|board|chassis|asic|system|disk|module)_serial|asset ?tag|service ?tag|unique[ _]?id|ecid|provisioning udid)\"?[ \t]{0,40}[:=][ \t]{0,20}\"?(?P<x>(?:0x)?[A-Za-z0-9][\w.-]{3,60}(?![\w./-]))",
        "serial|unique id|unique_id|uniqueid|asset tag|assettag|service tag|servicetag|ecid|udid",
    ),
    _context(
        "serial number",
        r"(?i)<(?:serial|serial_number|uniqueid|unique_id)>(?P<x>[A-Za-z0-9][\w./-]{3,60})</",
        "serial>|serial_number>|uniqueid>|unique_id>",
    ),
    _context("unique id", r"^unique_id (?P<x>\d{6,20})$", "unique_id "),
    _context(
        "user",
        r"/(?:home|Users)/(?:students?|staff|faculty|users?|grads?|phd|guests?|groups?|labs?|people|members?)/(?P<x>[^\W\d][\w.-]{1,40})/",
        "/home/|/users/",
    ),
    _context(
        "user",
        r"\b(?P<x>[A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{2,24})['’]s (?:AirPods|iPhone|iPad|MacBook|iMac|Mac|Phone|PC|Laptop|Desktop|Galaxy|Pixel|Watch|Buds)\b",
        "s airpods|s iphone|s ipad|s macbook|s imac|s mac|s phone|s pc|s laptop|s desktop|s galaxy|s pixel|s watch|s buds",
    ),
    _context("host", r"\b[Pp]ermanently added '\[?(?P<x>{fqdn})[\]',:]", "permanently added"),
    _context("host", r"\b(?:NODELIST|NodeList|NODES)[:=][ \t]{0,8}(?P<x>[A-Za-z][\w.-]{1,62})", "nodelist|nodes:"),
    _context(
        "domain",
        r"\b(?:default_realm|realm|workgroup)[ \t]{0,8}=[ \t]{0,8}(?P<x>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6})",
        "realm|workgroup",
    ),
    _context("unique id", r"\bguid[: =]{1,4}(?P<x>\d{16,20})\b", "guid"),
    _context("unique id", r"(?i)(?:\b|_)guid\w{0,12}[\"' \t]{0,4}[:=]?[\"' \t]{0,4}0x(?P<x>[0-9a-f]{12,16})\b", "guid"),
    _context(
        "serial number",
        r"/by-id/(?:ata|nvme|scsi|usb|mmc|virtio|sas|ieee1394|memstick)-\S{1,120}?_(?P<x>(?:WD-)?[A-Za-z0-9]{6,40})(?=[-_:\s\"]|$)",
        "/by-id/",
    ),
    _context("serial number", r"/by-id/(?:wwn-0x|nvme-eui\.|nvme-nvme\.|dm-uuid-)(?P<x>[\w-]{8,200})", "/by-id/"),
    _context(
        "serial number",
        r"(?i)\b(?:machine|boot|invocation|system|hardware)[ _]?id[\"' \t]{0,30}[:=][\"' \t]{0,20}(?P<x>[0-9a-f]{32})\b",
        "machine id|machine_id|machineid|boot id|boot_id|bootid|invocation id|invocation_id|system id|hardware id",
    ),
    _context("serial number", r"\bsystemd\.machine_id=(?P<x>[0-9a-f]{32})", "systemd.machine_id="),
    _context(
        "folder",
        r"(?:^|[\s=:\"'(,\[>])(?:/(?:cluster|p|net|hpc|global|panfs|pfs|lus|vast|weka|isilon|nas|tank|pool|mnt/[\w-]{1,20})){0,2}(?:/(?:{stores})){1,4}(?:/\w(?=/\w{2})){0,2}/(?P<x>[^\W\d_][\w.-]{1,40})",
        "/scratch|/data|/work|/project|/gpfs|/lustre|/beegfs|/nfs|/ceph|/fsx|/efs|/export|/storage|/netscratch|/nobackup|/raid|/media|/mail|/u/|/ptmp|/hdd|/ssd|/user|/home",
    ),
    _context(
        "group",
        r"\b(?:Account|AccountName|AcctName|Def(?:ault)?Account|AllowAccounts|DenyAccounts|Accounts|WCKey|Wckey|(?:SLURM|SBATCH|SALLOC|PBS|SLURM_JOB)_ACCOUNT|LSB_PROJECT_NAME)=(?P<x>[A-Za-z][\w.-]{1,60})",
        "account=|accountname=|acctname=|accounts=|wckey=|_account=|project_name=",
    ),
    _context(
        "group",
        r"(?:--account[= ]|^[ \t]{0,4}#(?:SBATCH|PBS|BSUB|\$)[ \t]{1,4}-[AP][ \t]{0,3}|\b(?:sbatch|srun|salloc|qsub|bsub)[ \t](?:[^\n]{0,200}?[ \t])?-[AP][ \t]{0,2})(?P<x>[A-Za-z][\w.-]{1,60})",
        "--account|#sbatch|#pbs|#bsub|sbatch |srun |salloc |qsub |bsub ",
    ),
    _context(
        "user",
        r"\b(?:UserId|GroupId|UserName|JobOwner|Job_Owner|euser|egroup)[ ]?=[ ]?(?P<x>[^\W\d][\w.-]{0,40})",
        "userid=|groupid=|username=|job_owner|jobowner|euser|egroup",
    ),
    _context("user", r"(?i)\b(?:currently )?logged in as:?[ \t]{1,4}(?P<x>[^\W\d][\w.-]{1,60})", "logged in as"),
    _context(
        "user",
        r"^[ \t]{0,8}(?:Author|Committer|Signed-off-by|Co-authored-by|Maintainer|Packager|Reported-by):[ \t]{1,8}(?P<x>[^\W\d_][^<\n@]{1,60}?)[ \t]{0,4}<[^>\n]{1,80}@",
        "author:|committer:|-by:|maintainer:|packager:",
    ),
    _context(
        "host",
        r"(?i)\b(?:hostname (?:was )?(?:set|changed) to|set hostname to|hostname changed[^\n]{0,60}?(?:→|->|to)|static hostname changed to|assigned hostname)[ \t:]{1,3}[<\"']?(?P<x>{fqdn})",
        "hostname",
    ),
    _context("host", r"^(?P<x>{fqdn}):\d{2,8}:\d{2,8}[ \t]\[", "nccl"),
    _context("host", r"[a-z0-9]://(?:[^\s/@'\"<>]{1,300}@)?(?P<x>{fqdn})(?=[:/\s\"'<>)?,;]|$)", "://"),
    _context(
        "host",
        r"(?i)\b(?:ssh|ping6?|traceroute|host|hosts|server|servers|connect(?:ed|ing)? to|connection to|resolve|resolving|resolved|lookup|reach|nameserver|peer|mounted from|proxy|relay|endpoint|dial tcp|unknown host|node|ntp|scheduler|controller|broker|master|rdzv_endpoint|address|listening on|bound to)[\"']?[ \t:=]{1,4}[\"'<]?(?P<x>{dotted})(?![\w(])",
        "ssh|ping|traceroute|host|server|connect|resolv|lookup|reach|peer|mounted from|proxy|relay|endpoint|dial tcp|node|ntp|scheduler|controller|broker|master|rdzv|address|listening on|bound to",
    ),
    _context(
        "host",
        r"(?<![\w./@\\-])(?P<x>(?!\d{1,9}[.-])[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){1,5}\.(?:{tlds}))(?![\w./(-]|\.\w)",
        ".de|.fr|.uk|.ch|.nl|.es|.se|.fi|.dk|.cz|.ie|.gr|.ru|.ua|.cn|.jp|.kr|.br|.au|.ca|.mx|.ar|.eu|.hk|.tw|.sg|.il|.za|.nz|.lu|.hu|.ro|.ee|.lv|.lt|.si|.hr|.ai|.io|.cloud|.tech|.science|.systems|.online|.xyz|.hpc|.cluster|.biz|.arpa",
    ),
    _context("serial number", r"\bnqn\.\d{4}[.-]\d\d\.[\w.-]{1,80}:(?:uuid:)?(?P<x>[\w.-]{6,200})", "nqn."),
    _context("serial number", r"\b(?:eui|naa|t10|nvme)\.(?:[0-9a-f]{4}-)?(?P<x>[0-9a-fA-F]{12,200})", "eui.|naa.|t10.|nvme."),
    _context("serial number", r"\bwwn-0x(?P<x>[0-9a-f]{16,32})", "wwn-"),
    _context(
        "user",
        r"\bsudo(?:\[\d{1,8}\])?:[ \t]{1,12}(?P<x>[^\W\d][\w.-]{0,31})[ \t]{1,4}:[ \t](?:[^\n]{0,80} ; )?(?:TTY|PWD|USER|COMMAND)=",
        "sudo",
    ),
    _context("user", r"\bby (?P<x>[^\W\d][\w.-]{0,31})\(uid=\d", "(uid="),
    _context(
        "user",
        r"\bsu(?:\[\d{1,8}\])?: (?:\((?:to )?[\w.-]{1,32}\)|'su [\w.-]{1,32}' (?:succeeded|failed) for) (?P<x>[^\W\d][\w.-]{0,31}) on ",
        "(to |su:|su[",
    ),
    _context("user", r"^(?P<x>[^\W\d][\w.-]{0,31})[ \t]{1,24}(?:pts/\d|tty\w{1,4}|console|:\d)[ \t]", "pts/|tty|console| :0| :1"),
    _context(
        "user", r"^[ \t]{0,8}[\dc]\w{0,6}[ \t]{1,8}\d{3,8}[ \t]{1,8}(?P<x>[^\W\d][\w.-]{0,31})[ \t]{1,8}(?:seat\d|-[ \t])", "seat| - "
    ),
    _context("user", r"(?:^|:)[1-9]\d{3,9}:\d{1,10}:(?P<x>[^\W\d_][^:,\n]{2,60})(?:,[^:\n]{0,80})?:/", ":/home|:/users|:/bin|:/data|:/mnt"),
    _context("user", r"\\{1,4}home\\{1,4}(?P<x>[\w.-]{1,40})", "\\home\\"),
    _context("user", r"^[A-Za-z][\w-]{1,14}\\(?P<x>[a-z][\w.-]{2,31})[ \t]{0,4}$", "\\"),
    _context("user", r"(?i)\b(?:uid|cn|samaccountname)=(?P<x>[a-z][\w. -]{1,60}),(?:ou|cn|dc|o)=", ",ou=|,dc=|,cn=|,o="),
    _context(
        "user",
        r"/tmp/(?:torchinductor|hsperfdata|triton|ray|jupyter|mps|tensorboard|pip-cache|cache)[-_](?P<x>[^\W\d][\w.-]{0,31})(?=[/\s\"']|$)",
        "/tmp/",
    ),
    _context(
        "user",
        r"(?i)\b(?:docker|job|login|current|account|remote|local|effective)[ _](?:user|owner)(?:[ _]?name)?[ \t]{0,12}[:=][ \t]{0,8}(?P<x>[^\W\d][\w.-]{0,31})[ \t]{0,4}$",
        " user| owner|_user|_owner",
    ),
    _context("user", r"\b(?:crontab for |/cron/(?:crontabs/|tabs/)?)(?P<x>[^\W\d][\w.-]{0,31})", "crontab for|/cron/"),
    _context("user", r"\buser\.name[ =]{1,3}[\"']?(?P<x>[^\W\d_][^\"'\n]{1,60}?)[\"']?[ \t]{0,4}$", "user.name"),
    _context(
        "user",
        r"\b(?:wandb\.ai|app\.neptune\.ai|comet\.com)/(?!site|authorize|settings|home|login|api|docs|wandb|new)(?P<x>[A-Za-z][\w.-]{1,40})/",
        "wandb.ai/|neptune.ai/|comet.com/",
    ),
    _context("group", r"\bOneDrive - (?P<x>[^\W\d_][^\\/\r\n:]{1,60})(?=[\\/])", "onedrive - "),
    _context(
        "user",
        r"(?i)^[ \t]{0,12}(?:benutzername|nom d.utilisateur|usuario|utente|utilizador|gebruikersnaam|użytkownik|пользователь|имя пользователя|用户名|用户|使用者名稱|使用者|ユーザー名|사용자 이름)[ \t]{0,20}[:：][ \t]{0,20}(?P<x>[^\W\d_][^\r\n:]{0,60}?)[ \t]{0,8}$",
        "benutzername|utilisateur|usuario|utente|utilizador|gebruikersnaam|użytkownik|пользовател|用户|使用者|ユーザー名|사용자",
    ),
    _context(
        "host",
        r"(?i)^[ \t]{0,12}(?:computername|rechnername|hostnaam|nom de l.h.te|nom du syst.me|nombre de host|nome host|имя узла|имя компьютера|主机名|计算机名|電腦名稱|主機名稱|ホスト名|コンピューター名|컴퓨터 이름)[ \t]{0,20}[:：=][ \t]{0,20}(?P<x>[^\W_][\w.-]{0,60})[ \t]{0,8}$",
        "computername|rechnername|hostnaam|nom de l|nom du syst|nombre de host|nome host|имя |主机名|计算机名|電腦名稱|主機名稱|ホスト名|コンピューター名|컴퓨터",
    ),
    _context(
        "domain",
        r"^[ \t]{0,4}(?:Domain|DNS Domain|Primary Dns Suffix|AD Domain)[ .\t]{0,40}:[ \t]{1,30}(?P<x>[A-Za-z][\w-]{0,62}(?:\.[A-Za-z][\w-]{0,62}){1,5})[ \t]{0,4}$",
        "domain|dns suffix",
    ),
    _context(
        "host",
        r"(?i)\b(?:server name|clustername|cluster name|cluster_name)[\"' \t]{0,8}[:=][\"' \t]{0,8}(?P<x>[a-z][\w.-]{1,60})",
        "server name|clustername|cluster name|cluster_name",
    ),
    _context("host", r"(?<![\w-])host=[\"']?(?!x86|aarch|arm|i\d86|riscv|ppc|true|false|none)(?P<x>[A-Za-z][\w.-]{1,80})", "host="),
    _context(
        "host",
        r"(?i)\b(?:connect|connection|connecting) to (?:host )?(?P<x>{fqdn}) (?:port|\(|closed|timed|refused|\[)",
        "connect to|connection to|connecting to",
    ),
    _context("host", r"\bip=[^\s:]{0,40}:[^\s:]{0,40}:[^\s:]{0,40}:[^\s:]{0,40}:(?P<x>[A-Za-z][\w.-]{0,62})", "ip="),
    _context("host", r"^(?P<x>{fqdn})[ \t]{1,40}(?:Not)?Ready(?:,SchedulingDisabled)?[ \t]", "ready "),
    _context(
        "host",
        r"\b[Rr]ank[ :]?\d{1,6} (?:on|@|at) (?!device|gpu|cuda|node|host|the|rank|port|a\b)(?P<x>[a-z][a-z0-9.-]{2,62})(?=[:,\s]|$)",
        "rank",
    ),
    _context(
        "host",
        r"://(?P<x>[a-z0-9][a-z0-9-]{2,62})\.(?:s3|blob|dfs|file|queue|table|openai|cognitiveservices|azurewebsites|azurecr|sharepoint|webhook)[.-]",
        ".s3|.blob.|.dfs.|.file.|.queue.|.table.|.openai.|.cognitive|.azure|.sharepoint|.webhook",
    ),
    _context("group", r"(?i)\b(?:account|wckey)=(?P<x>[a-z][\w.-]{1,60})", "account=|wckey="),
    _context(
        "group",
        r"^[ \t]{1,8}(?:project|Account_Name|group_list|egroup|euser) = (?P<x>[A-Za-z_][\w.-]{1,60})$",
        "project =|account_name|group_list|egroup|euser",
    ),
    _context(
        "serial number", r"\bS/?N[ \t]{0,8}(?:[:=#]|[ \t])[ \t]{0,8}(?P<x>(?=[A-Z-]{0,12}\d)[A-Z0-9][A-Z0-9-]{6,40})(?![\w.])", "s/n|sn"
    ),
    _context("serial number", r"\bID_(?:WWN|SERIAL)(?:_SHORT|_WITH_EXTENSION)?=(?P<x>[\w.-]{4,200})", "id_serial|id_wwn"),
    _context("serial number", r"(?i)\bserial(?: number)?[ \t]{1,8}(?P<x>(?=[a-z]{0,8}\d)[0-9a-z]{10,24})(?![\w.])", "serial"),
    _context("serial number", r"(?i)\bproduct id[ \t]{0,20}:[ \t]{0,20}(?P<x>[0-9]{5}-[0-9A-Z]{5}-[0-9A-Z]{5}-[0-9A-Z]{5})", "product id"),
    _context("user", r"/afs/[\w.-]{2,60}/(?:user|usr|home|u|users)/(?:\w{1,2}/){0,2}(?P<x>[^\W\d_][\w.-]{2,40})", "/afs/"),
    _context("user", r"(?<![\w/.~+-])~(?P<x>[a-z_][a-z0-9._-]{2,31})/[\w.]", "~"),
    _context(
        "user",
        r"\\{1,4}(?:Profiles|Documents and Settings|用户|使用者|ユーザー|Benutzer|Utilisateurs|Usuarios|Usuários|Utenti|Gebruikers|Użytkownicy|Пользователи)\\{1,4}(?P<x>[^\\/:*?\"<>|\r\n]{1,40})(?=\\|$|[\"'])",
        "\\profiles|\\documents and|\\用户|\\使用者|\\ユーザー|\\benutzer|\\utilisateurs|\\usu|\\utenti|\\gebruikers|\\użytkownicy|\\пользователи",
    ),
    _context(
        "user", r"^(?P<x>[^\W\d][\w.+-]{0,31})[ \t]{1,16}\d{1,8}[ \t]{1,8}\d{1,4}\.\d[ \t]{1,8}\d{1,3}\.\d[ \t]{1,12}\d", " ? |pts/|tty"
    ),
    _context(
        "user",
        r"^[ \t]{0,12}\d{1,8}[ \t]{1,8}(?P<x>[^\W\d][\w.+-]{0,31})[ \t]{1,8}(?:rt|-?\d{1,3})[ \t]{1,8}-?\d{1,2}[ \t]{1,10}[\d.]{1,12}[gmt]?[ \t]",
        " 20 | rt | 30 | 39 | 10 ",
    ),
    _context("user", r"(?i)\bcrond?\[\d{1,8}\]:[ \t]{1,4}\((?P<x>[^\W\d][\w.-]{0,31})\)[ \t]", "cron[|crond["),
    _context("user", r"(?i)\bsession \w{1,8} (?:of|for) user (?P<x>[^\W\d][\w.-]{0,31}?)(?=\.?$|[\s,;]|\.\s)", "of user|for user"),
    _context(
        "user",
        r"^[ \t]{0,18}\d{2,10}(?:[_+]\d{1,8})?[ \t]{1,16}\S{1,24}[ \t]{1,12}\S{1,40}[ \t]{1,12}(?P<x>[^\W\d][\w.-]{0,31})[ \t]{1,12}(?:R|PD|CG|CD|CF|CA|TO|NF|S|F)[ \t]{1,8}[\d:-]{1,16}[ \t]{1,10}\d",
        " r | pd | cg | cd | cf | ca | to | nf | s | f ",
    ),
    _context(
        "user",
        r"^(?!(?:lib|bin|scripts|share|include|src|dlls|tools|users|windows|program|build|dist|tests?|docs?|data|system32)\\)(?:[A-Z][A-Z0-9-]{1,14}|[a-z][a-z0-9-]{1,14})\\(?P<x>[A-Za-z][\w-]{2,31})[ \t]{0,4}$",
        "\\",
    ),
    _context(
        "user",
        r"^\|[ \t]{1,6}\d{1,3}[ \t]{1,8}(?:N/A[ \t]{1,6}N/A[ \t]{1,8})?\d{1,8}[ \t]{1,6}(?P<x>[^\W\d][\w.-]{2,31})[ \t]{1,6}(?:C|G|C\+G)[ \t]",
        "n/a| c | g | c+g ",
    ),
    _context("user", r"(?:\||,)[ \t]{1,4}(?P<x>[^\W\d][\w.-]{2,31})(?::[\w./-]{1,40}(?:/\d{1,8})?)?\(\d{1,7}M\)", "m)"),
    _context(
        "person",
        r"^[ \t#*/-]{0,12}(?:Author|Committer|Maintainer|Packager|Contact|Owner|name|(?i:real ?name)|Registered to|Licensed to|Full name)[ \t]{0,12}[:=][ \t]{1,12}(?P<x>[A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{1,24}(?:[ -][A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{1,24}){1,3})[ \t]{0,8}$",
        "author|committer|maintainer|packager|contact|owner|name =|name:|realname:|real name:|registered to|licensed to",
    ),
    _context(
        "host",
        r"(?:\bsrun: error: |\bslurmstepd: error: |\bsbatch: error: |\bprterun: |\bmpirun: )(?P<x>[A-Za-z][\w.-]{1,62})(?=: (?:task|rank|tasks|ranks)s? )",
        ": task|: rank",
    ),
    _context(
        "host", r"\b(?:STEP|JOB) [\d.+_]{1,20} ON (?P<x>[A-Za-z][\w.-]{1,62}) (?:CANCELLED|DUE|FAILED|COMPLETED|KILLED|TIMEOUT)", " on "
    ),
    _context("hosts", r"^[ \t]{0,4}127\.0\.1\.1[ \t]{1,20}(?P<x>[A-Za-z][\w. \t-]{0,300}?)[ \t]{0,20}(?:#[^\n]{0,200})?$", "127.0.1.1"),
    _context(
        "host", r"(?:^|[\s\"'=(,])\\{2}(?:\\{2})?(?!wsl|localhost|host\b|server\b)(?P<x>[A-Za-z][\w.-]{1,62})\\{1,2}[A-Za-z0-9$_]", "\\\\"
    ),
    _context("host", r"^[ \t]{0,8}(?:Node|Host|Server)s?:[ \t]{1,20}(?P<x>{fqdn})/\d", "node:|host:|server:"),
    _context("host", r"\b(?:scp|rsync)[ \t][^\n]{0,200}?[ \t](?:[\w.-]{1,32}@)?(?P<x>[A-Za-z][\w.-]{1,62}):(?!//)[~/.\w]", "scp |rsync "),
    _context("host", r"(?i)\b(?:client-hostname|host-name|hostname)[ \t]{1,8}[\"'](?P<x>[a-z0-9][\w.-]{1,62})[\"']", "hostname|host-name"),
    _context(
        "serial number",
        r"^[^\w\n]{0,8}(?:sd[a-z]{1,2}|vd[a-z]|hd[a-z]|nvme\d{1,2}n\d)[ \t]{1,12}(?:\S{1,12}[ \t]{1,12}){1,6}?disk[ \t]{1,12}(?:/\S{0,60}[ \t]{1,12})?(?P<x>(?=[A-Z-]{0,20}\d)[A-Z0-9][A-Z0-9-]{7,30})(?=[ \t]|$)",
        " disk",
    ),
    _context(
        "serial number",
        r"(?i)\b(?:machine|boot|invocation)-id[\"' \t]{0,30}[:=][\"' \t]{0,20}(?P<x>[0-9a-f]{32})\b",
        "machine-id|boot-id|invocation-id",
    ),
    _context("account number", r"\barn:aws[a-z-]{0,12}:[a-z0-9-]{0,30}:[a-z0-9-]{0,30}:(?P<x>\d{12}):", "arn:aws"),
    _context("account number", r"(?<![\w.-])(?P<x>\d{12})\.dkr\.ecr\.", ".dkr.ecr."),
    _context(
        "account number",
        r"(?i)\baws[_ -]?account(?:[_ -]?id)?[\"' \t]{0,8}[:=][\"' \t]{0,8}(?P<x>\d{12})\b",
        "aws_account|awsaccount|aws account|aws-account",
    ),
    _context(
        "account number",
        r"(?<![\w-])(?:i|vol|eni|vpc|subnet|eipalloc|snap|rtb|igw|fs|lt)-(?P<x>[0-9a-f]{17})(?![\w-])",
        "i-|vol-|eni-|vpc-|snap-|rtb-|igw-|fs-|lt-|subnet-|eipalloc-",
    ),
    _context(
        "network",
        r"(?i)\b(?:wireless|wi-?fi|wlan\d?|airport)\b[^\n]{0,40}?\b(?:connected to|connection|network|associated with|joined)[ \t:'\"‘“]{1,4}(?P<x>[^\W_][\w .-]{1,31}?)[ \t]{0,8}(?=$|[\"'’”,;])",
        "connected to|connection|network|associated with|joined",
    ),
    _context("serial number", r"(?i)\b(?:imei|imsi|iccid|meid)[ \t]{0,8}[:=]?[ \t]{0,8}(?P<x>\d{14,20})", "imei|imsi|iccid|meid"),
    _context(
        "user",
        r"(?i)^[^\n]{0,120}?\b(?:gpasswd -[ad]|usermod (?:-\w{1,4} )?-aG? \S{1,80}|usermod -\w{0,3}G \S{1,80}|adduser|deluser|enable-linger|chage -l)[ \t]{1,4}(?P<x>[a-z_][\w.-]{1,31})(?=\s|$)",
        "gpasswd -|usermod |adduser |deluser |enable-linger |chage ",
    ),
    _context("user", r"\bchown[ \t]{1,4}(?:-\w{1,6}[ \t]{1,4}){0,3}(?P<x>[A-Za-z_][\w.-]{1,31})(?::[\w.-]{0,31})?[ \t]", "chown "),
    _context("user", r"\bnew user: name=(?P<x>[^\W\d][\w.-]{0,31})", "new user:"),
    _context(
        "user",
        r"^(?P<x>[^\W\d][\w.-]{1,31}) is not (?:in the sudoers file|allowed to (?:run|execute))",
        "is not in the sudoers|is not allowed to",
    ),
    _context("user", r"\\{1,4}(?:homes?|users?|profiles?)\$?\\{1,4}(?P<x>[A-Za-z][\w.-]{1,40})\\", "\\home|\\user|\\profile"),
    _context(
        "user", r"\barn:aws[a-z-]{0,12}:iam::\d{0,12}:(?:user|role)/(?:[\w-]{1,40}/){0,3}(?P<x>[A-Za-z][\w.@-]{1,62})", ":user/|:role/"
    ),
    _context("group", r"\barn:aws[a-z-]{0,12}:s3:::(?P<x>[a-z0-9][\w.-]{1,62})", ":s3:::"),
    _context(
        "group", r"\bprojects/(?P<x>[a-z][a-z0-9-]{4,28}[a-z0-9])/(?:locations|zones|regions|serviceAccounts|secrets|global)\b", "projects/"
    ),
    _context("host", r"^\[(?P<x>[A-Za-z][\w.-]{1,62}):\d{2,8}\](?: |$)", "["),
    _context(
        "host",
        r"^(?P<x>{fqdn}):/[\w/.-]{0,120}[ \t]{1,12}(?:/[\w/.-]{0,120}[ \t]{1,8}(?:nfs4?|lustre|ceph|glusterfs)\b|[\d.]{1,8}[KMGTP]?[ \t])",
        " nfs| lustre| ceph| glusterfs|:/",
    ),
    _context("host", r"\bssh[ \t][^\n]{0,80}?-J[ \t]?(?:[\w.-]{1,32}@)?(?P<x>{fqdn})", " -j "),
    _context(
        "host",
        r"--(?:rdzv[-_]endpoint|master[-_]addr|main_process_ip)[= ](?P<x>[A-Za-z][\w.-]{1,62})(?=[:\s]|$)",
        "rdzv-endpoint|rdzv_endpoint|master_addr|master-addr|main_process_ip",
    ),
    _context(
        "hosts",
        r"\b(?:mpirun|mpiexec|prterun|horovodrun|pdsh)[ \t][^\n]{0,120}?(?:-H|--?hosts?|-w)[ =](?P<x>[A-Za-z][\w.,-]{1,400})(?=[:\s]|$)",
        "mpirun |mpiexec |prterun |horovodrun |pdsh ",
    ),
    _context("serial number", r"\bip-(?P<x>(?:\d{1,3}-){3}\d{1,3})(?![\w-])", "ip-"),
    _context("serial number", r"/by-uuid/(?P<x>[0-9A-F]{4}-[0-9A-F]{4})\b", "/by-uuid/"),
    _context("serial number", r"\biqn\.\d{4}-\d\d\.[\w.-]{1,80}:(?P<x>[\w.:-]{4,80})", "iqn."),
    _context(
        "serial number",
        r"(?:序列号|序號|シリアル(?:番号|ナンバー)|일련 ?번호|[Сс]ерийный номер|[Ss]eriennummer|[Nn]uméro de série|[Nn]úmero de s(?:erie|érie))[ \t]{0,8}[:：=][ \t]{0,8}(?P<x>[\w.-]{4,60})",
        "序列号|序號|シリアル|일련|серийный номер|seriennummer|de série|de serie",
    ),
    _context(
        "serial number",
        r"\b(?:sn|pcie_sn|serial_no|serialno|sno)[ \t]{0,4}(?:[:=]|[ \t])[ \t]{0,4}(?P<x>(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9][A-Za-z0-9-]{6,40})(?![\w.])",
        "sn|serial|sno",
    ),
    _context(
        "person",
        r"^(?:uid[ \t]{1,16}(?:\[[\w ]{1,12}\][ \t]{1,4})?|(?:From|To|Cc|Reply-To|Sender): )(?P<x>[A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{1,24}(?:[ -][A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{1,24}){1,3})[ \t]{1,4}<",
        "uid |from: |to: |cc: |sender: ",
    ),
    _context(
        "person",
        r"(?:\b(?:GIT_(?:AUTHOR|COMMITTER)_NAME|DEBFULLNAME)=[\"']?|\"(?:displayName|fullName|realName|full_name|display_name|givenName)\"[ \t]{0,4}:[ \t]{0,4}\")(?P<x>[A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{1,24}(?:[ -][A-ZÀ-ÞΑ-ЯŁŚŻ][^\W\d_]{1,24}){1,3})",
        "_name=|debfullname=|displayname|fullname|realname|full_name|display_name",
    ),
)

# A table of hosts: only where a text is known to be one, for many lines begin with an address.
HOSTS = _context(
    "hosts",
    r"^[ \t]{0,4}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:]{1,40})[ \t]{1,20}(?P<x>[A-Za-z][\w. \t-]{0,300}?)[ \t]{0,20}(?:#[^\n]{0,200})?$",
    ".",
)

# Files whose whole text is one private thing, by how their paths end.
WHOLE_FILES = (
    ("host", lazy_regex(r"/(?:etc/hostname|proc/sys/kernel/hostname|etc/mailname|HOSTNAME)\Z")),
    ("domain", lazy_regex(r"/proc/sys/kernel/domainname\Z")),
    ("unique id", lazy_regex(r"/unique_id\Z")),
    (
        "serial number",
        lazy_regex(
            r"/(?:serial(?:_number)?|(?:product|board|chassis)_serial|(?:board|chassis)_asset_tag|wwid|machine-id|"
            r"serial-number|sys_image_guid|node_guid)\Z"
        ),
    ),
)


def matching_contexts(body: str) -> Iterator[tuple[Context, int, int]]:
    """Contexts with the lines that they are worth trying on, in the order of the text."""
    contexts, finder = _finder()
    done: dict[int, int] = {}
    start = end = -1
    for at, number in heapq.merge(*_places(finder, lowered(body))):
        if not start <= at <= end:  # else a line without end would be gone through for each word in it
            start, end = body.rfind("\n", 0, at) + 1, body.find("\n", at)
            end = len(body) if end < 0 else end
        for index in contexts[number]:
            if done.get(index, -1) != start:
                done[index] = start
                yield CONTEXTS[index], start, end


def _places(finder: Any, body: str) -> Iterator[Iterator[tuple[int, int]]]:
    """Where each hint stands; a sign that may fill a text counts once a line."""
    yield ((at, number) for number, at, _end in matches(finder, body))
    for number, hint in enumerate(_hints()):
        if len(hint) == 1:
            yield _by_line(body, hint, number)


def _by_line(body: str, hint: str, number: int) -> Iterator[tuple[int, int]]:
    at = body.find(hint)
    while at >= 0:
        yield at, number
        end = body.find("\n", at)
        at = body.find(hint, end) if end >= 0 else -1


@functools.cache
def _hints() -> list[str]:
    return sorted({hint for context in CONTEXTS for hint in context.hints})


@functools.cache
def _finder() -> tuple[list[list[int]], Any]:
    import ahocorasick_rs

    hints = _hints()
    users = [[index for index, context in enumerate(CONTEXTS) if hint in context.hints] for hint in hints]
    return users, ahocorasick_rs.AhoCorasick([hint if len(hint) > 1 else "\0" + hint + "\0" for hint in hints])


def matches(finder: Any, body: str) -> Iterator[tuple[int, int, int]]:
    """Every place of every word, by its end. A list of all would take a hundred times the room of a text full of them."""
    done = 0
    for start in range(0, len(body), _WINDOW):
        first = max(0, start - _OVERLAP)
        for number, at, end in finder.find_matches_as_indexes(body[first : start + _WINDOW], overlapping=True):
            if first + end > done:
                yield number, first + at, first + end
        done = start + _WINDOW


def lowered(body: str) -> str:
    """Lower case, letter for letter: of the few that become two letters the case is kept."""
    lower = body.lower()
    if len(lower) == len(body):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in body)
