public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension DownloadRequest {
    /// A destination in one of the user's directories, under the name that the server suggests: that of
    /// `Content-Disposition` (RFC 6266, with `filename*` of RFC 8187), else the last part of the URL's path, else
    /// "download".
    ///
    /// A name never leads out of the directory: what comes before its last slash or backslash is cut off, as are control
    /// characters and leading dots, dashes and tildes.
    ///
    /// - Parameters:
    ///   - directory: Which directory. The default is that for documents. On Linux it need not exist; the option
    ///     `createIntermediateDirectories` makes it.
    ///   - domain: Where to look for the directory; the first one found counts. The default is the user's home.
    ///   - options: What may be done to make room for the file. The default is nothing.
    public class func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            guard let place = FileManager.default.urls(for: directory, in: domain).first else {
                return (temporaryURL, options)
            }
            let name = FileName.suggested(
                contentDisposition: response.headers["Content-Disposition"], url: response.url?.absoluteString ?? "")
            return (place.appendingPathComponent(name, isDirectory: false), options)
        }
    }
}
