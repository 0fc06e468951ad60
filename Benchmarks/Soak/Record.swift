/// The server's JSON response.
struct Record: Decodable, Sendable {
    static let answer = 42
    static let json = #"{"answer":\#(answer)}"#

    let answer: Int
}
