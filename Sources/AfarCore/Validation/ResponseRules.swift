import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A closure that throws an error if a response is invalid.
typealias Validator = @Sendable (ValidatedResponse) throws -> Void

/// The response that validators check.
struct ValidatedResponse {
    enum Body {
        case data(Data?)
        case file(URL?)
        /// The body hasn't arrived yet.
        case stream
    }

    /// The request that was sent.
    let request: URLRequest?
    let head: ResponseHead
    let body: Body

    var data: Data? { if case .data(let data) = body { data } else { nil } }
    var fileURL: URL? { if case .file(let fileURL) = body { fileURL } else { nil } }

    var response: HTTPURLResponse {
        get throws {
            guard let response = head.httpURLResponse else { throw AFError.invalidURL(url: head.url) }
            return response
        }
    }

    /// Whether the response has a body. If the body hasn't arrived yet, the head determines this (RFC 9112, section 6.3).
    var hasBody: Bool {
        switch body {
        case .data(let data): data?.isEmpty == false
        case .file(let fileURL): (try? fileURL?.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0 > 0
        case .stream: head.contentLength != 0 && head.status != 204 && head.status != 304
        }
    }
}

/// The checks of a response's head.
enum ResponseRules {
    static func check(status: Int, isIn acceptable: some Sequence<Int>) throws {
        guard acceptable.contains(status) else {
            throw AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: status))
        }
    }

    static func check(contentTypeOf head: ResponseHead, isIn acceptable: [String]) throws {
        let ranges = acceptable.map { MediaType($0) }
        let type = head.mediaType
        guard type.isComplete else {
            guard ranges.contains(where: \.isAny) else {
                throw AFError.responseValidationFailed(
                    reason: .missingContentType(acceptableContentTypes: acceptable.sorted()))
            }
            return
        }
        guard ranges.contains(where: { $0.includes(type) }) else {
            throw AFError.responseValidationFailed(
                reason: .unacceptableContentType(
                    acceptableContentTypes: acceptable.sorted(), responseContentType: type.essence))
        }
    }
}
