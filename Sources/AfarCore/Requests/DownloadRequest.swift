public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response goes into a file.
///
/// The body is written to a private temporary file. When it is whole and has passed the validators, the file is moved to
/// where the destination says; without a destination it stays where it is, for the caller to move or remove. A request
/// that fails leaves no file.
public final class DownloadRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    /// What may be done to make room for the file.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Makes the directories that lead to the file.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Puts the file in the place of one that is there already. Without it, an existing file fails the request.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// Decides where the file goes, once it is whole: from where it is now and the response's head.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

    typealias Validator = @Sendable (URLRequest?, ResponseHead, URL?) throws -> Void

    private struct Received {
        /// The file while it is ours.
        var file: TemporaryFile?
        /// Where a whole body is.
        var fileURL: URL?
        var validators: [Validator] = []
    }

    private let destination: Destination?
    private let received = Locked(Received())

    init(
        convertible: any URLRequestConvertible,
        context: SessionContext,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        requestModifier: RequestModifier?,
        destination: Destination?
    ) {
        self.destination = destination
        super.init(
            convertible: convertible, context: context, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
    }

    /// Where the file is, once it is whole; nil before, and for a response without one.
    ///
    /// When validation failed, the file is there as long as this request is.
    public var fileURL: URL? { received.withLock { $0.fileURL } }

    override var mayShowProgressLate: Bool { true }

    override func prepareForAttempt() {
        super.prepareForAttempt()
        received.withLock { ($0.file, $0.fileURL) = (nil, nil) }
    }

    override func openDelivery() throws -> ResponseDelivery {
        let file = try TemporaryFile()
        received.withLock { $0.file = file }
        return .file(descriptor: file.descriptor)
    }

    override func abandonDelivery() {
        received.withLock { if $0.fileURL == nil { $0.file = nil } }
    }

    override func receive(_ response: TransportResponse) {
        received.withLock { received in
            received.file?.close()
            received.fileURL = received.file?.url
        }
        super.receive(response)
    }

    override func runValidators() throws {
        let (validators, fileURL) = received.withLock { ($0.validators, $0.fileURL) }
        guard !validators.isEmpty, let head = responseHead else { return }
        let request = request
        for validator in validators { try validator(request, head, fileURL) }
    }

    override func keepResponse() throws {
        guard let file = received.withLock({ $0.file }) else { return }
        if let destination, let response {
            let (url, options) = destination(file.url, response)
            do {
                try file.move(to: url, options: options)
            } catch {
                throw AFError.downloadedFileMoveFailed(error: error, source: file.url, destination: url)
            }
            received.withLock { $0.fileURL = url }
        } else {
            file.keep()
        }
        received.withLock { $0.file = nil }
    }

    func append(_ validator: @escaping Validator) {
        received.withLock { $0.validators.append(validator) }
    }
}
