"""The Job controller, and the removal of finished Jobs and orphaned pods."""
