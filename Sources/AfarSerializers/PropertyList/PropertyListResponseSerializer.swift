public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes Foundation's property list values of a response.
///
/// What is nested more than 512 deep, contains itself, or repeats the same values so often that they would fill the memory
/// is refused before Foundation reads it.
public final class PropertyListResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// How the property list is read.
    public let options: PropertyListSerialization.ReadOptions
    /// The formats that are accepted.
    public let allowedFormats: Set<PropertyListSerialization.PropertyListFormat>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How the property list is read. The default is nothing special.
    ///   - allowedFormats: The formats that are accepted. The default is XML and binary, and not the old OpenStep format,
    ///     which nearly every text is in.
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

    /// The value; an empty dictionary for an allowed empty body.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/propertyListSerializationFailed(error:)`` with a
    ///   ``PropertyListError`` or Foundation's error, and what ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> Any {
        guard let data = try bytes(of: input) else { return [String: Any]() }
        do {
            try PropertyListCheck.check(data, allowedFormats: allowedFormats)
            var format = PropertyListSerialization.PropertyListFormat.xml
            let value = try PropertyListSerialization.propertyList(from: data, options: options, format: &format)
            // What cannot be read as what it seems is tried as OpenStep.
            guard allowedFormats.contains(format) else { throw PropertyListError(.formatNotAllowed(format)) }
            return value
        } catch {
            throw AFError.responseSerializationFailed(reason: .propertyListSerializationFailed(error: error))
        }
    }

    /// The value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Any {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    /// Makes Foundation's property list values.
    public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}

// MARK: - Requests

extension DataRequest {
    /// Adds a handler that gets the response as Foundation's property list values.
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
        completionHandler: @escaping @Sendable (AFDataResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options, allowedFormats: allowedFormats),
            completionHandler: completionHandler)
    }

    /// The response as Foundation's property list values, awaited.
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

// MARK: - Errors

/// Why a property list was refused before it was read.
public struct PropertyListError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// The bytes are in no format of property lists. They begin with this.
        case unknownFormat(beginning: String)
        /// The format is none of those that are allowed.
        case formatNotAllowed(PropertyListSerialization.PropertyListFormat)
        /// Arrays and dictionaries are nested deeper than this.
        case tooDeep(limit: Int)
        /// An array or dictionary has itself in it.
        case circular
        /// What is referred to again and again would take far more memory than the bytes do.
        case tooLarge
        /// The bytes do not have the form that the format demands.
        case malformed(String)
    }

    /// What is wrong.
    public let reason: Reason

    /// Makes an error.
    public init(_ reason: Reason) {
        self.reason = reason
    }

    /// What is wrong, for a person.
    public var description: String {
        switch reason {
        case .unknownFormat(let beginning):
            "neither an XML property list, which begins with <, nor a binary one (bplist00): "
                + "it begins with \(TerminalText.line(beginning.debugDescription))"
        case .formatNotAllowed(let format):
            "it is \(Self.name(format)), which is not allowed here; allowedFormats can change that"
        case .tooDeep(let limit): "its arrays and dictionaries are nested more than \(limit) deep"
        case .circular: "an array or dictionary of it has itself in it"
        case .tooLarge: "it refers to the same values so often that it would take up too much memory"
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
