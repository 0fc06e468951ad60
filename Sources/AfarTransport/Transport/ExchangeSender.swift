/// How exchanges are given to a transport; looked up once.
package enum ExchangeSender: Sendable {
    case callback(any CallbackTransport)
    /// A custom transport, or a decorator around another.
    case awaited(any Transport)

    package init(_ transport: any Transport) {
        self = (transport as? any CallbackTransport).map { .callback($0) } ?? .awaited(transport)
    }
}
