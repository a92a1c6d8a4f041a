"""The names of Genesis that have another name here (`names`), and options that have no effect here (`ignored`)."""
