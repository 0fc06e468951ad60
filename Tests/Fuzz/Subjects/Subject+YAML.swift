import Foundation

#if YAML
    import AfarYAML

    extension Subject {
        static let yaml = [
            Subject("yaml", seeds: yamlSeeds, tokens: yamlTokens) { (input, _) throws(Contradiction) in
                do {
                    _ = try YAMLDataDecoder().decode(JSONValue.self, from: input)
                    return true
                } catch {
                    _ = "\(error)"
                    return false
                }
            },
            Subject("yaml-stream", seeds: yamlSeeds, tokens: yamlTokens + ["\n---\n", "\n...\n", "%YAML 1.1\n"]) {
                (input, random) throws(Contradiction) in
                // Error messages list keys in any order.
                let chunks = random.chunks(of: input)
                let runs = [[input], chunks].map { results(of: YAMLDocumentsParser<JSONValue>(), $0) }
                let values = runs.map { $0.map { (try? $0.get()).map { "\($0)" } } }
                try Contradiction.check(values[0], values[1], "YAML, cut")
                return values[0].contains { $0 != nil }
            },
        ]

        private static let yamlSeeds = [
            "id: 7\nname: Ada\ntags:\n  - a\n  - \"b\\n\"\nok: yes\nnothing: ~\n",
            "&a [x, y]: *a\nb: &b {c: 1, d: [*a, 2.5e3]}\n<<: *b\n",
            "--- |\n  text\n   more\n--- >-\n  folded\n...\n# c\n",
            "? complex key\n: !!str 12\n'single ''quoted''': !!binary QWRh\n? [a]\n",
            "a: &x [1]\nb: [*x, *x]\nc: [*x, *x]\n",
        ]

        private static let yamlTokens = [
            "- ", ": ", "? ", "[", "]", "{", "}", ",", "&a ", "*a", "*a,", "<<: ", "!!", "!!int ", "|", ">", "\n",
            "\n  ",
            "\t", "#", "---", "...", "\"", "'", "\\x", "\u{FEFF}", "\u{85}", "\u{2028}", "%TAG ! x", ".inf", "0x1F",
            "1:30",
            "2026-11-21", "@", "`", "\0",
        ]
    }
#else
    extension Subject {
        /// AfarYAML is built only with the package trait YAML.
        static let yaml: [Subject] = []
    }
#endif
