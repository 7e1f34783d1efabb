int tool() { return 1; }
