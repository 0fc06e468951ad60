import Afar

extension HTTPHeaders {
    /// Makes headers of "Name: value" texts. Those with the same name become one (RFC 9110, section 5.3; for cookies
    /// RFC 6265, section 5.4).
    init(arguments: [String]) throws {
        self.init()
        for argument in arguments {
            let header = try NamedValue(header: argument)
            let separator = header.name.lowercased() == "cookie" ? "; " : ", "
            add(name: header.name, value: value(for: header.name).map { $0 + separator + header.value } ?? header.value)
        }
    }
}
