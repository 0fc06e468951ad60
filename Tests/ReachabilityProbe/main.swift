Probe(ProbeOptions(Array(CommandLine.arguments.dropFirst()))).run()
