import Afar
import ArgumentParser

/// What `--charset` can be.
enum Charset {
    /// Reads a label.
    static func encoding(labelled label: String) throws -> TextEncoding {
        if let encoding = TextEncoding(label: label) { return encoding }
        throw ValidationError(
            "A charset of that name is unknown. Known are utf-8, utf-16, iso-8859-1, windows-1251, koi8-r, shift_jis, euc-jp, "
                + "gb18030, big5, euc-kr and others of the WHATWG Encoding Standard.")
    }
}
