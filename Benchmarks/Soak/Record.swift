/// What the server answers in JSON.
struct Record: Decodable, Sendable {
    static let answer = 42
    static let json = #"{"answer":\#(answer)}"#

    let answer: Int
}
