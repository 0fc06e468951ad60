public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What a serializer works on. Foundation's form of the response's head is made only when it is asked for.
public struct SerializationInput: Sendable {
    /// The request that was sent, as adapted.
    public let request: URLRequest?
    /// The response's head.
    public let head: ResponseHead?
    /// The response's bytes.
    public let data: Data?
    /// What went wrong before serialization, if anything did.
    public let error: AFError?

    /// Makes an input.
    public init(request: URLRequest?, head: ResponseHead?, data: Data?, error: AFError?) {
        self.request = request
        self.head = head
        self.data = data
        self.error = error
    }

    /// The response's head in Foundation's form.
    public var response: HTTPURLResponse? { head?.httpURLResponse }
}
