"""What an operator tells of itself: logs, Events, metrics, traces, its health, and the history of its passes."""
