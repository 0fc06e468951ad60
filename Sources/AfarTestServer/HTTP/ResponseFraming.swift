/// The bytes of a response's head, and how its body is to follow.
struct ResponseFraming {
    let head: [UInt8]
    let hasBody: Bool
    let isChunked: Bool
    let keepsAlive: Bool
    /// The length that the head promises for the body that follows, if it does.
    let bodyLength: Int?

    init(of response: ServerResponse, to request: ServerRequest) {
        var headers = response.headers
        let allowsBody = response.status >= 200 && response.status != 204 && response.status != 304
        let length: Int? =
            switch response.body {
            case .data(let data): data.count
            case .stream(let length, _): length
            }
        let isFramed = headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
        hasBody = allowsBody && request.method != "HEAD"
        isChunked = hasBody && length == nil && !isFramed && request.version != "HTTP/1.0"
        bodyLength = hasBody ? length : nil
        keepsAlive =
            request.wantsKeepAlive && !headers.tokens("Connection").contains("close")
            && !(hasBody && length == nil && !isChunked)

        if allowsBody && !isFramed {
            if let length {
                headers.append("Content-Length", String(length))
            } else if request.version != "HTTP/1.0" {
                headers.append("Transfer-Encoding", "chunked")
            }
        }
        if headers["Date"] == nil { headers.append("Date", HTTPDate.now) }
        if headers["Connection"] == nil {
            if !keepsAlive {
                headers.append("Connection", "close")
            } else if request.version == "HTTP/1.0" {
                headers.append("Connection", "keep-alive")
            }
        }
        var text = "HTTP/1.1 \(response.status) \(StatusText.phrase(for: response.status))\r\n"
        for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
        head = Array((text + "\r\n").utf8)
    }
}
