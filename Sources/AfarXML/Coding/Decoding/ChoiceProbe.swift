/// A decoder that finds out whether a name is a case of an enum: it is asked for a container with the enum's keys.
struct ChoiceProbe: Decoder {
    private let place: Place
    private let decoding: Decoding
    private let answer = Answer()

    private final class Answer { var isCase = false }
    private struct Asked: Error {}

    init(_ place: Place, _ decoding: Decoding) {
        self.place = place
        self.decoding = decoding
    }

    var isCase: Bool { answer.isCase }
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { decoding.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        answer.isCase = decoding.key(type, for: decoding.key(of: place, in: [])) != nil
        throw Asked()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Asked() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Asked() }
}
