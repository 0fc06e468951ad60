import Foundation

/// One part of a form: its headers, and where its content comes from.
struct MultipartPart: Sendable {
    /// The lines of the headers and the empty line after them.
    let head: Data
    let content: MultipartContent
    /// How many bytes the content has.
    let length: UInt64

    init(headers: HTTPHeaders, content: MultipartContent, length: UInt64) {
        head = Data((headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
        self.content = content
        self.length = length
    }

    /// The headers of a form's field (RFC 7578, section 4).
    static func headers(name: String, fileName: String?, mimeType: String?) throws -> HTTPHeaders {
        var disposition = "form-data; name=\"\(name.withCRLFLineBreaks.escapedForFormData)\""
        if let fileName { disposition += "; filename=\"\(fileName.escapedForFormData)\"" }
        guard !disposition.utf8.contains(0) else {
            throw failure(AFError.urlRequestValidationFailed(reason: .invalidHeaderValue(name: "Content-Disposition")))
        }
        var headers: HTTPHeaders = [.contentDisposition(disposition)]
        if let mimeType = mimeType ?? fileName.map(MIMETypes.type(ofFileNamed:)) {
            let contentType = HTTPHeader.contentType(mimeType)
            try validate([contentType])
            headers.add(contentType)
        }
        return headers
    }

    /// Refuses headers that would end before they should.
    static func validate(_ headers: HTTPHeaders) throws {
        do { try headers.validate() } catch { throw failure(error) }
    }

    private static func failure(_ error: any Error) -> AFError {
        .multipartEncodingFailed(reason: .bodyPartHeadersInvalid(error: error))
    }
}

extension String {
    /// This text with its line breaks, of whatever kind, as CR LF: what the HTML standard does to the names of fields.
    fileprivate var withCRLFLineBreaks: String {
        var result = ""
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": result += previous == "\r" ? "" : "\r\n"
            case "\r": result += "\r\n"
            default: result.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        return result
    }

    /// This text as it stands between quotes by the HTML standard's "multipart/form-data encoding algorithm": line
    /// breaks and quotes percent-encoded, all else as it is.
    fileprivate var escapedForFormData: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": result += "%0A"
            case "\r": result += "%0D"
            case "\"": result += "%22"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
