import Foundation

extension CurlRequest {
    /// A piece of a body.
    private enum Piece {
        case text(String)
        /// A file. For `--data`, its line breaks are removed.
        case file(String, isStripped: Bool)
    }

    mutating func translateMethodAndBody() {
        let kinds = [
            ("-d", pieces.isEmpty ? nil : written(dataName)), ("-F", parts.isEmpty ? nil : "-F"),
            ("-T", value("upload-file").map { _ in "-T" }),
        ].compactMap(\.1)
        guard kinds.count <= 1 else {
            return refuse("\(kinds.joined(separator: " and ")): a request has one body")
        }
        let isGet = flag("get")
        let method = value("request")
        if flag("head") {
            guard kinds.isEmpty || isGet else { return refuse("-I and \(kinds[0]): a HEAD request has no body") }
            guard method == nil || method == "HEAD" else {
                return refuse("-I and -X: choose one. With -X, -i shows the headers")
            }
            add("-I")
        } else if kinds == ["-T"] {
            add("-X", method ?? "PUT")
        } else if let method, method != (kinds.isEmpty || isGet ? "GET" : "POST") {
            add("-X", method)
        }
        if let method, flag("location"), !["GET", "HEAD"].contains(method) {
            ignore(
                "\(written("request")) with -L: after a redirect with 301, 302 or 303, afar can send GET, while curl repeats the method"
            )
        }
        translateData(isGet: isGet)
        for part in parts { add("-F", part) }
        if let path = value("upload-file") {
            if path.contains(/[{}\[\]]/) { refuse("-T \(path): file names aren't expanded. Write a command for each") }
            add("--raw", path == "-" || path == "." ? "-" : "@\(path)")
            // For --upload-file, curl sends no type.
            if !hasHeader("Content-Type") { add("-H", "Content-Type:") }
        }
        for query in values("url-query") {
            guard let text = query.hasPrefix("+") ? String(query.dropFirst()) : encoded(query, of: "--url-query") else {
                continue
            }
            queries.append(text)
        }
    }

    private var dataName: String {
        items.last { Self.dataNames.contains($0.option.name) }?.option.name ?? "data"
    }

    private static let dataNames = ["data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json"]

    private var pieces: [CurlArguments.Item] { items.filter { Self.dataNames.contains($0.option.name) } }

    private mutating func translateData(isGet: Bool) {
        let pieces = pieces
        guard !pieces.isEmpty else { return }
        if isGet { add("-G") }
        let hasJSON = pieces.contains { $0.option.name == "json" }
        let translated = pieces.compactMap { piece($0) }
        guard translated.count == pieces.count else { return }
        if translated.count == 1, case .file(let path, isStripped: false) = translated[0], !isGet {
            add("--raw", path == "-" ? "-" : "@\(path)")
            if !hasJSON, !hasHeader("Content-Type") { add("-H", "Content-Type: application/x-www-form-urlencoded") }
        } else if !hasJSON, pieces.allSatisfy({ $0.option.name != "data-urlencode" }),
            !translated.contains(where: Self.needsJoining)
        {
            for piece in translated {
                switch piece {
                case .text(let text): add("-d", text)
                case .file(let path, _): add("-d", "@\(path)")
                }
            }
        } else if let text = joined(zip(pieces, translated)) {
            add(text.hasPrefix("@") ? "--data-raw" : "-d", text)
        }
        if hasJSON {
            for field in ["Content-Type", "Accept"] where !hasHeader(field) { add("-H", "\(field): application/json") }
        }
    }

    /// Returns whether afar's -d can't express a piece.
    private static func needsJoining(_ piece: Piece) -> Bool {
        switch piece {
        case .text(let text): text.hasPrefix("@")
        case .file(_, let isStripped): !isStripped
        }
    }

    private mutating func piece(_ item: CurlArguments.Item) -> Piece? {
        let value = item.value ?? ""
        let path = value.hasPrefix("@") ? String(value.dropFirst()) : nil
        switch item.option.name {
        case "data", "data-ascii": return path.map { .file($0, isStripped: true) } ?? .text(value)
        case "data-binary", "json": return path.map { .file($0, isStripped: false) } ?? .text(value)
        case "data-urlencode": return encoded(value, of: item.name).map { .text($0) }
        default: return .text(value)
        }
    }

