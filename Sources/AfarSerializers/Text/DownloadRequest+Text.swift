public import AfarCore
public import Foundation

extension DownloadRequest {
    /// Adds a handler that gets the file as text, with the encoding that it was in and why that one.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - decoding: How bytes become text. The default is ``TextDecoding/automatic``.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseText(
        queue: DispatchQueue? = .main,
        decoding: TextDecoding = .automatic,
        dataPreprocessor: any DataPreprocessor = TextResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = TextResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = TextResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<DecodedText>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: TextResponseSerializer(
                decoding: decoding, dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// The file as text, with the encoding that it was in and why that one, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - decoding: How bytes become text. The default is ``TextDecoding/automatic``.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingText(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoding: TextDecoding = .automatic,
        dataPreprocessor: any DataPreprocessor = TextResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = TextResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = TextResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<DecodedText> {
        serializingDownload(
            using: TextResponseSerializer(
                decoding: decoding, dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
