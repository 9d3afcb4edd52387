# .bashrc
if [ -f /etc/bashrc ]; then
    . /etc/bashrc
fi
export PATH="$HOME/.local/bin:$PATH"
