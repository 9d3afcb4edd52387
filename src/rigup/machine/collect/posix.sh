#!/bin/sh
# rigup: what is this machine?
#
# This script writes down what `rigup doctor` would read on this machine, for a machine that has no rigup.
# It changes nothing, it sends nothing anywhere, it leaves no file behind, and it needs no root.
# What it finds is printed, as text: send that to a file and look at it before you give it to anybody.
#
#     sh rigup-collect.sh > machine.txt
#
# Then, where rigup is:  rigup doctor --from machine.txt        names what is wrong
#                        rigup capture --from machine.txt      makes an archive with names, addresses and
#                                                              serial numbers taken out
#
# It takes a few seconds, and ends by itself after @SECONDS@ seconds at the latest. A graphics card that is
# asleep is left asleep. Variables are named only where they matter for GPUs; passwords, tokens and keys that
# are known by their form or by their name are blanked. Still in it: names of people, machines and networks, paths,
# addresses, serial numbers, what files set for other programs, and any secret that neither form nor name tells.
#
# RIGUP_ROOT=/mnt/other   reads the system that is mounted there (its programs are not run)
# RIGUP_PATH=/a:/b        where programs are looked for
# RIGUP_WAKE=1            asks cards that are asleep, too; this wakes them

# shellcheck disable=SC2012,SC2317 # ls is what is asked for; functions are called by name

if [ -n "${ZSH_VERSION-}" ]; then emulate sh; fi

