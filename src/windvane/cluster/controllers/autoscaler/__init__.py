"""The HorizontalPodAutoscaler controller."""
