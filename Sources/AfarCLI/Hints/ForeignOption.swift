import ArgumentParser

/// Explains the options of curl, HTTPie, Wget and load generators that `afar` lacks, or that have another meaning in `afar`.
enum ForeignOption {
    /// What to do instead of using an option.
    enum Answer: Equatable {
        /// Write this option or command.
        case write(String)
        /// Leave the option out, for this reason.
        case omit(String)
        /// `afar` has nothing like it, for this reason.
        case missing(String)

        /// The answer for a list of several tools.
        fileprivate var short: String {
            switch self {
            case .write(let text): "in afar: \(text)"
            case .omit(let reason): "leave it out: \(reason)"
            case .missing(let reason): "not in afar: \(reason)"
            }
        }
    }

    /// An answer for an option of a tool.
    struct Meaning: Equatable {
        var tool: String
        var answer: Answer
    }

    /// Returns the explanation of a parser's message about an option; nil to print the message.
    static func hint(for message: String, in command: String, _ arguments: [String]) -> String? {
        if message.hasPrefix("The value "), let name = message.firstMatch(of: /invalid for '(--[a-z]+) </)?.output.1 {
            // The message contains the value, which can be a password.
            return name == "--auth" ? misused["--auth"] : nil
        }
        if message.prefixMatch(of: /(?:Unexpected argument|\d+ unexpected arguments)/) != nil {
            return MisplacedWords.adviceForUnexpectedArgument(of: command)
        }
        if let name = message.firstMatch(of: /^Unknown option '(-[^'=]+)/)?.output.1 {
            return hint(for: String(name), in: command)
        }
        if let name = message.firstMatch(of: /^Missing value for '(--form|--json) </)?.output.1,
            hasRequestOptions(command)
        {
            return misused[String(name)].map { "\(name) has no value. \($0)" }
        }
        guard message.hasPrefix("Missing expected argument '<url>") else { return nil }
        if let advice = MisplacedWords.adviceForMissingURL(in: arguments) { return advice }
        // The value of the last option can be the URL that is missing.
        return arguments.dropLast().last { $0.hasPrefix("-") }.flatMap { misused[$0] }.map {
            "The URL is missing. \($0)"
        }
    }

    /// Explains an option that a command doesn't have; nil if it is unknown.
    static func hint(for name: String, in command: String) -> String? {
        guard hasRequestOptions(command) else { return nil }
        if ofCommands[command]?[name] == nil,
            CommandOption.all(of: RequestCommand<AnyRequest>.self).contains(where: { $0.names.contains(name) })
        {
            return "afar \(command) has no \(name). It is an option of afar request."
        }
        let meanings = meanings(of: name, in: command)
        guard let first = meanings.first else { return nil }
        if meanings.count > 1 {
            let list = meanings.map { "of \($0.tool) (\($0.answer.short))" }.joined(separator: " and ")
            return "\(name) is an option \(list)."
        }
        switch first.answer {
        case .write(let text): return "\(name) is an option of \(first.tool). In afar, it is: \(text)"
        case .omit(let reason): return "\(name) is an option of \(first.tool). Leave it out: \(reason)."
        case .missing(let reason):
            return "\(name) is an option of \(first.tool), which afar doesn't have: \(reason)."
        }
    }

    /// Returns what an option means in other tools. Abbreviations don't count.
    static func meanings(of name: String, in command: String) -> [Meaning] {
        if let meaning = ofCommands[command]?[name] { return [meaning] }
        if let answer = negated[name] { return [Meaning(tool: "curl", answer: answer)] }
        let option =
            name.hasPrefix("--") ? CurlOption.exactly(long: name) : name.dropFirst().first.flatMap(CurlOption.named)
        let curl = option.map { Meaning(tool: "curl", answer: answer(to: $0)) }
        return [curl, httpie[name].map { Meaning(tool: "HTTPie", answer: $0) }].compactMap(\.self)
    }

    /// Returns whether a command has the options of requests.
    private static func hasRequestOptions(_ command: String) -> Bool {
        let type = AfarTool.configuration.subcommands.first { $0._commandName == command }
        return type as? any RequestSending.Type != nil
    }

    private static func answer(to option: CurlOption) -> Answer {
        if let text = curl[option.name] { return .write(text) }
        if let reason = CurlOption.unneeded[option.name] ?? CurlOption.ignored[option.name] { return .omit(reason) }
        return CurlOption.refused[option.name].map { .missing($0) } ?? .write("afar curl, with curl's options")
    }
}

// MARK: - Table

extension ForeignOption {
    /// The negated options of curl whose positive form has another meaning.
    private static let negated: [String: Answer] = [
        "--no-location": .write("--no-follow"), "--no-fail": .omit("it's the default"),
        "--no-insecure": .omit("it's the default"), "--no-verbose": .omit("it's the default"),
        "--no-include": .omit("it's the default"), "--no-head": .omit("it's the default"),
    ]

