/// Whoever wants a request's response: it is made of what was received, and handed over when all handlers have theirs.
class ResponseHandler: @unchecked Sendable {
    // Sendable because one step of the request's pipeline at a time has it.

    /// What is handed over in place of the response.
    @exclusivity(unchecked) final var failure: AFError?

    /// Makes the response.
    ///
    /// - Returns: Its error.
    func makeResponse(of request: Request) -> AFError? { nil }

    /// Hands the response over, once.
    ///
    /// - Parameter end: Why the request was ended meanwhile, which outranks what it came to.
    func handOver(end: AFError?) {}

    /// Drops the response: another attempt begins.
    func forget() {}
}

/// A handler of one kind of response.
final class TypedResponseHandler<Response: SettledResponse>: ResponseHandler, @unchecked Sendable {
    // Sendable as any handler.
    private let respond: @Sendable (Request) -> Response
    private let completion: @Sendable (Response) -> Void
    @exclusivity(unchecked) private var response: Response?

    /// - Parameters:
    ///   - respond: Makes the response of what the request has received.
    ///   - completion: Called once.
    init(
        _ respond: @escaping @Sendable (Request) -> Response, completion: @escaping @Sendable (Response) -> Void
    ) {
        self.respond = respond
        self.completion = completion
    }

    override func makeResponse(of request: Request) -> AFError? {
        let response = respond(request)
        self.response = response
        return response.error
    }

    override func handOver(end: AFError?) {
        guard let response = response.take() else { return }
        if let failure = end ?? failure { completion(response.failing(with: failure)) } else { completion(response) }
    }

    override func forget() { response = nil }
}
