import Foundation

/// Responses that describe the request.
enum Echo {
    static func answer(_ request: ServerRequest) throws -> ServerResponse {
        try json(document(request))
    }

    static func text(_ request: ServerRequest) -> ServerResponse {
        .text("\(request.headers["Content-Type"] ?? ""): \(request.text ?? "")")
    }

    static func headers(_ request: ServerRequest) throws -> ServerResponse {
        try json(["headers": headerObject(request.headers), "headerList": headerList(request.headers)])
    }

    static func upload(_ request: ServerRequest) throws -> ServerResponse {
        try json([
            "bytes": request.bodyLength,
            "checksum": request.bodyChecksum.hex,
            "contentType": request.headers["Content-Type"] ?? NSNull(),
        ])
    }

    static func json(_ object: [String: Any]) throws -> ServerResponse {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return .content("application/json", data)
    }

    static func document(_ request: ServerRequest) -> [String: Any] {
        var document: [String: Any] = [
            "method": request.method,
            "target": request.target,
            "path": request.path,
            "query": request.query,
            "version": request.version,
            "args": grouped(request.arguments),
            "headers": headerObject(request.headers),
            "headerList": headerList(request.headers),
            "length": request.bodyLength,
            "data": request.text ?? NSNull(),
            "dataBase64": request.body.base64EncodedString(),
        ]
        if request.mediaType == "application/x-www-form-urlencoded", let text = request.text {
            document["form"] = grouped(ServerRequest.decodeForm(text))
        }
        if request.mediaType == "application/json" || request.mediaType.hasSuffix("+json") {
            let value = try? JSONSerialization.jsonObject(with: request.body, options: .fragmentsAllowed)
            document["json"] = value ?? NSNull()
        }
        return document
    }

    /// Groups arguments by name. The value of a name is a string if the name occurs once, and an array if it is repeated.
    static func grouped(_ arguments: [ServerRequest.Argument]) -> [String: Any] {
        Dictionary(grouping: arguments, by: \.name).mapValues { list in
            list.count == 1 ? list[0].value as Any : list.map(\.value)
        }
    }

    private static func headerObject(_ headers: ServerHeaders) -> [String: String] {
        let names = Set(headers.fields.map { $0.name.lowercased() })
        return Dictionary(uniqueKeysWithValues: names.map { ($0, headers[$0] ?? "") })
    }

    private static func headerList(_ headers: ServerHeaders) -> [[String]] {
        headers.fields.map { [$0.name, $0.value] }
    }
}

/// Responses about cookies.
enum Cookies {
    static func received(_ request: ServerRequest) throws -> ServerResponse {
        let pairs = request.headers.values(of: "Cookie").flatMap { $0.split(separator: ";") }
        let cookies = pairs.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmingSpaces)
            return ServerRequest.Argument(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        return try Echo.json([
            "cookies": Echo.grouped(cookies),
            "header": request.headers.values(of: "Cookie").joined(separator: "; "),
        ])
    }

    static func set(_ request: ServerRequest) throws -> ServerResponse {
        let response = try Echo.json(["cookies": Echo.grouped(request.arguments)])
        return request.arguments.reduce(response) { $0.adding("Set-Cookie", "\($1.name)=\($1.value); Path=/") }
    }
}

/// Responses that require credentials.
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

    static func digest(_ request: ServerRequest) throws -> ServerResponse {
        guard let response = credentials("digest", in: request), response.contains("response=") else {
            return refusal(#"Digest realm="Afar", nonce="afar", qop="auth", algorithm=SHA-256"#)
                .adding("WWW-Authenticate", #"Digest realm="Afar", nonce="afar", qop="auth", algorithm=MD5"#)
        }
        return try Echo.json(["authenticated": true])
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
