"""Learning as machine code: networks, losses, optimiser and rollouts, written in LLVM's IR by `codegen.words`."""
