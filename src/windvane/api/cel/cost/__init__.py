"""What expressions cost: at most, by types and sizes, and when they run; and the limits of cost, time and memory."""
