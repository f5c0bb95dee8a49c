"""What there is on GitHub: values, and the git repositories behind them."""
