public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that returns Foundation's property list values.
///
/// Before Foundation reads a property list, the serializer rejects lists that are nested more than 512 levels deep
/// or contain themselves. It also rejects lists that repeat values so often that they would exhaust the memory.
public final class PropertyListResponseSerializer: ResponseSerializer {
    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// The options for reading the property list.
    public let options: PropertyListSerialization.ReadOptions
    /// The accepted formats.
    public let allowedFormats: Set<PropertyListSerialization.PropertyListFormat>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading the property list. The default is no options.
    ///   - allowedFormats: The formats to accept. The default is XML and binary. The old OpenStep format is excluded
    ///     because almost any text is valid in it.
    public init(
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        allowedFormats: Set<PropertyListSerialization.PropertyListFormat> = [.xml, .binary]
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.options = options
        self.allowedFormats = allowedFormats
    }

    /// Returns the property list value, or an empty dictionary for an allowed empty body.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)`` with a
    ///   ``PropertyListError`` or Foundation's error, or the errors of ``ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> Any {
        guard let data = try bytes(of: input) else { return [String: Any]() }
        do {
            try PropertyListCheck.check(data, allowedFormats: allowedFormats)
            var format = PropertyListSerialization.PropertyListFormat.xml
            let value = try PropertyListSerialization.propertyList(from: data, options: options, format: &format)
            // Foundation falls back to OpenStep if the detected format doesn't match.
            guard allowedFormats.contains(format) else { throw PropertyListError(.formatNotAllowed(format)) }
            return value
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
    }

    /// Returns the property list value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Any {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    /// A serializer that returns Foundation's property list values.
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}

extension DataRequest {
    /// Adds a handler that receives the response as Foundation's property list values.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading the property list. The default is no options.
    ///   - allowedFormats: The formats to accept. The default is XML and binary.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        allowedFormats: Set<PropertyListSerialization.PropertyListFormat> = [.xml, .binary],
        completionHandler: @escaping @Sendable (AFDataResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options, allowedFormats: allowedFormats),
            completionHandler: completionHandler)
    }

    /// Returns a task that serializes the response as Foundation's property list values.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading the property list. The default is no options.
    ///   - allowedFormats: The formats to accept. The default is XML and binary.
    public func serializingPropertyList(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = [],
        allowedFormats: Set<PropertyListSerialization.PropertyListFormat> = [.xml, .binary]
    ) -> DataTask<any Sendable> {
        serializingResponse(
            using: SendableSerializer(
                PropertyListResponseSerializer(
                    dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                    emptyRequestMethods: emptyRequestMethods, options: options, allowedFormats: allowedFormats)),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

extension DownloadRequest {
    /// Adds a handler that receives the file's contents as Foundation's property list values.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading the property list. The default is no options.
    ///   - allowedFormats: The formats to accept. The default is XML and binary.
    ///   - completionHandler: The handler to call once with the result.
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

    /// Returns a task that serializes the file's contents as Foundation's property list values.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading the property list. The default is no options.
    ///   - allowedFormats: The formats to accept. The default is XML and binary.
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

/// The error for a property list that is rejected before it is read.
public struct PropertyListError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// The reason that a property list is rejected.
    public enum Reason: Sendable, Hashable {
        /// The format isn't recognized. The associated value is the beginning of the data.
        case unknownFormat(beginning: String)
        /// The format isn't allowed.
        case formatNotAllowed(PropertyListSerialization.PropertyListFormat)
        /// Arrays and dictionaries are nested more deeply than the given limit.
        case tooDeep(limit: Int)
        /// An array or dictionary contains itself.
        case circular
        /// Repeated references would expand to far more memory than the data itself.
        case tooLarge
        /// The data doesn't conform to its format.
        case malformed(String)
    }

    /// The reason that the property list is rejected.
    public let reason: Reason

    /// Creates an error.
    public init(_ reason: Reason) {
        self.reason = reason
    }

    /// A description of the problem.
    public var description: String {
        switch reason {
        case .unknownFormat(let beginning):
            "it is neither an XML property list (<) nor a binary one (bplist00), because "
                + "it begins with \(TerminalText.line(beginning.debugDescription))"
        case .formatNotAllowed(let format):
            "it is \(Self.name(format)), which isn't allowed here. Add its format to allowedFormats"
        case .tooDeep(let limit): "its arrays and dictionaries are nested more than \(limit) deep"
        case .circular: "it has an array or dictionary that contains itself"
        case .tooLarge: "it repeats references so often that it would use too much memory"
        case .malformed(let problem): TerminalText.line(problem)
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func name(_ format: PropertyListSerialization.PropertyListFormat) -> String {
        switch format {
        case .xml: "an XML property list"
        case .binary: "a binary property list"
        case .openStep: "a property list in the old OpenStep format"
        @unknown default: "a property list in another format"
        }
    }
}

extension PropertyListError: BodyFormatError {
    package static var problem: String { "Its body is not a property list" }
    package var stringEncoding: String.Encoding? { nil }
}
