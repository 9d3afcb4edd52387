eval "$(/opt/homebrew/bin/brew shellenv)"
alias ibrew="arch -x86_64 /usr/local/bin/brew"
export PYTORCH_ENABLE_MPS_FALLBACK=1
