package import Foundation

/// A command line that makes curl send a request.
package struct CurlCommand {
    /// Where the body comes from.
    package enum Body {
        case data(Data)
        case file(path: String)
        /// Whoever runs the command gives it.
        case standardInput
        /// A form of several parts, each as curl's options for them have it.
        case form(words: [String])
    }

    /// The method's name.
    package var method: String
    /// The URL, in the form in which it is sent.
    package var url: String
    /// The headers, in the order in which they are sent.
    package var headers: HTTPHeaders
    /// The headers that curl must not add by itself.
    package var suppressedHeaders: [String] = []
    /// The body; nil when there is none.
    package var body: Body?
    /// Whether curl decodes compressed responses, and asks for them unless the headers do that.
    package var isDecoding = true
    /// The user and the password with which curl answers when it is asked for them; nil when it does not.
    package var credential: (user: String, password: String)?
    /// The value of a `Cookie` header that curl sends beside the headers; nil for none.
    package var cookies: String?
    /// How many redirects curl follows; nil when it follows none.
    package var maximumRedirects: Int?
    /// What curl is to do beside sending.
    package var options: [String] = []

    package init(method: String, url: String, headers: HTTPHeaders, body: Body?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Linux takes no argument of more than 128 KiB; quoting may lengthen a text, too.
    private static let longestArgument = 100_000

    /// The command line, for a POSIX shell.
    package func text(_ redaction: Redaction) -> String {
        let body = BodyArgument(body, longest: Self.longestArgument)
        var words = ["curl"]
        words += methodWords
        // curl counts for itself, too.
        for header in headers where header.name.lowercased() != "content-length" {
            let value = redaction.value(header.value, of: header.name)
            words += ["-H", value.allSatisfy(\.isWhitespace) ? "\(header.name);" : "\(header.name): \(value)"]
        }
        for name in suppressedHeaders where headers[name] == nil { words += ["-H", "\(name):"] }
        if isDecoding { words.append("--compressed") }
        if let credential { words += ["-u", redaction.credential("\(credential.user):\(credential.password)")] }
        if let cookies {
            let value = redaction.value(cookies, of: "Cookie")
            // Without a "=" curl would read it from a file.
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
        // Without a body curl would not say that there is none (RFC 9110, section 8.6).
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

/// How a body gets to curl: as an argument, from its file, or through a pipe when it is too long or no text.
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

    /// Whether nothing is in the text that has no business in a command line; the shell would even stop at a NUL.
    private static func isPlain(_ text: String) -> Bool { TerminalText.isSafe(text.replacing("\r\n", with: "\n")) }
}

/// Text as a word of a POSIX shell's command line.
package enum ShellWord {
    private static let plain = Set<Unicode.Scalar>(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars)

    /// The word, in single quotes where it needs any.
    package static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(plain.contains) { return text }
        // By scalars: to a shell a quote is one whatever combines with it.
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
