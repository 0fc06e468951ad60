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
