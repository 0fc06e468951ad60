public import AfarCore

extension HTTPHeader {
    /// An `Accept` header for messages of Protocol Buffers: in the binary format, or else in JSON.
    public static var acceptProtobuf: HTTPHeader {
        .accept(
            "application/x-protobuf, application/protobuf, application/vnd.google.protobuf, application/json;q=0.5")
    }
}
