public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// The result of a validator.
    public typealias ValidationResult = Result<Void, any Error>

    /// Requires the status code to be one of the given codes. Validators run in the order in which they were added.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
        append { try ResponseRules.check(status: $0.head.status, isIn: acceptableStatusCodes) }
        return self
    }

    /// Requires the response's media type to be one of the given types, in which `*` matches any type or subtype. An empty body
    /// matches every type. For a ``DataStreamRequest``, the response's head determines whether the body is empty.
    @preconcurrency
    @discardableResult
    public func validate<S: Sequence & Sendable>(
        contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
    ) -> Self where S.Element == String {
        append { validated in
            guard validated.hasBody else { return }
            try ResponseRules.check(contentTypeOf: validated.head, isIn: Array(acceptableContentTypes()))
        }
        return self
    }

    /// Adds two validators. One requires a status code from 200 to 299. The other requires a media type that matches the
    /// request's `Accept` header, if there is such a header.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: 200..<300)
        append(ResponseRules.checkAcceptedType)
        return self
    }

    /// A closure that decides whether a response is valid. It receives the request that was sent and the response's head.
    ///
    /// The closure returns nil if the response is valid. Otherwise, it returns a second closure that creates the error from the
    /// response's body. The second closure receives nil instead of the body if the body exceeds the limit or is interrupted. If
    /// the first closure throws an error, the response is invalid and the body isn't read.
    public typealias BodyValidation =
        @Sendable (_ request: URLRequest?, _ head: ResponseHead) throws -> (@Sendable (_ body: Data?) -> any Error)?

    /// Adds a validator that creates its error from the body of an invalid response. For example, the body can describe the
    /// problem in JSON.
    ///
    /// Validators run in the order in which they were added. The first failure fails the request. An error that isn't an
    /// ``AFError`` is wrapped in a ``RejectedResponse`` and ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``.
    ///
    /// A ``DataStreamRequest`` reads the body of an invalid response instead of delivering it. The body must arrive within the
    /// request's idle timeout. If a ``DataRequest`` passes its body to a closure (``DataRequest/stream(closure:)``), the
    /// validator receives an empty body.
    ///
    /// - Parameters:
    ///   - limit: The maximum size, in bytes, of a body that the validator receives.
    ///   - validation: Called in the request's task.
    @preconcurrency
    @discardableResult
    public func validate(readingBodyUpTo limit: Int, _ validation: @escaping BodyValidation) -> Self {
        append(reading(upTo: limit, validation))
        return self
    }

    fileprivate func append(_ validator: @escaping Validator) {
        mutable.withLock { $0.settings.validators.append(validator) }
    }

    /// Runs the validators on the response, and notifies the monitors of each result.
    ///
    /// - Parameter stream: The body, if it is still arriving.
    nonisolated(nonsending) func validate(
        _ body: RequestEvent.ValidatedBody, arrivingIn stream: ResponseBodyStream? = nil
    ) async throws(AFError) {
        var (validators, request, head) = mutable.withLock { state in
            (state.settings.validators, state.history.requests.last, state.attempt.head)
        }
        if validators.isEmpty { validators = session.configuration.validation?.validators ?? [] }
        guard !validators.isEmpty, let head else { return }
        let validated = ValidatedResponse(request: request, head: head, body: body)
        for validator in validators {
            var result = ValidationResult { try validator(validated) }
            let rejection = result.error as? BodyRejection
            if let rejection {
                let received =
                    if let stream {
                        await collect(stream, upTo: rejection.limit)
                    } else {
                        validated.body(upTo: rejection.limit)
                    }
                result = .failure(rejection.makeError(received))
            }
            let failure = result.error.map { error in
                let cause =
                    rejection == nil ? error : RejectedResponse(responseCode: head.status, underlyingError: error)
                return fail(
                    with: error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: cause))))
            }
            if let events, let response = head.httpURLResponse {
                events.receive(.requestDidValidate(self, request, response, body, result))
            }
            if let failure { throw failure }
        }
    }

    /// Reads the body of an invalid response. Returns nil if it exceeds the limit, is interrupted, or takes too long.
    private func collect(_ stream: ResponseBodyStream, upTo limit: Int) async -> Data? {
        let timeout =
            options.idleTimeout ?? lastRequest?.idleTimeout ?? session.configuration.timeoutIntervalForRequest
        let timer = DelayedCall(after: Duration(timeout: timeout), on: DispatchQueue(label: "afar.validation")) {
            stream.cancel()
        }
        defer { timer.cancel() }
        var body = Data()
        do {
            for try await chunk in stream {
                didReceive(chunk)
                guard chunk.count <= limit - body.count else { return nil }
                body.append(chunk)
            }
            return body
        } catch {
            return nil
        }
    }
}

extension DataRequest {
    /// A closure that validates a response. It receives the request that was sent, the response's head and the response's bytes.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ data: Data?) -> ValidationResult