rigup_collect() {
# -- surroundings ------------------------------------------------------------------------------------------
NL='
'
R=${RIGUP_ROOT-}
R=${R%/}
if [ -n "$R" ]; then P=${RIGUP_PATH-}; else P=${RIGUP_PATH-$PATH:@TOOLS@}; fi
MOST=@LIMIT@
set +e +u +f +x
IFS=

has() { command -v "$1" >/dev/null 2>&1; }
if head -c 1 </dev/null >/dev/null 2>&1; then first() { head -c "$1"; }
elif has dd; then first() { dd bs=1024 "count=$(($1 / 1024 + 1))"; }
else first() { cat; }; fi
KILLER=
if timeout -s KILL 2 true >/dev/null 2>&1; then KILLER=$(command -v timeout); fi
case $KILLER in /*) ;; *) KILLER= ;; esac
SLEEP=$(command -v sleep)
if ls -ld / >/dev/null 2>&1; then LISTS=1; else LISTS=; fi

# -- what is written: a line that begins with the mark is ours, all others are what was found ------------------
say() { printf '%s%s\n' "$N" "$1"; }
tell() { printf '\r%-60.60s' "rigup: $1" >&3; }
shut() { printf '.\n%send %s\n' "$N" "$1"; }  # the full stop keeps a last line that has no end

there() { # PATTERN...: whether one of them names something
  for q in "$@"; do
    # shellcheck disable=SC2086 # patterns are to be expanded; IFS is empty, so nothing is split
    for p in $R$q; do
      if [ -e "$p" ] || [ -L "$p" ]; then say "there ${p#"$R"}"; return 0; fi
    done
  done
  return 1
}

nothing() { # PATH: absent, unless its folder would not let us see
  d=${1%/*}
  if [ -d "$d" ] && { [ ! -r "$d" ] || [ ! -x "$d" ]; }; then say "refused ${1#"$R"}"; else say "absent ${1#"$R"}"; fi
}

sleeps() { # VENDOR PATH: whether the path is of one of that vendor's cards that are suspended
  [ -n "$1" ] && [ -z "${RIGUP_WAKE-}" ] || return 1
  case $2 in *"$NL"*) return 1 ;; esac
  IFS=$NL
  for s in $ASLEEP; do
    IFS=
    case $s in
      "$1 "*) case $2/ in */"${s#* }"/* | '/') return 0 ;; esac ;;
    esac
  done
  IFS=
  return 1
}

f() { # PATTERN [BYTES [VENDOR]]: files, as they are
  n=0
  # shellcheck disable=SC2086
  for p in $R$1; do
    n=$((n + 1))
    if [ "$n" -gt @FILES@ ]; then say "cut $1"; break; fi
    case $p in *"$NL"*) continue ;; esac
    if [ ! -e "$p" ]; then
      nothing "$p"
    elif sleeps "${3-}" "$p"; then
      say "asleep ${p#"$R"}"
    elif [ -f "$p" ] && [ -r "$p" ]; then
      say "file ${p#"$R"}"
      first "${2:-$MOST}" <"$p"
      shut "$?"
    else
      say "refused ${p#"$R"}"
    fi
  done
}

l() { # PATTERN: what it names, as ls -l prints it
  # shellcheck disable=SC2086
  set -- "$1" $R$1
  if [ ! -e "$2" ] && [ ! -L "$2" ]; then
    say "absent $1"
    return
  fi
  if [ -n "$LISTS" ]; then
    say "list $1"
    shift
    ls -ld -- "$@" | first "$MOST"
    shut 0
  else
    shift
    for p in "$@"; do say "there ${p#"$R"}"; done
  fi
}

within() { # SECONDS PROGRAM ARGUMENT...: ended when the time is up
  if [ -n "$KILLER" ]; then
    "$KILLER" -s KILL "$@"
    return
  fi
  t=$1
  shift
  "$@" &
  c=$!
  (
    i=0
    while [ "$i" -lt "$t" ] && kill -0 "$c"; do
      "$SLEEP" 1 || exit
      i=$((i + 1))
    done
    kill -9 "$c"
  ) >/dev/null 2>&1 &
  wait "$c"
}

r() { # LABEL SECONDS VENDOR PROGRAM ARGUMENT...: what a program prints
  a=$1
  t=$2
  w=$3
  shift 3
  if [ -z "$P" ]; then return; fi
  x=$(PATH=$P; command -v "$1")
  case $x in /*) ;; *) x= ;; esac
  if [ -z "$x" ] || [ -d "$x" ]; then
    say "missing $a"
  elif sleeps "$w" ''; then
    say "asleep $a"
  else
    tell "$1"
    say "run $a"
    shift
    {
      (PATH=$P; export PATH; within "$t" "$x" "$@") </dev/null 2>&1
      printf '.\n%sexit %s\n' "$N" "$?"
    } | first "$MOST"
    printf '\n%send 0\n' "$N"
  fi
}

each() { # VALUES FUNCTION: the function for every line
  IFS=$NL
  set -f
  for v in $1; do
    IFS=
    set +f
    "$2" "$v"
  done
  IFS=
  set +f
}

names() { # the names of all variables; a line of a long value is no variable's name, or tells nothing new
  if has env; then
    env | while IFS= read -r y; do printf '%s\n' "${y%%=*}"; done
  else
    printf '%s\n' @PLAIN@
  fi
}

variable() { # NAME: with its value, if it is one that matters for GPUs
  case $1 in *[!A-Za-z0-9_]* | [0-9]*) return ;; esac
  case $1 in
    @SECRET@) return ;;
    @WANTED@) ;;
    *) return ;;
  esac
  eval "k=\${$1+set} v=\${$1-}"
  # shellcheck disable=SC2154 # eval gives it
  if [ -n "$k" ]; then
    say "variable $1"
    printf '%s' "${v%%"$NL"*}"
    shut 0
  fi
}

unique() { if has sort; then sort -u; else cat; fi | if has head; then head -n 200; else cat; fi; }

under() { # what lies before the last part that tells an environment
  while read -r p; do
    p=${p#"$R"}
    case $p in
      */lib/python3*/*-packages | */lib64/python3*/*-packages) p=${p%/lib*/python3*/*-packages} ;;
      */Lib/site-packages) p=${p%/Lib/site-packages} ;;
      */pyvenv.cfg | */conda-meta) p=${p%/*} ;;
      *) continue ;;
    esac
    printf '%s\n' "$p"
  done
}

paths() { # PATTERN...: what is there
  for q in "$@"; do
    # shellcheck disable=SC2086
    for p in $R$q; do
      if [ -e "$p" ]; then printf '%s\n' "$p"; fi
    done
  done
}

inside() { # SED-SCRIPT PATTERN...: what the script takes out of the files
  e=$1
  k=
  shift
  for q in "$@"; do
    # shellcheck disable=SC2086
    for p in $R$q; do
      if [ -f "$p" ] && [ -r "$p" ]; then k=$k$p$NL; fi
    done
  done
  if [ -z "$k" ]; then return; fi
  IFS=$NL
  set -f
  # shellcheck disable=SC2086 # one name a line
  set -- $k
  set +f
  IFS=
  sed -n "$e" "$@"
}

homes() { # where the person who asks lives and works, and the only home that there is
  set -- "${HOME-}" "${PWD-}" "${USERPROFILE-}" "$R"/home/*
  for p in "$1" "$2" "$3"; do
    case $p in /?*) printf '%s\n' "${p%/}" ;; esac
  done
  if [ $# -eq 4 ] && [ -d "$4" ]; then printf '%s\n' "${4#"$R"}"; fi
  p=$(PATH=$P; id -un)
  case $p in
    root) echo /root ;;
    *[!A-Za-z0-9_.@-]* | '') ;;
    *) printf '/home/%s\n' "$p" ;;
  esac
}

cards() { # addresses of the displays and accelerators, and which of them are suspended
  PciDevice_address=
  ASLEEP=
  for d in "$R"/sys/bus/pci/devices/*; do
    x=
    read -r x <"$d/class"
    case $x in @CLASSES@) ;; *) continue ;; esac
    a=${d##*/}
    PciDevice_address=$PciDevice_address$a$NL
    x=
    read -r x <"$d/power/runtime_status"
    case $x in suspended | suspending) ;; *) continue ;; esac
    read -r w <"$d/vendor"
    for p in "$d" "$d"/drm/card[0-9]*; do ASLEEP="$ASLEEP${w#0x} ${p##*/}$NL"; done
  done
}

