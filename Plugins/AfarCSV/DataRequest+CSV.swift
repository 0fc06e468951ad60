public import AfarCore
public import Foundation

extension DataRequest {
    /// Adds a handler that gets the rows decoded from the response as CSV.
    ///
    /// - Parameters:
    ///   - type: What a row is. The default is what the context says.
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseCSV<Row: Decodable & Sendable>(
        of type: Row.Type = Row.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = CSVResponseSerializer<Row>.defaultDataPreprocessor,
        decoder: CSVDataDecoder = CSVDataDecoder(),
        emptyResponseCodes: Set<Int> = CSVResponseSerializer<Row>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = CSVResponseSerializer<Row>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<[Row]>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: CSVResponseSerializer<Row>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// The rows decoded from the response as CSV, awaited.
    ///
    /// - Parameters:
    ///   - type: What a row is. The default is what the context says.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingCSV<Row: Decodable & Sendable>(
        _ type: Row.Type = Row.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = CSVResponseSerializer<Row>.defaultDataPreprocessor,
        decoder: CSVDataDecoder = CSVDataDecoder(),
        emptyResponseCodes: Set<Int> = CSVResponseSerializer<Row>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = CSVResponseSerializer<Row>.defaultEmptyRequestMethods
    ) -> DataTask<[Row]> {
        serializingResponse(
            using: CSVResponseSerializer<Row>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