    /// Adds a validator. Validators run in the order in which they were added, after the response has arrived. The first
    /// failure fails the request. An error that isn't an ``AFError`` is wrapped in
    /// ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        append { validated in try validation(validated.request, validated.response, validated.data).get() }
        return self
    }
}

extension DataStreamRequest {
    /// A closure that validates a response before the first chunk is delivered. It receives the request that was sent and the
    /// response's head.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse) -> ValidationResult

    /// Adds a validator. Validators run in the order in which they were added, after the response's head has arrived. The first
    /// failure fails the request. An error that isn't an ``AFError`` is wrapped in
    /// ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        append { validated in try validation(validated.request, validated.response).get() }
        return self
    }
}

extension DownloadRequest {
    /// A closure that validates a response. It receives the request that was sent, the response's head and the current location
    /// of the body.
    public typealias Validation =
        @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?) -> ValidationResult

    /// Adds a validator. Validators run in the order in which they were added, after the response has arrived. The first
    /// failure fails the request. An error that isn't an ``AFError`` is wrapped in
    /// ``AFError/ResponseValidationFailureReason/customValidationFailed(error:)``.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        append { validated in try validation(validated.request, validated.response, validated.fileURL).get() }
        return self
    }
}

/// The validation of a session's responses. See ``SessionConfiguration/validation``.
public struct ResponseValidation: Sendable {
    let validators: [Validator]

    /// The rules of ``Request/validate()``: a status code from 200 to 299, and a media type that matches the request's `Accept` header.
    public static let standard = ResponseValidation(
        validators: [
            { try ResponseRules.check(status: $0.head.status, isIn: 200..<300) }, ResponseRules.checkAcceptedType,
        ])

    /// Requires the status code to be one of the given codes.
    public static func statusCode(_ acceptable: some Sequence<Int> & Sendable) -> ResponseValidation {
        ResponseValidation(validators: [{ try ResponseRules.check(status: $0.head.status, isIn: acceptable) }])
    }

    private init(validators: [Validator]) { self.validators = validators }

    /// Creates a validation that creates its error from the body of an invalid response. See ``Request/validate(readingBodyUpTo:_:)``.
    public init(readingBodyUpTo limit: Int, _ validation: @escaping Request.BodyValidation) {
        validators = [reading(upTo: limit, validation)]
    }

    /// Creates a validation from a closure that receives the request that was sent and the response's head. The closure can be
    /// called on any thread.
    public init(_ validation: @escaping DataStreamRequest.Validation) {
        validators = [{ try validation($0.request, $0.response).get() }]
    }
}

/// A closure that throws an error if a response is invalid.
typealias Validator = @Sendable (ValidatedResponse) throws -> Void

private func reading(upTo limit: Int, _ validation: @escaping Request.BodyValidation) -> Validator {
    { validated in
        guard let makeError = try validation(validated.request, validated.head) else { return }
        throw BodyRejection(limit: limit, makeError: makeError)
    }
}

/// An error that a validator created from the body of a response, and the response's status.
///
/// ``AFError/responseCode`` returns the status, and ``AFError/underlyingError`` returns the validator's error.
public struct RejectedResponse: Error {
    /// The status code of the response.
    public let responseCode: Int
    /// The error of the validator.
    public let underlyingError: any Error
}

extension RejectedResponse: LocalizedError, CustomStringConvertible {
    /// The text of the underlying error.
    public var description: String { "\(underlyingError)" }

    /// The localized description of the underlying error.
    public var errorDescription: String? { underlyingError.localizedDescription }
}

/// The error of a validator that requires the response's body to create its final error.
private struct BodyRejection: Error {
    let limit: Int
    let makeError: @Sendable (Data?) -> any Error
}

struct ValidatedResponse {
    let request: URLRequest?
    let head: ResponseHead
    let body: RequestEvent.ValidatedBody

    var data: Data? { if case .data(let data) = body { data } else { nil } }
    var fileURL: URL? { if case .file(let fileURL) = body { fileURL } else { nil } }

    /// Returns a body that has arrived, or nil if it exceeds the limit or can't be read.
    func body(upTo limit: Int) -> Data? {
        guard let fileURL else { return data.map { $0.count <= limit ? $0 : nil } ?? Data() }
        guard let size = fileSize, size <= limit else { return nil }
        // On Linux, Foundation leaks 4 KiB when it reads an empty file.
        return size == 0 ? Data() : try? Data(contentsOf: fileURL)
    }

    private var fileSize: Int? { (try? fileURL?.resourceValues(forKeys: [.fileSizeKey]))?.fileSize }

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
        case .file: fileSize ?? 0 > 0
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

    static func checkAcceptedType(of validated: ValidatedResponse) throws {
        guard validated.hasBody, let accept = validated.request?.value(forHTTPHeaderField: "Accept") else { return }
        try check(contentTypeOf: validated.head, isIn: MediaType.ranges(in: accept))
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
