"""What is known of causes: a folder for each family, in it a file for each cause with its rules and the parameters of its fixes.

Modules that are named for no cause hold what several causes of the family share; those of this folder serve several families.
`diagnosis/loading.py` reads the files. Causes that a message decides alone have none: their signature row names them.
"""
