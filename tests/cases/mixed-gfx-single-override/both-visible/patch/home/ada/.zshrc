autoload -Uz compinit && compinit
export HSA_OVERRIDE_GFX_VERSION=10.3.0
