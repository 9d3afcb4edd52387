# .bashrc
if [ -f /etc/bashrc ]; then
    . /etc/bashrc
fi