    /// The equivalent of the options that continue a file.
    private static let continuation =
        "afar download URL --resume, which continues only downloads that were started with --resume. For a file of another "
        + "program with N bytes, write afar URL -H 'Range: bytes=N-' >> FILE"

    /// The equivalents in `afar` of curl's options with other names. ``CurlOption/unneeded``, ``CurlOption/ignored`` and
    /// ``CurlOption/refused`` explain the options without an equivalent.
    private static let curl = [
        "anyauth": "--user NAME", "basic": "--auth basic", "continue-at": continuation,
        "data-ascii": "--data", "data-binary": "--raw @FILE",
        "digest": "--auth digest", "disable": "--no-config",
        "dump-header": "-i for -D -, which prints the headers before the body, or --har FILE to save them",
        "form": "-F",
        "form-string": "--as multipart NAME=VALUE", "http1.1": "--http 1.1", "http2": "--http 2",
        "http3": "--http 3", "http3-only": "--http 3", "max-redirs": "--max-redirects", "max-time": "--timeout",
        "alpn": "--http 1.1", "negotiate": "--auth negotiate", "netrc": "--netrc", "netrc-optional": "--netrc",
        "noproxy": "--proxy none", "ntlm": "--auth ntlm", "ntlm-wb": "--auth ntlm", "oauth2-bearer": "--bearer",
        "location": "--follow", "pinnedpubkey": "--pin", "range": "-H 'Range: bytes=0-99'",
        "referer": "-H 'Referer: URL'", "remote-header-name": "afar download", "request": "--method",
        "resolve": "--connect-to HOST:PORT:ADDRESS:PORT", "retry-all-errors": "--retry-all",
        "socks5": "--proxy socks5://HOST:PORT",
        "socks5-hostname": "--proxy socks5h://HOST:PORT", "time-cond": "-H 'If-Modified-Since: DATE'",
        "tlsv1.3": "--tls-min 1.3", "upload-file": "--method PUT --raw @FILE", "url": "the URL without an option",
        "url-query": "NAME==VALUE", "buffer": "--stream", "write-out": "afar URL -w FORMAT, or --report FILE",
        "create-dirs": "mkdir -p", "output-dir": "--output FOLDER/NAME",
        "proxy-user": "NAME:PASSWORD@ before the host of --proxy", "path-as-is": "the URL, whose path isn't changed",
        "remote-name-all": "-O", "disallow-username-in-url": "the URL without a user name",
        "proto": "the URL with the scheme", "proto-default": "the URL with the scheme",
        "globoff": "the URL, whose braces and brackets aren't expanded",
    ]

    /// The options of HTTPie and xh that `afar` lacks.
    private static let httpie: [String: Answer] = [
        "-a": .write("--user NAME:PASSWORD --auth basic, or --bearer TOKEN"),
        "--auth-type": .write("--auth basic or digest, or --bearer TOKEN"),
        "--ignore-netrc": .omit("only --netrc reads the file"),
        "-j": .omit("request items are sent as JSON"),
        "--multipart": .write("--as multipart"),
        "--boundary": .missing("it chooses the boundary"),
        "--chunked": .write("--raw -, which sends the standard input"),
        "--compress": .write("gzip -nc FILE | afar URL --raw - Content-Encoding:gzip"),
        "--pretty": .write("--color always or never. A pipe receives the exact bytes"),
        "--style": .missing("it uses the terminal's own colors; --color never turns them off"),
        "--sorted": .missing("headers and members keep their order"),
        "--unsorted": .omit("headers and members keep their order"),
        "--format-options": .missing("JSON and XML are indented by two spaces"),
        "--response-charset": .write("--charset"),
        "--response-mime": .missing("the type is always that of the response"),
        "--all": .write("-v, which shows all requests and responses"),
        "--history-print": .write("-v, which shows all requests and responses"),
        "-P": .write("-v, which shows all requests and responses"),
        "--download": .write("afar download URL, or -O"),
        "--continue": .write(continuation),
        "--quiet": .write("-sS -o /dev/null"),
        "-q": .write("-sS -o /dev/null"),
        "--dry-run": .write("--offline"),
        "--ignore-stdin": .omit("the standard input is read only if the command names it with -"),
        "--max-headers": .omit("the size of the headers is limited"),
        "--verify": .write("-k instead of --verify=no, or --cacert FILE"),
        "--no-verify": .write("-k"),
        "--ssl": .write("--tls-min 1.2 or 1.3"),
        "--cert-key": .write("--key FILE"),
        "--cert-key-pass": .write("--passphrase-file FILE"),
        "--default-scheme": .write("the URL with the scheme"),
        "--https": .write("the URL with the scheme"),
        "--http-version": .write("--http 1.1, 2 or 3"),
        "--native-tls": .omit("the system's authorities are used"),
        "--curl-long": .write("--curl"),
        "--debug": .write("-v"),
        "--traceback": .write("-v"),
    ]

