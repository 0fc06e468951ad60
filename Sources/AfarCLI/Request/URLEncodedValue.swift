/// A value of curl's `--data-urlencode`: "content", "=content", "name=content", "@file" or "name@file".
struct URLEncodedValue {
    /// The name, which is encoded already; empty without a name.
    private let name: String
    /// The text, or the path of a file.
    let content: String
    let isFile: Bool

    init(_ text: String) {
        guard let sign = text.firstIndex(of: "=") ?? text.firstIndex(of: "@") else {
            (name, content, isFile) = ("", text, false)
            return
        }
        name = String(text[..<sign])
        content = String(text[text.index(after: sign)...])
        isFile = text[sign] == "@"
    }

    /// Returns the name and the encoded content.
    ///
    /// - Parameter bytes: The bytes of the text or the file.
    func encoded(_ bytes: some Sequence<UInt8>) -> String {
        (name.isEmpty ? "" : "\(name)=") + CurlRequest.escaped(bytes).replacing("%20", with: "+")
    }
}
