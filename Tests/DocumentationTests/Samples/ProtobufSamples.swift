import Afar
import AfarProtobuf
import SwiftProtobuf

enum ProtobufSamples {
    static func exchange(_ query: Google_Protobuf_StringValue) async throws {
        let time = try await AF.request("https://api.example.com/time", protobuf: query, headers: [.acceptProtobuf])
            .validate()
            .serializing(.protobuf(of: Google_Protobuf_Timestamp.self))
            .value
        print("\(time.seconds) seconds since 1970")
    }

    static func stream() async throws {
        let request = AF.streamRequest("https://api.example.com/times").validate()
        let times = request.serializing(
            .protobufMessages(
                of: Google_Protobuf_Timestamp.self, options: ProtobufDecodingOptions(maximumSize: 64 << 10)))
        for await stream in times {
            if let time = stream.value { print("then \(time.seconds)") }
            if let error = stream.completion?.error { throw error }
        }
    }

    static func json(_ query: Google_Protobuf_StringValue) -> DataRequest {
        AF.request("https://api.example.com/time", protobuf: query, encoder: .protobuf(format: .json))
    }
}
