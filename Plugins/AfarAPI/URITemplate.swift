import AfarCore
public import Foundation

/// A URI template, such as `/repos/{owner}/{name}/issues{?state,labels*}`, with all operators and modifiers (RFC 6570, level 4).
///
/// ```swift
/// let template = try URITemplate("https://api.example.com/users/{id}{?fields}")
/// let url = try template.url(["id": 7, "fields": ["name", "mail"]])
/// // https://api.example.com/users/7?fields=name,mail
/// ```
///
/// `{name}` percent-encodes everything in a value except letters, digits, and `-`, `.`, `_` and `~`. `{+name}` and `{#name}` keep
/// reserved characters and escapes, so use them only for values that can contain slashes and question marks. Text is encoded as
/// UTF-8 without normalization.
public struct URITemplate: Hashable, Sendable, CustomStringConvertible {
    private enum Part: Hashable {
        /// Text for the result, already percent-encoded.
        case literal(String)
        case expression(Operator, [Variable])
    }

    private struct Variable: Hashable {
        var name: String
        var modifier = Modifier.none
    }

    private enum Modifier: Hashable {
        case none
        case explode
        case prefix(Int)
    }

    /// The value of a variable. A variable that has no value, or an empty list, is omitted (section 2.3).
    public enum Value: Sendable {
        /// Text.
        case string(String)
        /// A list of texts.
        case list([String])
        /// Pairs of names and values, in the order in which they are expanded.
        case pairs([(name: String, value: String)])
    }

    /// The template as written.
    public let description: String
    private let parts: [Part]

    /// Parses a template.
    ///
    /// - Throws: ``SyntaxError`` if the text isn't a template (section 2).
    public init(_ text: String) throws(SyntaxError) {
        var parser = Parser(text)
        parts = try parser.parts()
        description = text
    }

    /// Returns the template with its variables replaced by their values.
    ///
    /// - Parameter variables: The values of variables. Variables without a value are omitted. The default is none.
    /// - Throws: ``ExpansionError/prefixOfList(variable:)``.
    public func expand(_ variables: [String: Value] = [:]) throws(ExpansionError) -> String {
        try expand(variables, isOutline: false)
    }

    /// - Parameter isOutline: Whether a placeholder replaces expressions whose values can't contain reserved characters.
    private func expand(_ variables: [String: Value], isOutline: Bool) throws(ExpansionError) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .expression(let expression, _) where isOutline && expression.encoding == .unreserved:
                text += expression.first + "x"
            case .expression(let expression, let names):
                var isFirst = true
                for variable in names {
                    guard let value = variables[variable.name], !value.isUndefined else { continue }
                    text += isFirst ? expression.first : expression.separator
                    text += try expression.expand(variable, value)
                    isFirst = false
                }
            }
        }
        return text
    }

    /// Returns the URL of the expanded template, for use in a request.
    ///
    /// Values can't change the rest of the URL: an empty value can't turn the next segment into a host, and `..` can't remove a segment.
    /// Only the values of `{+name}` and `{#name}` can change it.
    ///
    /// - Parameters:
    ///   - variables: The values of variables. The default is none.
    ///   - base: The URL against which a relative reference is resolved (RFC 3986, section 5.2). The default is nil.
    /// - Throws: ``ExpansionError``, or ``AfarCore/AFError/invalidURL(url:)`` if the result isn't a URL.
    public func url(_ variables: [String: Value] = [:], relativeTo base: URL? = nil) throws -> URL {
        let text = try expand(variables)
        guard Structure(of: text) == Structure(of: try expand(variables, isOutline: true)) else {
            throw ExpansionError.pathChanged(expansion: text)
        }
        guard let base else { return try text.asURL() }
        guard let url = URL(keepingEscapesOf: text, relativeTo: base) else { throw AFError.invalidURL(url: text) }
        return url
    }

    /// The location and the cause of an error in a template.
    public struct SyntaxError: Error, Hashable, Sendable {
        /// The number of Unicode scalars before the error.
        public let position: Int
        /// What is wrong or expected at this position.
        public let reason: String
    }

    /// An error in the expansion of a template.
    public enum ExpansionError: Error, Hashable, Sendable {
        /// The template requests the first characters of a variable, as in `{name:3}`, but its value is a list or has pairs (section
        /// 2.4.1).
        case prefixOfList(variable: String)
        /// A value would change the host or remove a part of the path.
        case pathChanged(expansion: String)
    }

    /// The effects of a reference on the base URL's host and path when it is resolved (RFC 3986, sections 5.2.2 and 5.2.4).
    private struct Structure: Equatable {
        let replacesHost: Bool
        let replacesPath: Bool
        let dotSegmentCount: Int

        init(of reference: String) {
            replacesHost = reference.hasPrefix("//")
            replacesPath = reference.hasPrefix("/")
            let path = reference.prefix { $0 != "?" && $0 != "#" }
            dotSegmentCount = path.split(separator: "/").count { $0 == "." || $0 == ".." }
        }
    }
}

