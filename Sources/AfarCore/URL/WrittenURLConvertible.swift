/// Makes a `URLRequest`, maybe of a URL that was given as text. A `URL` cannot hold all that a request can be sent with.
package protocol WrittenURLConvertible: URLRequestConvertible {
    /// The text; nil when the URL was not given as text.
    var writtenURL: String? { get }
}

extension URLRequestConvertible {
    /// The text of which the URL was made; nil when that is not known.
    package var writtenURL: String? { (self as? any WrittenURLConvertible)?.writtenURL }
}
