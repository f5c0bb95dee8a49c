"""Who we are for GitHub: an App with its installations, or a plain token."""
