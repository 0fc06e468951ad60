import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension ResponseHead {
    /// The head that URLSession has parsed, checked against the exchange's limits.
    convenience init(_ response: URLResponse, for exchange: Exchange) throws(TransportError) {
        func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, phase: .awaitingResponse, url: exchange.url, message: message)
        }
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
            throw failure(.malformedResponse, "the answer is not HTTP")
        }
        let options = exchange.options
        var lines: [(name: String, value: String)] = []
        for case (let name as String, let value as String) in response.allHeaderFields {
            if name.lowercased() == "set-cookie" {
                lines += Self.cookieLines(in: value).map { (name, $0) }
            } else {
                lines.append((name, value))
            }
        }
        guard lines.count <= min(options.maximumFieldCount, 65_000) else {
            throw failure(.headTooLarge, "the head has \(lines.count) fields")
        }
        let size = lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= options.maximumHeadBytes else {
            throw failure(.headTooLarge, "the head has \(size) bytes")
        }
        var fields = HTTPFields()
        for line in lines {
            if let name = HTTPField.Name(line.name) { fields.append(HTTPField(name: name, value: line.value)) }
        }
        let lengths = Set(fields[values: .contentLength].joined(separator: ",").split(separator: ",").map(Self.trimmed))
        guard lengths.count <= 1, lengths.allSatisfy({ $0.allSatisfy(\.isNumber) && Int64($0) != nil }) else {
            throw failure(.malformedResponse, "the Content-Length is no length")
        }
        if let length = lengths.first { fields[.contentLength] = length }
        if !options.decodesContent, let coding = fields[.contentEncoding], coding != "identity" {
            throw failure(.unsupportedByTransport, "URLSession decodes \(coding) whether asked to or not")
        }
        self.init(status: response.statusCode, fields: fields, url: exchange.responseURL)
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: .whitespaces)
    }

    /// Takes apart the Set-Cookie lines that the session has joined: a comma begins a line when a `name=` follows,
    /// which is never so inside a date.
    private static func cookieLines(in joined: String) -> [String] {
        var lines: [String] = []
        for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.prefix { $0 != ";" }
            let name = pair.prefix { $0 != "=" }.drop { $0 == " " }
            if pair.contains("="), HTTPField.Name(String(name)) != nil || lines.isEmpty {
                lines.append(String(part.drop { $0 == " " }))
            } else if let last = lines.popLast() {
                lines.append("\(last),\(part)")
            } else {
                lines.append(String(part))
            }
        }
        return lines
    }
}
