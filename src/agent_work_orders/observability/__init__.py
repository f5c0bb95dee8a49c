"""What the server says about itself: logs now; metrics, traces and alerts later."""
