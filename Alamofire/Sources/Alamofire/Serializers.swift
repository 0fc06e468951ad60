public import Afar

// Data requests and downloads inherit these methods.
extension Request {
    /// Returns a serializer for the bytes of a response.
    public static func dataResponseSerializer() -> DataResponseSerializer { DataResponseSerializer() }

    /// Returns a serializer for text.
    ///
    /// - Parameter encoding: The encoding to use regardless of the response. By default, the response determines it.
    public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }

    /// Returns a serializer for Foundation's JSON values.
    ///
    /// - Parameter options: The options for reading JSON. The default allows fragments.
    public static func jsonResponseSerializer(
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> JSONResponseSerializer {
        JSONResponseSerializer(options: options)
    }

    /// Returns a serializer for property lists.
    ///
    /// - Parameter options: The options for reading the property list. The default is no options.
    public static func propertyListResponseSerializer(
        options: PropertyListSerialization.ReadOptions = []
    ) -> PropertyListResponseSerializer {
        PropertyListResponseSerializer(options: options)
    }
}

extension DataResponseSerializerProtocol {
    /// Returns the value or the error for the parts of a response, as the closure of Alamofire 4 does.
    public func serializeResponse(
        _ request: URLRequest?, _ response: HTTPURLResponse?, _ data: Data?, _ error: (any Error)?
    ) -> AFResult<SerializedObject> {
        result(of: { try serialize(request: request, response: response, data: data, error: error) })
    }
}

extension DownloadResponseSerializerProtocol {
    /// Returns the value or the error for the parts of a download's response, as the closure of Alamofire 4 does.
    @_disfavoredOverload
    public func serializeResponse(
        _ request: URLRequest?, _ response: HTTPURLResponse?, _ fileURL: URL?, _ error: (any Error)?
    ) -> AFResult<SerializedObject> {
        result(of: { try serializeDownload(request: request, response: response, fileURL: fileURL, error: error) })
    }
}

private func result<Value>(of serialize: () throws -> Value) -> AFResult<Value> {
    do {
        return .success(try serialize())
    } catch {
        return .failure(
            error as? AFError ?? .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
    }
}
