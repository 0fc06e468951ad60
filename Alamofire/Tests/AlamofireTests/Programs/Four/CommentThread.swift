import Alamofire
import Testing

/// Reads a thread, then each of its comments, in nested handlers.
class CommentThread {
    private let base: String

    init(base: String) { self.base = base }

    func first(completion: @escaping @Sendable (String?, Error?) -> Void) {
        let base = base
        Alamofire.request(base + "thread").validate().responseJSON { response in
            guard let identifiers = response.result.value as? [Int], let first = identifiers.first else {
                return completion(nil, response.result.error)
            }
            Alamofire.request(base + "comment", parameters: ["id": first]).validate().responseJSON { response in
                let comment = response.flatMap { json -> String in
                    guard let text = (json as? [String: String])?["text"] else { throw URLError(.cannotParseResponse) }
                    return text
                }
                completion(comment.value, comment.error)
            }
        }
    }
}

@Suite struct CommentThreadTests {
    @Test func theFirstCommentIsRead() async throws {
        try await withServer { server in
            server.route("/thread") { _ in try .json([12, 13]) }
            server.route("/comment") { request in try .json(["text": "Comment \(request.query)"]) }
            let (text, error) = await withCheckedContinuation { done in
                CommentThread(base: server.url("/").absoluteString).first { done.resume(returning: ($0, $1)) }
            }
            #expect(text == "Comment id=12" && error == nil)
        }
    }
}
