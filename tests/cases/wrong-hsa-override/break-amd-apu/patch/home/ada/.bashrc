# .bashrc
if [ -f /etc/bashrc ]; then
    . /etc/bashrc
fi
export HSA_OVERRIDE_GFX_VERSION=10.3.0