    /// Joins pieces to a body. A "&" separates them, except before a piece of `--json`.
    private mutating func joined(_ pieces: some Sequence<(CurlArguments.Item, Piece)>) -> String? {
        var result: String?
        for (item, piece) in pieces {
            let text: String
            switch piece {
            case .text(let content): text = content
            case .file(let path, let isStripped):
                guard let content = contents(of: path, option: item.name) else { return nil }
                text =
                    isStripped
                    ? String(content.unicodeScalars.filter { !"\r\n\0".unicodeScalars.contains($0) }) : content
            }
            let separator = item.option.name == "json" ? "" : "&"
            result = result.map { $0 + separator + text } ?? text
        }
        return result
    }

    /// Returns the encoded value of `--data-urlencode`.
    private mutating func encoded(_ text: String, of option: String) -> String? {
        let value = URLEncodedValue(text)
        let content = value.isFile ? contents(of: value.content, option: option) : value.content
        return content.map { value.encoded($0.utf8) }
    }

    private mutating func contents(of path: String, option: String) -> String? {
        do {
            if let text = String(data: try read(path), encoding: .utf8) { return text }
            refuse("\(option) @\(path): the file isn't UTF-8 text, and can't be combined with other data")
        } catch {
            refuse("\(option) @\(path): the file can't be read")
        }
        return nil
    }

    // MARK: - Multipart forms

    /// The parts of a multipart form, in the syntax of afar's -F.
    private var parts: [String] {
        items.filter { ["form", "form-string"].contains($0.option.name) }.map { item in
            let value = item.value ?? ""
            guard item.option.name == "form-string", let sign = value.firstIndex(of: "=") else { return value }
            let text = value[value.index(after: sign)...]
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\(value[...sign])\"\(escaped)\""
        }
    }

    // MARK: - Headers

    /// Returns whether a value of -H names the header. Headers in files aren't checked.
    func hasHeader(_ name: String) -> Bool {
        values("header").contains { $0.prefix { !":;".contains($0) }.lowercased() == name.lowercased() }
    }

    mutating func translateHeaders() {
        for header in values("header") {
            let name = header.prefix { !":;".contains($0) }.trimmingCharacters(in: .whitespaces).lowercased()
            if header.hasPrefix("@") {
                guard let text = contents(of: String(header.dropFirst()), option: "-H") else { continue }
                for line in text.split(whereSeparator: \.isNewline) { add("-H", String(line)) }
            } else if header.hasPrefix(":") || !header.contains(":") && header.last != ";" {
                // curl doesn't send these either.
                continue
            } else if name == "content-length" {
                ignore("-H 'Content-Length': it is the length of the body")
            } else if name == "expect" {
                guard !header.trimmingCharacters(in: .whitespaces).hasSuffix(":") else { continue }
                ignore("-H 'Expect': afar doesn't wait for 100 Continue")
            } else {
                add("-H", header)
            }
        }
        if let referer = value("referer") {
            let url = referer.hasSuffix(";auto") ? String(referer.dropLast(5)) : referer
            if url != referer { ignore("\(written("referer")) ;auto: redirects don't change Referer") }
            if !url.isEmpty, !hasHeader("Referer") { add("-H", "Referer: \(url)") }
        }
        if let agent = value("user-agent"), !hasHeader("User-Agent") { add("-A", agent) }
        if let range = value("range"), !hasHeader("Range") { add("-H", "Range: bytes=\(range)") }
        if let condition = value("time-cond") {
            let isUntil = condition.hasPrefix("-")
            let date = isUntil ? String(condition.dropFirst()) : condition
            if date.wholeMatch(of: /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/) != nil {
                add("-H", "\(isUntil ? "If-Unmodified-Since" : "If-Modified-Since"): \(date)")
            } else {
                refuse(
                    "\(written("time-cond")): write -H 'If-Modified-Since: Fri, 01 Mar 2024 12:00:00 GMT' or --cache FOLDER"
                )
            }
        }
    }
}
