"""What a repository's tests are and what a run of them is worth. Pure: files and outputs come in
as values, suites and verdicts go out; the tools run what is decided here."""
