import Afar

/// Text of a streamed body in an encoding that a person has named.
struct CharsetTextParser: DataStreamParser {
    private var decoder: TextDecoder

    init(_ encoding: TextEncoding) { decoder = TextDecoder(encoding) }

    mutating func parse(_ chunk: Data) -> [Result<String, AFError>] { [.success(decoder.decode(chunk))] }

    mutating func finish() -> [Result<String, AFError>] { [.success(decoder.finish())] }
}
