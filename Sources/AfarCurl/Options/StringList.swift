import AfarTransport
import CLibcurl
import HTTPTypes

/// A list of lines in libcurl's format. libcurl doesn't change the list.
final class StringList: @unchecked Sendable {
    // Sendable because nothing changes after `init`.
    let first: UnsafeMutablePointer<curl_slist>?

    private init(_ lines: [[UInt8]]) {
        first = lines.reduce(nil) { list, line in
            (line + [0]).withUnsafeBytes { curl_slist_append(list, $0.bindMemory(to: CChar.self).baseAddress) }
        }
    }

    convenience init(_ texts: [String]) { self.init(texts.map { Array($0.utf8) }) }

    /// Creates a list of lines from fields, followed by the lines in `extra`.
    ///
    /// In `extra`, `Name:` prevents libcurl from adding a field. A field with an empty value has the form `Name;`.
    convenience init(fields: some Sequence<HTTPField>, extra: [String] = []) {
        let lines = fields.map { field in
            let value = field.withUnsafeBytesOfValue { Array($0) }
            return Array(field.name.rawName.utf8) + (value.isEmpty ? Array(";".utf8) : Array(": ".utf8) + value)
        }
        self.init(lines + extra.map { Array($0.utf8) })
    }

    deinit { curl_slist_free_all(first) }
}

extension CurlOptions {
    func set(_ option: CURLoption, _ list: StringList) throws(Fault) {
        try check(afar_set_list(easy, option, list.first), option)
    }
}
