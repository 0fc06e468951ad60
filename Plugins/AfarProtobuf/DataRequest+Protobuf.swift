public import AfarCore
public import Foundation
public import SwiftProtobuf

extension DataRequest {
    /// Adds a handler that gets a message of Protocol Buffers decoded from the response, in the binary format or, where the
    /// Content-Type says so, in JSON.
    ///
    /// - Parameters:
    ///   - type: The message's type. The default is what the context says.
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - options: How messages are decoded, and what they may cost.
    ///   - completionHandler: Called once.
    @preconcurrency
    @discardableResult
    public func responseProtobuf<M: Message>(
        of type: M.Type = M.self,
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = ProtobufResponseSerializer<M>.defaultDataPreprocessor,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions(),
        completionHandler: @escaping @Sendable (AFDataResponse<M>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: ProtobufResponseSerializer<M>(dataPreprocessor: dataPreprocessor, options: options),
            completionHandler: completionHandler)
    }

    /// A message of Protocol Buffers decoded from the response, in the binary format or, where the Content-Type says so, in
    /// JSON, awaited.
    ///
    /// - Parameters:
    ///   - type: The message's type. The default is what the context says.
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - options: How messages are decoded, and what they may cost.
    public func serializingProtobuf<M: Message>(
        _ type: M.Type = M.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = ProtobufResponseSerializer<M>.defaultDataPreprocessor,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions()
    ) -> DataTask<M> {
        serializingResponse(
            using: ProtobufResponseSerializer<M>(dataPreprocessor: dataPreprocessor, options: options),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
