"""The live view of `rigup watch`.

`picture.py` composes one picture from a sample and what the person chose, without a terminal and without textual: the
first one is written before textual is loaded. `app.py` shows such pictures by textual and turns keys and the mouse into
choices; `feed.py` brings samples, new ones or those of a recording, from a thread of its own.
"""
