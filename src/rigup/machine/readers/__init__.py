"""One function a form of text; families of texts have a file each. Importing registers those that a machine is asked by.

Readers of what people paste are registered by `of_texts`, where something was pasted: more than half of all. A file is
imported where one of its functions is called (`reader_index`).
"""

from rigup.machine import reader_index
from rigup.machine.reader_files import MODULES, OF_TEXTS

__all__ = ["MODULES", "OF_TEXTS"]

reader_index.register()
