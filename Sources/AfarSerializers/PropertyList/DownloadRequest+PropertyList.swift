public import AfarCore
public import Foundation

extension DownloadRequest {
    /// Adds a handler that gets the file as Foundation's property list values.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How the property list is read. The default is nothing special.
    ///   - allowedFormats: The formats that are accepted. The default is XML and binary.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        allowedFormats: Set<PropertyListSerialization.PropertyListFormat> = [.xml, .binary],
        completionHandler: @escaping @Sendable (AFDownloadResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options, allowedFormats: allowedFormats),
            completionHandler: completionHandler)
    }

    /// The file as Foundation's property list values, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How the property list is read. The default is nothing special.
    ///   - allowedFormats: The formats that are accepted. The default is XML and binary.
    public func serializingPropertyList(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        allowedFormats: Set<PropertyListSerialization.PropertyListFormat> = [.xml, .binary]
    ) -> DownloadTask<any Sendable> {
        serializingDownload(
            using: SendableSerializer(
                PropertyListResponseSerializer(
                    dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                    emptyRequestMethods: emptyRequestMethods, options: options, allowedFormats: allowedFormats)),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
