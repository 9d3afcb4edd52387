autoload -Uz compinit && compinit
export ROCR_VISIBLE_DEVICES=0
