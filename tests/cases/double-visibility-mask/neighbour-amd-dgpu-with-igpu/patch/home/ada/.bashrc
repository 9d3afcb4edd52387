# ~/.bashrc: executed by bash(1) for non-login shells.
case $- in
    *i*) ;;
      *) return;;
esac
HISTCONTROL=ignoreboth
alias ll='ls -alF'
export ROCR_VISIBLE_DEVICES=GPU-64a40ea517480a77
export HIP_VISIBLE_DEVICES=0
