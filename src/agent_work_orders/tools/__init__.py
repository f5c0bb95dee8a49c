"""What a task may use. Each tool declares its inputs, outputs, risk and undo."""
