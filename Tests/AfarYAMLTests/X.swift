import AfarYAML