extension URITemplate.SyntaxError: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the error.
    public var description: String { "The URI template is malformed at character \(position): \(reason)." }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension URITemplate.ExpansionError: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the error.
    public var description: String {
        switch self {
        case .prefixOfList(let variable):
            "The URI template requests the first characters of the variable \(variable), but its value is not a string."
        case .pathChanged(let expansion):
            "The URI template expands to \(expansion), because a value is empty, \".\" or \"..\". This changes the host or the rest of the path."
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

// MARK: - Values

extension URITemplate.Value: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a value from text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a value from the decimal digits of an integer.
    public init(integerLiteral value: Int) { self = .string("\(value)") }
    /// Creates a value from the text of a number.
    public init(floatLiteral value: Double) { self = .string("\(value)") }
    /// Creates the value "true" or "false".
    public init(booleanLiteral value: Bool) { self = .string("\(value)") }
    /// Creates a value from a list.
    public init(arrayLiteral elements: String...) { self = .list(elements) }
    /// Creates a value from pairs, in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        self = .pairs(elements.map { (name: $0.0, value: $0.1) })
    }

    fileprivate var isUndefined: Bool {
        switch self {
        case .string: false
        case .list(let list): list.isEmpty
        case .pairs(let pairs): pairs.isEmpty
        }
    }
}

// MARK: - Expansion

extension URITemplate {
    /// The properties of an expression's operator (appendix A).
    private struct Operator: Hashable {
        var first = ""
        var separator = ","
        var isNamed = false
        /// The text between a name and an empty value.
        var ifEmpty = ""
        var encoding = PercentEncoding.unreserved

        static let all: [Unicode.Scalar: Operator] = [
            "+": Operator(encoding: .reserved),
            "#": Operator(first: "#", encoding: .reserved),
            ".": Operator(first: ".", separator: "."),
            "/": Operator(first: "/", separator: "/"),
            ";": Operator(first: ";", separator: ";", isNamed: true),
            "?": Operator(first: "?", separator: "&", isNamed: true, ifEmpty: "="),
            "&": Operator(first: "&", separator: "&", isNamed: true, ifEmpty: "="),
        ]

        /// Expands a defined value (section 3.2.1).
        func expand(_ variable: Variable, _ value: Value) throws(ExpansionError) -> String {
            if case .prefix(let length) = variable.modifier {
                guard case .string(let text) = value else { throw .prefixOfList(variable: variable.name) }
                return named(variable.name, String(text.unicodeScalars.prefix(length)))
            }
            let explodes = variable.modifier == .explode
            switch value {
            case .string(let text): return named(variable.name, text)
            case .list(let list) where explodes:
                return list.map { named(variable.name, $0) }.joined(separator: separator)
            case .list(let list): return named(variable.name, encoded: list.map(encoding.encode).joined(separator: ","))
            case .pairs(let pairs) where explodes:
                // In named expressions, the standard encodes names in the same way as literals. A name with an ampersand
                // would then add a parameter, so names are encoded like values instead.
                return pairs.map { pair in
                    isNamed
                        ? named(encoding.encode(pair.name), pair.value)
                        : "\(encoding.encode(pair.name))=\(encoding.encode(pair.value))"
                }.joined(separator: separator)
            case .pairs(let pairs):
                let texts = pairs.flatMap { [encoding.encode($0.name), encoding.encode($0.value)] }
                return named(variable.name, encoded: texts.joined(separator: ","))
            }
        }

        private func named(_ name: String, _ value: String) -> String { named(name, encoded: encoding.encode(value)) }

        private func named(_ name: String, encoded value: String) -> String {
            guard isNamed else { return value }
            return value.isEmpty ? name + ifEmpty : "\(name)=\(value)"
        }
    }
}

/// The characters that percent-encoding keeps (RFC 6570, section 1.5).
enum PercentEncoding: Sendable {
    /// Keeps unreserved characters.
    case unreserved
    /// Keeps unreserved and reserved characters, and percent-encoded bytes.
    case reserved

