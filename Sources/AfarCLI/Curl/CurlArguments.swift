/// The arguments of a curl command, in curl's option syntax.
struct CurlArguments: Equatable {
    /// An option as it appears in the command.
    struct Item: Equatable {
        var option: CurlOption
        /// The name as written, such as "-k" or "--insecure".
        var name: String
        /// The value; nil for a flag.
        var value: String?
        /// Whether a flag is set; false for a name that begins with "--no-".
        var isOn = true
    }

    /// The options, in order, without `--url`.
    private(set) var items: [Item] = []
    private(set) var urls: [String] = []
    /// What can't be parsed.
    private(set) var problems: [String] = []

    /// Parses the arguments after "curl".
    init(_ arguments: [String]) {
        var rest = arguments[...]
        var hasEnded = false
        while let argument = rest.popFirst() {
            if hasEnded || !argument.hasPrefix("-") || argument == "-" {
                if argument.unicodeScalars.first.map({ "\u{2010}\u{2013}\u{2014}\u{2212}".unicodeScalars.contains($0) })
                    == true
                {
                    problems.append("\(argument.prefix(2))…: an option begins with a hyphen (-) instead of a dash.")
                } else {
                    urls.append(argument)
                }
            } else if argument == "--" {
                hasEnded = true
            } else if argument.hasPrefix("--") {
                parse(long: argument, &rest)
            } else {
                parse(short: argument, &rest)
            }
        }
    }

    private mutating func parse(long argument: String, _ rest: inout ArraySlice<String>) {
        switch CurlOption.named(long: String(argument.dropFirst(2))) {
        case .option(let option, let isOn):
            guard option.takesValue else {
                return items.append(Item(option: option, name: argument, value: nil, isOn: isOn))
            }
            guard let value = rest.popFirst() else { return reportMissingValue(argument) }
            append(Item(option: option, name: argument, value: value))
        case .ambiguous(let names):
            problems.append("\(argument) is ambiguous: \(names.joined(separator: ", ")).")
        case .unknown:
            let name = argument.prefix { $0 != "=" }
            if name.count < argument.count, case .option = CurlOption.named(long: String(name.dropFirst(2))) {
                // The message omits the value, which can be a secret.
                problems.append("\(name)=…: curl requires a space instead of the equals sign.")
            } else {
                problems.append("\(name) isn't an option of curl.")
            }
        }
    }

    private mutating func parse(short argument: String, _ rest: inout ArraySlice<String>) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            guard let option = CurlOption.named(letter) else {
                // The rest of the argument can be a value, which can be a secret.
                return problems.append("\(name) isn't an option of curl.")
            }
            guard option.takesValue else {
                // -N is the short name of --no-buffer.
                items.append(Item(option: option, name: name, value: nil, isOn: option.name != "buffer"))
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                return reportMissingValue(name)
            }
            return append(Item(option: option, name: name, value: value))
        }
    }

    private mutating func append(_ item: Item) {
        if item.option.name == "url", let url = item.value { urls.append(url) } else { items.append(item) }
    }

    private mutating func reportMissingValue(_ name: String) { problems.append("\(name) requires a value.") }
}
