"""Models, trees, features and dendrograms in files. A crash never leaves a partial file.

container                           -- reads and writes named arrays and plain values, in the layout of safetensors
features, tree, dendrogram, model   -- convert each class to plain values and arrays, and back
loading                             -- saves and loads each kind of file
checkpoint, journal                 -- stores and resumes unfinished work; numbers of rows, which would make it large
atomic                              -- writes a complete file or none
locks, temporary                    -- a file that only one run uses; files that do not outlive the process
"""