    private static let digits = Array("0123456789ABCDEF".utf8)

    func encode(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if keeps(byte) || self == .reserved && bytes[index...].beginsWithEscape {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private func keeps(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~".utf8.contains(byte) || self == .reserved && ":/?#[]@!$&'()*+,;=".utf8.contains(byte)
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var beginsWithEscape: Bool {
        first == UInt8(ascii: "%") && dropFirst().prefix(2).count { Unicode.Scalar($0).properties.isASCIIHexDigit } == 2
    }
}

// MARK: - Parsing

extension URITemplate {
    private struct Parser {
        private let scalars: [Unicode.Scalar]
        private var position = 0

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

        mutating func parts() throws(SyntaxError) -> [Part] {
            var parts: [Part] = []
            while let scalar = next {
                parts.append(scalar == "{" ? try expression() : .literal(try literal()))
            }
            return parts
        }

        /// Reads the text up to the next expression (section 2.1, with erratum 6937, which allows an apostrophe).
        private mutating func literal() throws(SyntaxError) -> String {
            let start = position
            while let scalar = next, scalar != "{" {
                if scalar == "%" {
                    try escape()
                    continue
                }
                guard scalar != "}" else { throw error("a closing brace has no opening brace") }
                guard scalar.isLiteral else {
                    throw error("a template can't contain this character outside of an expression; percent-encode it")
                }
                position += 1
            }
            return PercentEncoding.reserved.encode(text(from: start))
        }

        private mutating func expression() throws(SyntaxError) -> Part {
            position += 1
            var kind = Operator()
            if let scalar = next, let known = Operator.all[scalar] {
                kind = known
                position += 1
            } else if let scalar = next, "=,!@|".unicodeScalars.contains(scalar) {
                throw error("this operator is reserved for extensions")
            }
            var variables: [Variable] = []
            repeat { variables.append(try variable()) } while skip(",")
            guard skip("}") else {
                throw error(next == nil ? "expected a closing brace" : "expected a comma or a closing brace")
            }
            return .expression(kind, variables)
        }

        private mutating func variable() throws(SyntaxError) -> Variable {
            var variable = Variable(name: try name())
            if skip("*") {
                variable.modifier = .explode
            } else if skip(":") {
                variable.modifier = .prefix(try prefix())
            }
            return variable
        }

        /// Reads letters, digits, underscores and escapes, with single periods between them (section 2.3).
        private mutating func name() throws(SyntaxError) -> String {
            let start = position
            repeat {
                let wordStart = position
                while let scalar = next {
                    if scalar == "%" {
                        try escape()
                    } else if scalar == "_" || scalar.isASCIILetter || scalar.isASCIIDigit {
                        position += 1
                    } else {
                        break
                    }
                }
                guard position > wordStart else { throw error("expected the name of a variable") }
            } while skip(".")
            return text(from: start)
        }

        /// Reads a number from 1 to 9,999 (section 2.4.1).
        private mutating func prefix() throws(SyntaxError) -> Int {
            let start = position
            while position - start < 4, let scalar = next, scalar.isASCIIDigit { position += 1 }
            guard let length = Int(text(from: start)), scalars[start] != "0" else {
                position = start
                throw error("expected a length from 1 to 9999")
            }
            return length
        }

        private mutating func escape() throws(SyntaxError) {
            let digits = scalars[position...].dropFirst().prefix(2)
            guard digits.count == 2, digits.allSatisfy(\.properties.isASCIIHexDigit) else {
                throw error("expected two hexadecimal digits after the percent sign")
            }
            position += 3
        }

        private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
            guard next == scalar else { return false }
            position += 1
            return true
        }

        private func text(from start: Int) -> String {
            String(String.UnicodeScalarView(scalars[start..<position]))
        }

        private func error(_ reason: String) -> SyntaxError { SyntaxError(position: position, reason: reason) }
    }
}

extension Unicode.Scalar {
    /// Whether the character is a literal: it can appear outside of expressions without percent-encoding (section 2.1).
    fileprivate var isLiteral: Bool {
        switch value {
        case 0...0x20, 0x7F...0x9F, 0xFFF0...0xFFFF, 0xE0000...0xE0FFF: false
        default: !"\"<>\\^`{|}%".unicodeScalars.contains(self) && !properties.isNoncharacterCodePoint
        }
    }

    fileprivate var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
