"""One module per workload, each with `def run(quick: bool) -> Result`."""
