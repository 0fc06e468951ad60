public import SwiftProtobuf

#if !Protobuf
    #error("AfarProtobuf needs the package trait Protobuf: .package(url: …, traits: [\"Protobuf\"])")
#endif

/// How messages are decoded, and what they may cost.
public struct ProtobufDecodingOptions: Sendable {
    /// The bytes of a message; one of more fails with a ``ProtobufError``. The default is 4 MiB, as with gRPC. In memory a
    /// message takes more: one of many that are empty, each two bytes, may take a hundred times as much.
    public var maximumSize: Int
    /// How the binary format is decoded: how deep messages may be nested, by default 100 levels, and whether unknown fields
    /// are kept.
    public var binary: BinaryDecodingOptions
    /// How JSON is decoded: how deep messages may be nested, by default 100 levels, and whether unknown fields are an error,
    /// which they are by default.
    public var json: JSONDecodingOptions
    /// The extensions that are known. The default is nil: none, so that in the binary format they stay unknown fields.
    public var extensions: (any ExtensionMap)?

    /// Makes options.
    public init(
        maximumSize: Int = 4 << 20,
        binary: BinaryDecodingOptions = BinaryDecodingOptions(),
        json: JSONDecodingOptions = JSONDecodingOptions(),
        extensions: (any ExtensionMap)? = nil
    ) {
        self.maximumSize = maximumSize
        self.binary = binary
        self.json = json
        self.extensions = extensions
    }

    /// Decodes a message.
    ///
    /// - Parameters:
    ///   - index: The message's number in its stream; nil where there is one message only.
    func decode<M: Message>(
        _ type: M.Type, from bytes: some SwiftProtobufContiguousBytes, as format: ProtobufFormat, index: Int? = nil
    ) throws(ProtobufError) -> M {
        guard bytes.count <= maximumSize else {
            throw ProtobufError(.tooLarge(maximum: maximumSize), messageName: M.protoMessageName, index: index)
        }
        do {
            return switch format {
            case .binary: try M(serializedBytes: bytes, extensions: extensions, options: binary)
            case .json: try M(jsonUTF8Bytes: bytes, extensions: extensions, options: json)
            }
        } catch {
            throw ProtobufError(.malformed(format, error), messageName: M.protoMessageName, index: index)
        }
    }
}
