import Foundation

/// Answers that want credentials.
enum Authentication {
    static func basic(_ request: ServerRequest) throws -> ServerResponse {
        let user = request.parameters["user"] ?? ""
        let expected = Data("\(user):\(request.parameters["password"] ?? "")".utf8)
        guard let given = credentials("basic", in: request), Data(base64Encoded: given) == expected else {
            return refusal(#"Basic realm="Afar""#)
        }
        return try Echo.json(["authenticated": true, "user": user])
    }

    static func bearer(_ request: ServerRequest) throws -> ServerResponse {
        guard let token = credentials("bearer", in: request), !token.isEmpty else {
            return refusal(#"Bearer realm="Afar""#)
        }
        return try Echo.json(["authenticated": true, "token": token])
    }

    private static func credentials(_ scheme: String, in request: ServerRequest) -> String? {
        let parts = (request.headers["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return String(parts[1])
    }

    private static func refusal(_ challenge: String) -> ServerResponse {
        .text("not authorized\n", status: 401).adding("WWW-Authenticate", challenge)
    }
}
