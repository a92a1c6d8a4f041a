"""What scripts of Genesis name and Tumble has under other names (`names`), or has no use for (`ignored`)."""
