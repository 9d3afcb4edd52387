# .bashrc
if [ -f /etc/bashrc ]; then
    . /etc/bashrc
fi
# >>> conda initialize >>>
. "/home/ada/miniforge3/etc/profile.d/conda.sh"
# <<< conda initialize <<<
