import Afar
import AfarResumableUploads
import Foundation

/// Uploads a file, and prints its outcome, the largest resident size of the process, and the part of it that is mapped from the program's
/// files, in KiB.
///
/// The arguments are the file, the URL that creates uploads, the record, `tus` or the draft's interop version, and the size of chunks or 0.
@main
struct UploadProbe {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 5 else { exit(2) }
        var options = ResumableUploadOptions(record: URL(filePath: arguments[2]))
        options.firstDelay = .milliseconds(10)
        if let size = Int64(arguments[4]), size > 0 { options.chunkSize = size }
        let version = Int(arguments[3]).flatMap { ResumableUploadProtocol.DraftVersion(rawValue: $0) }
        let upload = Session().uploadResumable(
            URL(filePath: arguments[0]), to: arguments[1], protocol: version.map { .draft($0) } ?? .tus,
            options: options)
        let result = await upload.result
        switch result {
        case .success(let value): print("complete \(value.response.statusCode) \(value.url?.absoluteString ?? "-")")
        case .failure(let error): print("failed: \(error.localizedDescription)")
        }
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func kibibytes(_ name: String) -> Int? {
            status.split(separator: "\n").first { $0.hasPrefix(name + ":") }.flatMap { Int($0.filter(\.isNumber)) }
        }
        if let peak = kibibytes("VmHWM"), let files = kibibytes("RssFile") { print("peak \(peak) files \(files)") }
        guard case .success = result else { exit(1) }
    }
}
