/// XML and HTML documents, read with libxml2.
///
/// ```swift
/// let feed = try XML.Document(data)
/// for title in try feed.xpath("//a:entry/a:title", namespaces: ["a": "http://www.w3.org/2005/Atom"]).nodes {
///     print(title.text)
/// }
/// ```
public enum XML {}