# -- the variables and the account first, while the surroundings are still the person's -----------------------
if [ -n "$R" ]; then say "root $R"; fi
say variables
each "$(names)" variable
r '@ACCOUNT@' 5 '' id

LC_ALL=C LANG=C LANGUAGE=C
export LC_ALL LANG LANGUAGE
cards
@RESOLVED@

# -- what rigup's readers ask for ------------------------------------------------------------------------------
@QUESTIONS@
tell ''
printf '\r' >&3
}

rigup_clean() { # takes out what tells secrets by its form, and marks every line
  if echo a | sed -E 's/(a)/\1/' >/dev/null 2>&1; then E=-E; else E=-r; fi
  if echo a | sed "$E" 's/(a)/\1/' >/dev/null 2>&1; then
    LC_ALL=C sed "$E" "@KEYS@
/^$N/{
s/^$N/@/
x
s/.*//
x
b
}"'
@SED@
s/^/|/'
    return
  fi
  while IFS= read -r y || [ -n "$y" ]; do # without sed: a line that might tell something is left out whole
    case $y in
      "$N"*) printf '@%s\n' "${y#"$N"}" ;;
      *://*@* | *[Kk][Ee][Yy]* | *_[A-Za-z0-9]*[0-9][A-Za-z]*[0-9][A-Za-z]* | *eyJ* | @SECRET@) echo '|@BLANK@' ;;
      *) printf '|%s\n' "$y" ;;
    esac
  done
}

rigup_plain() { if echo | tr '\000' '\377' >/dev/null 2>&1; then LC_ALL=C tr '\000' '\377'; else cat; fi; }

rigup_main() {
  N=@$$-$( (od -An -N12 -tx1 /dev/urandom || date +%s) 2>/dev/null | tr -d ' \n')@
  if [ -t 2 ]; then exec 3>&2; else exec 3>/dev/null; fi
  printf '\n%s\n' '@rigup-stream/1 posix'
  {
    rigup_collect </dev/null 2>/dev/null &
    c=$!
    (
      i=0
      while [ "$i" -lt @SECONDS@ ] && kill -0 "$c"; do
        sleep 1 || exit
        i=$((i + 1))
      done
      kill -9 "$c"
    ) >/dev/null 2>&1 3>&- &
    w=$!
    wait "$c"
    x=$?
    kill "$w"
    printf '\n%sdone %s\n' "$N" "$x"
  } 2>/dev/null | rigup_plain | rigup_clean
}

rigup_main
