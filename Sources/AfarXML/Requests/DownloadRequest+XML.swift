public import AfarCore
public import Foundation

extension DownloadRequest {
    /// Adds a handler that gets the file as a document of XML, or of an HTML page.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty, though an empty one makes no document. The
    ///     default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - format: What it is read as, whatever its Content-Type says. The default is XML.
    ///   - options: How it is read, and what it may be and hold.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseXML(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = XMLResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = XMLResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = XMLResponseSerializer.defaultEmptyRequestMethods,
        format: XMLResponseSerializer.Format = .xml,
        options: XML.ParsingOptions = XML.ParsingOptions(),
        completionHandler: @escaping @Sendable (AFDownloadResponse<XML.Document>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: XMLResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, format: format, options: options),
            completionHandler: completionHandler)
    }

    /// The file as a document of XML, or of an HTML page, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty, though an empty one makes no document. The
    ///     default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - format: What it is read as, whatever its Content-Type says. The default is XML.
    ///   - options: How it is read, and what it may be and hold.
    public func serializingXML(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = XMLResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = XMLResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = XMLResponseSerializer.defaultEmptyRequestMethods,
        format: XMLResponseSerializer.Format = .xml,
        options: XML.ParsingOptions = XML.ParsingOptions()
    ) -> DownloadTask<XML.Document> {
        serializingDownload(
            using: XMLResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, format: format, options: options),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