    /// The options of other tools, by command: for example, the options of Wget for `afar download`.
    private static let ofCommands: [String: [String: Meaning]] = [
        "download": [
            "-O": Meaning(
                tool: "curl", answer: .omit("the file has the server's or the URL's name, unless -o names it")),
            "--remote-name": Meaning(tool: "curl", answer: .omit("the file has the server's or the URL's name")),
            "--remote-header-name": Meaning(tool: "curl", answer: .omit("the server can name the file")),
            "-J": Meaning(tool: "curl", answer: .omit("the server can name the file")),
            "--continue-at": Meaning(tool: "curl", answer: .write(continuation)),
            "-C": Meaning(tool: "curl", answer: .write(continuation)),
            "-f": Meaning(tool: "curl", answer: .omit("a download fails if the status isn't 2xx")),
            "--fail": Meaning(tool: "curl", answer: .omit("a download fails if the status isn't 2xx")),
            "--check-status": Meaning(tool: "HTTPie", answer: .omit("a download fails if the status isn't 2xx")),
            "-q": Meaning(tool: "Wget", answer: .write("-s")),
            "--quiet": Meaning(tool: "Wget", answer: .write("-s")),
            "--continue": Meaning(tool: "Wget", answer: .write(continuation)),
            "-P": Meaning(tool: "Wget", answer: .write("-o FOLDER/")),
            "--directory-prefix": Meaning(tool: "Wget", answer: .write("-o FOLDER/")),
            "--output-document": Meaning(tool: "Wget", answer: .write("-o FILE")),
            "--no-check-certificate": Meaning(tool: "Wget", answer: .write("-k")),
        ],
        "bench": [
            "-q": Meaning(tool: "hey", answer: .write("--rate, for all connections together")),
            "-t": Meaning(tool: "wrk", answer: .write("-c, the number of requests at the same time")),
            "--threads": Meaning(tool: "wrk", answer: .write("-c, the number of requests at the same time")),
            "--connections": Meaning(tool: "wrk", answer: .write("-c")),
            "--latency": Meaning(tool: "wrk", answer: .omit("the percentiles are always printed")),
            "-o": Meaning(tool: "hey", answer: .write("--report FILE")),
            "-D": Meaning(tool: "hey", answer: .write("--raw @FILE")),
            "-T": Meaning(tool: "hey", answer: .write("-H 'Content-Type: TYPE'")),
            "-p": Meaning(tool: "ab", answer: .write("--raw @FILE")),
        ],
    ]

    /// Hints for options that have curl's meaning in `afar`. They apply if the URL or a value shows that HTTPie's option is meant.
    private static let misused = [
        "-d": "-d sends data, as in curl. For HTTPie's -d, write afar download URL; for curl's, add the URL.",
        "-F": "-F is a part of a form, as in curl. For HTTPie's -F, leave it out: redirects are followed.",
        "-b": "-b sends cookies, as in curl. For HTTPie's -b, write --body.",
        "-m": "-m is the time limit, as in curl. For HTTPie's -m, write --meta.",
        "-A": "-A is the User-Agent, as in curl. For HTTPie's -A, write --auth basic or digest, or --bearer TOKEN.",
        "-x":
            "-x is the proxy, as in curl. For HTTPie's -x, write gzip -nc FILE | afar URL --raw - Content-Encoding:gzip.",
        "-c": "-c is the file for cookies, as in curl. For HTTPie's -c, write afar download URL --resume.",
        "--form": "For HTTPie's --form, write --as form.",
        "--json": "For HTTPie's --json, leave it out: request items are sent as JSON.",
        "--auth":
            "--auth requires basic, digest, ntlm or negotiate. For HTTPie's --auth, write --user NAME:PASSWORD --auth basic.",
        "-I": "-I requests only the headers (HEAD), as in curl. For HTTPie's -I, leave it out.",
        "--proxy": "For HTTPie's --proxy PROTOCOL:URL, write --proxy URL.",
    ]

    /// The explanation of `-f` with request items, which curl doesn't have.
    static let ambiguousShortFail =
        "-f is ambiguous with data items. For HTTPie's -f, a form, write --as form; for curl's -f, write --fail."

    /// Explains an option whose value shows that HTTPie's option is meant; nil for an option with one meaning.
    static func misuse(of name: String) -> String? { misused[name] }
}

extension CurlOption {
    /// Returns the option with exactly this long name, which begins with dashes. Abbreviations don't match.
    static func exactly(long name: String) -> CurlOption? {
        let text = String(name.dropFirst(2))
        guard case .option(let option, let isOn) = named(long: text), text == (isOn ? option.name : "no-\(option.name)")
        else { return nil }
        return option
    }
}
