autoload -Uz compinit && compinit
