autoload -Uz compinit && compinit
export ROCR_VISIBLE_DEVICES=0
export HSA_OVERRIDE_GFX_VERSION=10.3.0
