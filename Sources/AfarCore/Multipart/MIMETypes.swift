import Foundation

/// Content types by file name extension.
public enum MIMETypes {
    /// Returns the content type for a file name, or `application/octet-stream` if the extension is unknown.
    ///
    /// Common extensions are built in. For other extensions, the system's list is used, if there is one. The list is read once,
    /// on first use.
    public static func type(ofFileNamed name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        let pathExtension = name[name.index(after: dot)...].lowercased()
        return common[pathExtension] ?? system[pathExtension] ?? unknown
    }

    private static let unknown = "application/octet-stream"
    private static let system = list(in: URL(fileURLWithPath: "/etc/mime.types"))

    /// Returns the types by extension in a `mime.types` file, or an empty dictionary if it can't be read.
    static func list(in file: URL) -> [String: String] {
        let file = file.resolvingSymlinksInPath()
        // Reading other kinds of files might never end.
        guard let values = try? file.resourceValues(forKeys: [.isRegularFileKey]), values.isRegularFile == true,
            let data = try? Data(contentsOf: file)
        else { return [:] }
        return parse(String(decoding: data, as: UTF8.self))
    }

    /// Parses lines that each contain a type, followed by its extensions. `#` begins a comment. The first type of each
    /// extension is used.
    static func parse(_ text: String) -> [String: String] {
        var types: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let type = words.first, MediaType.isWellFormed(type) else { continue }
            for pathExtension in words.dropFirst().map({ $0.lowercased() }) where types[pathExtension] == nil {
                types[pathExtension] = type
            }
        }
        return types
    }
}

extension MIMETypes {
    /// The types of common extensions, according to IANA's registry if it lists them.
    static let common = [
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "csv": "text/csv",
        "tsv": "text/tab-separated-values", "html": "text/html", "htm": "text/html", "css": "text/css",
        "js": "text/javascript", "mjs": "text/javascript", "md": "text/markdown", "markdown": "text/markdown",
        "ics": "text/calendar", "vcf": "text/vcard", "vtt": "text/vtt",
        "json": "application/json", "geojson": "application/geo+json", "jsonl": "application/jsonl",
        "map": "application/json", "webmanifest": "application/manifest+json", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "sql": "application/sql",
        "wasm": "application/wasm", "sqlite": "application/vnd.sqlite3", "parquet": "application/vnd.apache.parquet",
        "xhtml": "application/xhtml+xml", "rss": "application/rss+xml", "atom": "application/atom+xml",
        "png": "image/png", "apng": "image/apng", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "heif": "image/heif",
        "svg": "image/svg+xml", "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff",
        "ico": "image/vnd.microsoft.icon", "jxl": "image/jxl", "psd": "image/vnd.adobe.photoshop",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg", "oga": "audio/ogg",
        "opus": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac", "mid": "audio/midi", "midi": "audio/midi",
        "weba": "audio/webm", "aif": "audio/aiff", "aiff": "audio/aiff",
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
        "mkv": "video/matroska", "avi": "video/x-msvideo", "mpg": "video/mpeg", "mpeg": "video/mpeg",
        "ogv": "video/ogg", "3gp": "video/3gpp", "wmv": "video/x-ms-wmv",
        "ttf": "font/ttf", "otf": "font/otf", "woff": "font/woff", "woff2": "font/woff2",
        "pdf": "application/pdf", "rtf": "application/rtf", "epub": "application/epub+zip",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "ps": "application/postscript",
        "eps": "application/postscript",
        "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar", "bz2": "application/x-bzip2",
        "xz": "application/x-xz", "zst": "application/zstd", "7z": "application/x-7z-compressed",
        "rar": "application/vnd.rar", "jar": "application/java-archive",
        "pem": "application/x-pem-file", "p12": "application/x-pkcs12", "pfx": "application/x-pkcs12",
        "p7m": "application/pkcs7-mime", "p7s": "application/pkcs7-signature",
    ]
}
