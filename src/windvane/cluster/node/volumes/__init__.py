"""The volumes of pods: directories, what they are filled with, and how they are removed."""
