public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes Foundation's property list values of a response, XML or binary.
public final class PropertyListResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// How the property list is read.
    public let options: PropertyListSerialization.ReadOptions

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How the property list is read. The default is nothing special.
    public init(
        dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
        options: PropertyListSerialization.ReadOptions = []
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.options = options
    }

    /// The value; an empty dictionary for an allowed empty body.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/propertyListSerializationFailed(error:)`` when the bytes are
    ///   no XML or binary property list, and what ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> Any {
        guard let data = try bytes(of: input) else { return [String: Any]() }
        do {
            try PropertyListSniffer.check(data)
            return try PropertyListSerialization.propertyList(from: data, options: options, format: nil)
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

/// Foundation tries anything that is neither XML nor binary as the old OpenStep format, with confusing errors.
enum PropertyListSniffer {
    struct UnknownFormat: LocalizedError {
        let start: String
        var errorDescription: String? {
            "neither an XML property list (which begins with <) nor a binary one (bplist00): it begins with \(start)"
        }
    }

    static func check(_ data: Data) throws {
        let isBinary = data.starts(with: "bplist00".utf8)
        let withoutMark = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        let isUTF16 = data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE])
        let first = withoutMark.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard isBinary || isUTF16 || first == UInt8(ascii: "<") else {
            throw UnknownFormat(start: "\(String(decoding: data.prefix(20), as: UTF8.self).debugDescription)")
        }
    }
}
