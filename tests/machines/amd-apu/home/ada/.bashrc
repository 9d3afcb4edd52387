# .bashrc
if [ -f /etc/bashrc ]; then
    . /etc/bashrc
fi
export HSA_OVERRIDE_GFX_VERSION=11.0.0
