eval "$(/opt/homebrew/bin/brew shellenv)"
