import Foundation

#if Protobuf
    import AfarCore
    import AfarProtobuf
    import HTTPTypes
    import SwiftProtobuf

    extension Subject {
        static let protobuf = [
            Subject("protobuf", seeds: protobufSeeds, tokens: protobufTokens) { (input, _) throws(Contradiction) in
                let outcomes = [
                    try read(Google_Protobuf_Struct.self, input), try read(Google_Protobuf_Type.self, input),
                    try read(Google_Protobuf_Any.self, input), try read(Google_Protobuf_Timestamp.self, input),
                    try read(Google_Protobuf_FieldMask.self, input),
                ]
                return outcomes.contains(true)
            },
            Subject("protobuf-stream", seeds: streamSeeds, tokens: protobufTokens) {
                (input, random) throws(Contradiction) in
                let options = ProtobufDecodingOptions(maximumSize: random.pick([1 << 20, 16, 1, 0]) ?? 0)
                return try sameHoweverCut(
                    ProtobufMessagesParser<Google_Protobuf_Type>(options: options), input, &random)
            },
        ]

        /// Parses a message in both formats. Encoding a message from the binary format and parsing it again must return
        /// the same message.
        private static func read<M: Message>(_ type: M.Type, _ input: Data) throws(Contradiction) -> Bool {
            let json = try serialized(input, .protobuf(of: type), "application/json")
            guard try serialized(input, .protobuf(of: type), "application/x-protobuf") else { return json }
            var options = BinaryEncodingOptions()
            options.useDeterministicOrdering = true
            let bytes = (try? M(serializedBytes: input)).flatMap { try? $0.serializedBytes(options: options) as Data }
            let again = bytes.flatMap { try? M(serializedBytes: $0) }
            let bytesAgain = try? again?.serializedBytes(options: options) as Data?
            try Contradiction.check(bytesAgain, bytes, "\(M.protoMessageName), encoded and decoded")
            return true
        }

        private static let messages: [any Message] = [
            Google_Protobuf_Struct.with {
                $0.fields["name"] = Google_Protobuf_Value(stringValue: "Ada")
                $0.fields["list"] = Google_Protobuf_Value(listValue: [1, true, nil])
            },
            Google_Protobuf_Type.with {
                $0.name = "Person"
                $0.fields = [Google_Protobuf_Field.with { $0.name = "id" }, Google_Protobuf_Field()]
                $0.syntax = .proto3
            },
            Google_Protobuf_Any.with {
                $0.typeURL = "type.googleapis.com/google.protobuf.StringValue"
                $0.value = Data([0x0A, 0x01, 0x61])
            },
            Google_Protobuf_Timestamp(seconds: 1_714_996_800, nanos: 5),
            Google_Protobuf_FieldMask(protoPaths: "a.b", "c"),
        ]

        private static let protobufSeeds =
            messages.compactMap { try? $0.serializedBytes() as Data }
            + messages.compactMap { try? $0.jsonUTF8Bytes() as Data }

        private static let streamSeeds = [messages, Array(messages.reversed())].map { messages in
            messages.reduce(Data()) { stream, message in
                let bytes: Data = (try? message.serializedBytes()) ?? Data()
                return stream + [UInt8(truncatingIfNeeded: bytes.count)] + bytes
            }
        }

        private static let protobufTokens =
            jsonTokens + [
                "\n", "\n\u{1}", "\u{12}", "\u{1A}", "\u{8}", "\u{B}", "\u{C}", "\u{7F}", "\u{0}", "{\"@type\":",
            ]
    }
#else
    extension Subject {
        /// AfarProtobuf is built only with the package trait Protobuf.
        static let protobuf: [Subject] = []
    }
#endif
