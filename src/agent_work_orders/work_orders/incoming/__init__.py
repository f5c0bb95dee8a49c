"""What comes in from GitHub: a stored delivery is read (`github_event`), compared with the rules
(`rules`, `triggers`), its author's rights are asked for (`permissions`), and it is carried out
(`carry_out`, `comment_verbs`). `intake` is the loop that does it, once for each."""
