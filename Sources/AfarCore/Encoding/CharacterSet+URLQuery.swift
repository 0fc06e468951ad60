public import Foundation

extension CharacterSet {
    /// The characters that may stand in a key or value of a query as they are.
    ///
    /// Of those that RFC 3986 allows in a query all but its delimiters: `/` and `?` may stay, `:#[]@!$&'()*+,;=` are
    /// escaped.
    public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
        .subtracting(CharacterSet(charactersIn: ":#[]@!$&'()*+,;="))
}
