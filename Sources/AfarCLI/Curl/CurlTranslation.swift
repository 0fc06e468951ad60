import Foundation

/// The `afar` command lines that do the same as a curl command.
struct CurlTranslation: Equatable {
    /// The arguments after "afar", for each URL.
    private(set) var commands: [[String]] = []
    /// The options whose effect is lost, each with the reason: "--xattr: …".
    private(set) var ignored: [String] = []
    /// What can't be translated, each with the reason and an alternative. If there are problems, ``commands`` is empty.
    private(set) var problems: [String] = []

    /// Translates a pasted command.
    ///
    /// - Parameter read: Returns the contents of the file at a path, or the standard input for "-". It is called only if
    ///   `--data-urlencode` names a file, or if a file is combined with other data.
    init(command text: String, read: @escaping (String) throws -> Data) {
        do {
            let words = try ShellWords.split(text)
            self.init(arguments: words, isCommand: true, read: read)
        } catch {
            self.init(problem: error.message)
        }
    }

    private init(problem: String) { problems = [problem] }

    /// Translates arguments, which can begin with "curl".
    ///
    /// - Parameter isCommand: Whether the arguments must begin with "curl".
    init(arguments: [String], isCommand: Bool = false, read: @escaping (String) throws -> Data) {
        var arguments = arguments[...]
        let isNamed = arguments.first.map { ["curl", "curl.exe"].contains($0.split(separator: "/").last) } ?? false
        guard isNamed || !isCommand else {
            // A word such as TOKEN=abc can contain a secret.
            let word = arguments.first?.prefix { $0 != "=" } ?? ""
            problems = ["The command must begin with curl, not \"\(word.prefix(40))\"."]
            return
        }
        if isNamed { arguments.removeFirst() }
        let parsed = CurlArguments(Array(arguments))
        var request = CurlRequest(parsed, read: read)
        request.translate()
        (ignored, problems) = (request.ignored, parsed.problems + request.problems)
        guard problems.isEmpty else { return }
        commands = parsed.urls.indices.compactMap { request.command(forURLAt: $0) }
        (ignored, problems) = (request.ignored, request.problems)
        if !problems.isEmpty { commands = [] }
    }
}

/// A curl command while it is translated.
struct CurlRequest {
    let items: [CurlArguments.Item]
    let urls: [String]
    let read: (String) throws -> Data
    /// The arguments that are the same for all URLs.
    var arguments: [String] = []
    /// The parameters that are added to each URL, encoded.
    var queries: [String] = []
    private(set) var ignored: [String] = []
    private(set) var problems: [String] = []

    init(_ parsed: CurlArguments, read: @escaping (String) throws -> Data) {
        (items, urls, self.read) = (parsed.items, parsed.urls, read)
    }

