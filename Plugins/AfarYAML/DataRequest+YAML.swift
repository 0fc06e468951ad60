public import AfarCore
public import Foundation

extension DataRequest {
    /// Adds a handler that gets a value decoded from the response as YAML.
    ///
    /// - Parameters:
    ///   - type: What is decoded. The default is what the context says.
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - limits: What a document may cost.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseYAML<T: Decodable>(
        of type: T.Type = T.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = YAMLResponseSerializer<T>.defaultDataPreprocessor,
        limits: YAMLLimits = YAMLLimits(),
        emptyResponseCodes: Set<Int> = YAMLResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = YAMLResponseSerializer<T>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<T>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: YAMLResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, limits: limits, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// A value decoded from the response as YAML, awaited.
    ///
    /// - Parameters:
    ///   - type: What is decoded. The default is what the context says.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - limits: What a document may cost.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public func serializingYAML<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = YAMLResponseSerializer<T>.defaultDataPreprocessor,
        limits: YAMLLimits = YAMLLimits(),
        emptyResponseCodes: Set<Int> = YAMLResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = YAMLResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DataTask<T> {
        serializingResponse(
            using: YAMLResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, limits: limits, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
