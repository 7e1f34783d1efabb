"""The language server: the same findings while one types, and what the dispatcher will do with what one sees."""
