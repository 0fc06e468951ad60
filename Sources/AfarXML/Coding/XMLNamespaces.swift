/// Names of namespaces that have a meaning by themselves.
enum XMLNamespaces {
    /// `xsi:nil` is of it (XML Schema Part 1, section 2.6).
    static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
    /// What the prefix `xml` stands for (Namespaces in XML 1.0, section 3).
    static let xml = "http://www.w3.org/XML/1998/namespace"
}
