"""What lists and pages read: made from the journal by an observer of the engine, and made again
from it when it is lost."""