    /// The options that ``translate()`` and ``command(forURLAt:)`` read.
    static let translated = Set(
        """
        anyauth basic cacert cert cert-type connect-timeout connect-to cookie cookie-jar create-dirs data data-ascii \
        data-binary data-raw data-urlencode digest disallow-username-in-url doh-url dump-header fail fail-with-body form \
        form-string get globoff head header http1.1 http2 http3 http3-only alpn include insecure interface ipv4 ipv6 json \
        keepalive-time key key-type limit-rate location max-redirs max-time negotiate netrc netrc-file netrc-optional noproxy \
        ntlm ntlm-wb oauth2-bearer output output-dir path-as-is pinnedpubkey proto proto-default proto-redir proxy proxy-user \
        proxytunnel range referer remote-header-name remote-name remote-name-all request resolve retry retry-all-errors \
        retry-delay show-error silent socks5 \
        socks5-hostname time-cond tlsv1.3 unix-socket upload-file url-query user user-agent verbose buffer write-out
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    mutating func translate() {
        for item in items where item.option.isChanged(to: item.isOn) {
            if let reason = CurlOption.refused[item.option.name] {
                refuse("\(item.name): \(reason)")
            } else if let reason = CurlOption.ignored[item.option.name] {
                ignore("\(item.name): \(reason)")
            }
        }
        if urls.isEmpty { refuse("the command has no URL") }
        translateMethodAndBody()
        translateHeaders()
        translateCredentials()
        translateCookies()
        translateNetwork()
        translateSecurity()
        translateOutput()
    }

    // MARK: - Options

    /// Returns the values of an option, in order.
    func values(_ name: String) -> [String] { items.filter { $0.option.name == name }.compactMap(\.value) }

    /// Returns the last value of an option.
    func value(_ name: String) -> String? { items.last { $0.option.name == name }?.value }

    /// Returns whether a flag is set last.
    func flag(_ name: String) -> Bool { items.last { $0.option.name == name }?.isOn ?? false }

    /// Returns the last option with one of the names.
    func last(_ names: String...) -> CurlArguments.Item? {
        items.last { names.contains($0.option.name) && $0.isOn }
    }

    /// Returns the last option with the name, as written.
    func written(_ name: String) -> String { items.last { $0.option.name == name }?.name ?? "--\(name)" }

    /// Adds an option with its value.
    mutating func add(_ arguments: String...) { self.arguments += arguments }

    /// If the command has an option, adds the option of afar with the same meaning.
    mutating func pass(_ name: String, as option: String) {
        if let value = value(name) { add(option, value) }
    }

    mutating func ignore(_ text: String) { if !ignored.contains("\(text).") { ignored.append("\(text).") } }

    mutating func refuse(_ text: String) { if !problems.contains("\(text).") { problems.append("\(text).") } }

    // MARK: - URL

    /// Returns the arguments of the command for a URL.
    mutating func command(forURLAt index: Int) -> [String]? {
        guard var url = completeURL(urls[index]) else { return nil }
        if let path = value("upload-file"), url.hasSuffix("/") {
            url += Self.escaped(URL(filePath: path).lastPathComponent.utf8)
        }
        if !queries.isEmpty { url = Self.adding(queries.joined(separator: "&"), to: url) }
        var command = [url] + arguments
        if let noproxy = value("noproxy") {
            if Self.isExcluded(URLText.host(of: url), from: noproxy) { command += ["--proxy", "none"] }
        }
        command += output(forURLAt: index, url: url)
        return command
    }

    private mutating func completeURL(_ text: String) -> String? {
        var url = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if !flag("globoff") {
            // Braces and brackets expand to several URLs, except for the brackets of an IPv6 address.
            let rest = url.replacing(/^([A-Za-z]+:\/\/)?([^\/@]*@)?\[[0-9A-Fa-f:.%]+\]/, with: "")
            if let pattern = rest.replacing(/\\[{}\[\]]/, with: "").firstMatch(of: /[{}\[\]].*?([}\]]|$)/)?.output.0 {
                refuse("\(pattern): URLs aren't expanded. Write each URL, or -g if these characters are part of it")
                return nil
            }
            url.replace(/\\([{}\[\]])/, with: { String($0.output.1) })
        }
        if url.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//) == nil {
            url = "\(value("proto-default") ?? "http")://\(url)"
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else {
            let advice = ["ws", "wss"].contains(scheme) ? "use afar ws" : "afar supports http and https"
            refuse("\(scheme): \(advice)")
            return nil
        }
        if let allowed = value("proto"), !Self.allows(scheme, allowed) {
            refuse("\(written("proto")) \(allowed): the URL begins with \(scheme)")
        }
        if flag("disallow-username-in-url"),
            let authority = url.dropFirst(scheme.count + 3).split(separator: "/").first,
            authority.contains("@")
        {
            refuse("--disallow-username-in-url: the URL contains a user name")
        }
        return flag("path-as-is") ? url : Self.withoutDots(url)
    }

    /// Removes "." and ".." from the path of a URL (RFC 3986, section 5.2.4). afar sends them unchanged.
    private static func withoutDots(_ url: String) -> String {
        let scheme = url.range(of: "://", options: .literal)?.upperBound ?? url.startIndex
        let end = url.unicodeScalars[scheme...].firstIndex { "?#".unicodeScalars.contains($0) } ?? url.endIndex
        let start = url.unicodeScalars[scheme..<end].firstIndex(of: "/") ?? end
        guard url[start..<end].contains("/.") else { return url }
        var segments: [Substring] = []
        let all = url[start..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(all.indices, all) {
            let isDot = segment == "." || segment == ".."
            if segment == "..", !segments.isEmpty { segments.removeLast() }
            if !isDot { segments.append(segment) } else if index == all.endIndex - 1 { segments.append("") }
        }
        return url[..<start] + "/" + segments.joined(separator: "/") + url[end...]
    }

    /// Adds encoded parameters to the query of a URL.
    private static func adding(_ query: String, to url: String) -> String {
        let end = url.unicodeScalars.firstIndex(of: "#") ?? url.endIndex
        let separator =
            !url[..<end].contains("?") ? "?" : url[..<end].hasSuffix("?") || url[..<end].hasSuffix("&") ? "" : "&"
        return url[..<end] + separator + query + url[end...]
    }

    /// Returns whether a list such as "=https" or "-all,http,https" allows a scheme.
    static func allows(_ scheme: String, _ list: String) -> Bool {
        var isAllowed = true
        for element in list.lowercased().split(separator: ",") {
            let sign = element.first.flatMap { "=+-".contains($0) ? $0 : nil }
            let name = sign == nil ? element : element.dropFirst()
            let isNamed = name == scheme || name == "all"
            switch sign {
            case "=": isAllowed = isNamed
            case "-": isAllowed = isAllowed && !isNamed
            default: isAllowed = isAllowed || isNamed
            }
        }
        return isAllowed
    }

    /// Returns whether a list of names for `--noproxy` contains a host.
    static func isExcluded(_ host: String, from list: String) -> Bool {
        let name =
            host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : String(host.prefix { $0 != ":" })
        return list.split { $0 == "," || $0.isWhitespace }.contains { entry in
            let entry = entry.drop { $0 == "." }.lowercased()
            return entry == "*" || name.lowercased() == entry || name.lowercased().hasSuffix(".\(entry)")
        }
    }

    /// Percent-encodes everything except unreserved characters (RFC 3986, section 2.3).
    static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return bytes.map {
            unreserved.contains($0) ? String(Unicode.Scalar($0)) : String(format: "%%%02X", Int($0))
        }
        .joined()
    }
}
