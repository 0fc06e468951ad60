package import Foundation

/// A curl command line that sends a request.
package struct CurlCommand {
    /// The source of the body.
    package enum Body {
        case data(Data)
        case file(path: String)
        /// The user who runs the command provides the body.
        case standardInput
        /// A multipart form, as curl's options for its parts.
        case form(words: [String])
    }

    /// The method's name.
    package var method: String
    /// The URL as it is sent.
    package var url: String
    /// The headers, in the order in which they are sent.
    package var headers: HTTPHeaders
    /// The headers that curl must not add.
    package var suppressedHeaders: [String] = []
    /// The body, if there is one.
    package var body: Body?
    /// Whether curl decodes compressed responses. It requests compression unless the headers do.
    package var isDecoding = true
    /// The user and password with which curl answers an authentication challenge, if any.
    package var credential: (user: String, password: String)?
    /// The value of a `Cookie` header that curl sends in addition to the headers, if any.
    package var cookies: String?
    /// The maximum number of redirects that curl follows; nil if it follows none.
    package var maximumRedirects: Int?
    /// Additional curl options.
    package var options: [String] = []

    package init(method: String, url: String, headers: HTTPHeaders, body: Body?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Linux limits an argument to 128 KiB; quoting can lengthen the text.
    private static let longestArgument = 100_000

    /// Returns the command line for a POSIX shell.
    package func text(_ redaction: Redaction) -> String {
        let body = BodyArgument(body, longest: Self.longestArgument)
        var words = ["curl"]
        words += methodWords
        // curl computes Content-Length itself.
        for header in headers where header.name.lowercased() != "content-length" {
            let value = redaction.value(header.value, of: header.name)
            words += ["-H", value.allSatisfy(\.isWhitespace) ? "\(header.name);" : "\(header.name): \(value)"]
        }
        for name in suppressedHeaders where headers[name] == nil { words += ["-H", "\(name):"] }
        if isDecoding { words.append("--compressed") }
        if let credential { words += ["-u", redaction.credential("\(credential.user):\(credential.password)")] }
        if let cookies {
            let value = redaction.value(cookies, of: "Cookie")
            // Without a "=", curl treats the value as a file name.
            words += cookies.contains("=") ? ["-b", value] : ["-H", "Cookie: \(value)"]
        }
        words += body.words
        words += redirectWords
        words += options
        words += urlWords(redaction)
        return body.pipe + words.map(ShellWord.quoted).joined(separator: " ")
    }

    private var methodWords: [String] {
        switch method {
        case "GET" where body == nil: []
        case "HEAD": ["--head"]
        case "POST" where body != nil: []
        // Without a body, curl omits Content-Length (RFC 9110, section 8.6).
        case "POST", "PUT", "PATCH": ["-X", method] + (body == nil ? ["-H", "Content-Length: 0"] : [])
        default: ["-X", method]
        }
    }

    private var redirectWords: [String] {
        guard let maximumRedirects else { return [] }
        let isUsual = maximumRedirects == SessionConfiguration.default.maximumRedirects
        return ["--location"] + (isUsual ? [] : ["--max-redirs", "\(maximumRedirects)"])
    }

    private func urlWords(_ redaction: Redaction) -> [String] {
        let path = url.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        let hasDots = path.split(separator: "/").contains { $0.elementsEqual(["."]) || $0.elementsEqual([".", "."]) }
        let hasPattern = url.unicodeScalars.contains { "[]{}".unicodeScalars.contains($0) }
        return (hasDots ? ["--path-as-is"] : []) + (hasPattern ? ["--globoff"] : []) + [redaction.url(url)]
    }
}

/// How curl receives a body: as an argument, from its file, or through a pipe if it is too long or isn't text.
private struct BodyArgument {
    var pipe = ""
    var words: [String] = []

    init(_ body: CurlCommand.Body?, longest: Int) {
        switch body {
        case nil: break
        case .file(let path): words = ["--data-binary", "@\(path == "-" ? "./-" : path)"]
        case .standardInput: words = ["--data-binary", "@-"]
        case .form(let words): self.words = words
        case .data(let bytes): take(bytes, longest: longest)
        }
    }

    private mutating func take(_ bytes: Data, longest: Int) {
        guard let text = String(data: bytes, encoding: .utf8), Self.isPlain(text) else {
            pipe = "printf %s \(bytes.base64EncodedString()) | base64 -d | "
            words = ["--data-binary", "@-"]
            return
        }
        guard bytes.count <= longest else {
            pipe = "printf %s \(ShellWord.quoted(text)) | "
            words = ["--data-binary", "@-"]
            return
        }
        words = ["--data-raw", text]
    }

    /// Whether the text can be an argument. Control characters can't; a NUL would even end it.
    private static func isPlain(_ text: String) -> Bool { TerminalText.isSafe(text.replacing("\r\n", with: "\n")) }
}

/// Text as a word of a POSIX shell command line.
package enum ShellWord {
    private static let plain = Set<Unicode.Scalar>(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars)

    /// Returns the word, in single quotes if needed.
    package static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(plain.contains) { return text }
        // By Unicode scalars: the shell recognizes a quote even if a combining character follows it.
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
