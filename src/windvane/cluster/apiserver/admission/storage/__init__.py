"""The admission plugins about volumes and their classes."""
